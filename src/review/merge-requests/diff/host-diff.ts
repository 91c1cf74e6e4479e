import { onProject, type Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { streamRawDiff } from '../../../git/diff/raw-diff.ts'
import { type Bytes, bytes, endpoint } from '../../../http/endpoint.ts'
import { id } from '../../../http/params.ts'
import { getMergeRequest } from '../find.ts'
import { tags } from '../path.ts'
import type { VersionRow } from '../row.ts'
import { preparedVersion } from './prepared.ts'

export const hostMergeRequestDiffs = (['diff', 'patch'] as const).map((format) =>
  endpoint({
    method: 'GET',
    host: true,
    session: true,
    path: `/*id/-/merge_requests/:merge_request_iid.${format}`,
    summary: 'Download a merge request as a diff or as patches',
    tags,
    access: onProject('read_merge_requests'),
    params: { merge_request_iid: id() },
    response: bytes('text/plain'),
    async handler({ ctx, project, params, request }) {
      const row = await getMergeRequest(ctx, project, params.merge_request_iid)
      const version = await preparedVersion(ctx, row, request.signal)
      return answerRawDiff(ctx, project, version, { format, signal: request.signal })
    },
  }),
)

/** The changes of a version as git writes them; nothing while the first is being computed. */
export async function answerRawDiff(
  ctx: Ctx,
  project: Project,
  version: VersionRow | undefined,
  asked: { readonly format: 'diff' | 'patch'; readonly signal: AbortSignal },
): Promise<Bytes> {
  const type = 'text/plain'
  if (!version) return { body: '', type }
  const { base_sha: from, head_sha: to } = version
  const repo = ctx.git.open(project.id)
  const body = await streamRawDiff(repo, { from, to, format: asked.format }, asked.signal)
  return { body, type }
}
