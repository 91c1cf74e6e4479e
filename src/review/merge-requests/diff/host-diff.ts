import { onProject } from '../../../access/subjects.ts'
import { streamRawDiff } from '../../../git/diff/raw-diff.ts'
import { bytes, endpoint } from '../../../http/endpoint.ts'
import { id, oneOf } from '../../../http/params.ts'
import { tags } from '../path.ts'
import { findLatestVersion } from '../queries.ts'
import { getPrepared } from './prepared.ts'

export const getHostMergeRequestDiff = endpoint({
  method: 'GET',
  host: true,
  path: '/-/project/:id/merge_requests/:merge_request_iid/:format',
  summary: 'Download what a merge request changes as a diff, or as a mail for each commit',
  tags,
  access: onProject('read_merge_requests'),
  params: { merge_request_iid: id(), format: oneOf(['diff', 'patch']) },
  response: bytes('text/plain'),
  async handler({ ctx, project, params, request }) {
    const row = await getPrepared(ctx, project, params.merge_request_iid, request.signal)
    const version = await findLatestVersion(ctx.db, row.id)
    if (!version) return { body: '', type: 'text/plain' }
    const { base_sha: from, head_sha: to } = version
    const repo = ctx.git.open(project.id)
    const body = streamRawDiff(repo, { from, to, format: params.format }, request.signal)
    return { body, type: 'text/plain' }
  },
})

const PATH = /^\/(.+?)\/-\/merge_requests\/(\d+)\.(diff|patch)$/

/** The path under which `getHostMergeRequestDiff` knows a raw path of the host, or undefined for any other. */
export function hostRequestPath(rawPath: string): string | undefined {
  const [, project, iid, format] = PATH.exec(rawPath) ?? []
  if (project === undefined) return undefined
  return `/-/project/${project.split('/').join('%2F')}/merge_requests/${iid}/${format}`
}
