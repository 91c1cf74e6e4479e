import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'

/** Counts a request for a large file against its limit: over 10 MB, 5 in a minute (docs/contract/B §Limits); 429 beyond. */
export function countLargeBlob(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  size: number,
  request: RequestFacts,
): void {
  if (size <= ctx.config.largeBlob) return
  const perMinute = ctx.config.limitLargeBlobs
  request.countAgainst({ name: 'large_blob', perMinute, scope: 'caller_and_subject' }, project.id)
}
