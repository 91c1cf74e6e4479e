import { onProject, type Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { streamRawDiff } from '../../../git/diff/raw-diff.ts'
import { type Bytes, bytes, endpoint } from '../../../http/endpoint.ts'
import { id, oneOf } from '../../../http/params.ts'
import { getMergeRequest } from '../find.ts'
import { tags } from '../path.ts'
import type { VersionRow } from '../row.ts'
import { preparedVersion } from './prepared.ts'

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
    const row = await getMergeRequest(ctx, project, params.merge_request_iid)
    const version = await preparedVersion(ctx, row, request.signal)
    return answerRawDiff(ctx, project, version, { format: params.format, signal: request.signal })
  },
})

/** The changes of a version as git writes them; nothing while the first is being computed. */
export function answerRawDiff(
  ctx: Ctx,
  project: Project,
  version: VersionRow | undefined,
  asked: { readonly format: 'diff' | 'patch'; readonly signal: AbortSignal },
): Bytes {
  const type = 'text/plain'
  if (!version) return { body: '', type }
  const { base_sha: from, head_sha: to } = version
  const repo = ctx.git.open(project.id)
  return { body: streamRawDiff(repo, { from, to, format: asked.format }, asked.signal), type }
}

const PATH = /^\/(.+?)\/-\/merge_requests\/(\d+)\.(diff|patch)$/

/** The path under which `getHostMergeRequestDiff` knows a raw path of the host, or undefined for any other. */
export function hostRequestPath(rawPath: string): string | undefined {
  const [, project, iid, format] = PATH.exec(rawPath) ?? []
  if (project === undefined) return undefined
  return `/-/project/${project.split('/').join('%2F')}/merge_requests/${iid}/${format}`
}
