import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { projectUrl } from '../repository/access.ts'
import { findByMergeCommit, listByMergeCommits, listByOwnCommits } from './introduced-queries.ts'

/** A merge request as other things refer to it. */
export interface MergeRequestLink {
  readonly iid: number
  /** `group/project!12` */
  readonly reference: string
  readonly web_url: string
}

function linkTo(ctx: Ctx, project: Project, iid: number): MergeRequestLink {
  return {
    iid,
    reference: `${project.full_path}!${iid}`,
    web_url: `${projectUrl(ctx, project)}/-/merge_requests/${iid}`,
  }
}

/**
 * The oldest merge request that introduced each of the commits, by merging or among its own (docs/contract/B-resolved §1.8 rule
 * 6); none for callers who may not see merge requests.
 */
export async function introducedBy(
  ctx: Ctx,
  project: Project,
  shas: readonly string[],
): Promise<ReadonlyMap<string, MergeRequestLink>> {
  const found = new Map<string, MergeRequestLink>()
  if (!mayInProject(ctx.actor, project, 'read_merge_requests')) return found
  const add = (sha: string | null, iid: number) => {
    if (sha !== null && !found.has(sha)) found.set(sha, linkTo(ctx, project, iid))
  }
  for (const row of await listByMergeCommits(ctx.db, project.id, shas)) {
    for (const sha of [row.merge_commit_sha, row.squash_commit_sha, row.merged_sha]) {
      add(sha, row.iid)
    }
  }
  for (const row of await listByOwnCommits(ctx.db, project.id, shas)) add(row.sha, row.iid)
  return found
}

/** The merge request whose merge made this very commit. */
export async function mergedAs(
  ctx: Ctx,
  project: Project,
  sha: string,
): Promise<MergeRequestLink | undefined> {
  const iid = await findByMergeCommit(ctx.db, project.id, sha)
  return iid === undefined ? undefined : linkTo(ctx, project, iid)
}
