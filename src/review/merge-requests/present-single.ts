import { userOf } from '../../access/actor.ts'
import { mayInProject } from '../../access/decide.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isSubscribed } from '../../discussions/subscriptions/subscribe.ts'
import { countAheadBehind } from '../../git/history/merge-base.ts'
import { presentPipelineBasic } from '../../repositories/commits/pipeline-entity.ts'
import { mayMergeBranch } from '../../repositories/refs/check-rules.ts'
import { branchHead } from './branch-heads.ts'
import type { MergeRequestDetail } from './entity.ts'
import { isParticipant } from './people/queries.ts'
import { findHeadPipeline } from './pipeline-queries.ts'
import { presentMergeRequests } from './present.ts'
import { findLatestVersion, firstDeployed } from './queries.ts'
import type { MergeRequestRow } from './row.ts'

export interface SingleOptions {
  readonly diverged?: boolean | undefined
  readonly rebase?: boolean | undefined
  readonly html?: boolean | undefined
}

/** From this many changed files on, only "more than" is shown (docs/contract/D §1.10). */
const countedFiles = 1000

/** A merge request as a single read shows it (docs/contract/D §1.10 Fields). */
export async function presentMergeRequest(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  options: SingleOptions = {},
): Promise<MergeRequestDetail> {
  const [listed] = await presentMergeRequests(ctx, [row], { html: options.html })
  if (!listed) throw notFound()
  const user = userOf(ctx.actor)
  const [version, pipeline, participates, may] = await Promise.all([
    findLatestVersion(ctx.db, row.id),
    findHeadPipeline(ctx.db, row.id),
    user ? isParticipant(ctx.db, row.id, user.id) : false,
    mayMergeBranch(ctx, project, row.target_branch),
  ])
  const shown = pipeline && (await showPipeline(ctx, project, pipeline))
  const head = shown?.head ?? null
  return {
    ...listed,
    subscribed: await isSubscribed(ctx, 'merge_request', row.id, participates),
    changes_count: version ? changesCount(version.real_size) : null,
    latest_build_started_at: head?.started_at ?? null,
    latest_build_finished_at: head?.finished_at ?? null,
    first_deployed_to_production_at: await firstDeployed(ctx.db, row.id),
    pipeline: shown?.basic ?? null,
    head_pipeline: head,
    diff_refs: version
      ? { base_sha: version.base_sha, head_sha: version.head_sha, start_sha: version.start_sha }
      : null,
    merge_error: row.merge_error,
    ...(options.rebase ? { rebase_in_progress: row.rebase_in_progress === 1 } : {}),
    ...(options.diverged ? { diverged_commits_count: await diverged(ctx, row) } : {}),
    first_contribution: false,
    user: { can_merge: may },
  }
}

/** A pipeline in short and in full, for those who may see it where it runs: in the project, or in a fork. */
async function showPipeline(
  ctx: Ctx,
  target: Project,
  row: NonNullable<Awaited<ReturnType<typeof findHeadPipeline>>>,
) {
  const { id: pipelineId, project_id: projectId } = row
  const project =
    projectId === target.id ? target : await findVisibleProject(ctx, String(projectId))
  if (!project || !mayInProject(ctx.actor, project, 'read_builds')) return undefined
  const head = await ctx.readers.headPipeline(ctx, project, pipelineId)
  return { basic: presentPipelineBasic(ctx, project, row), head }
}

/** A text, since it may say `1000+`; null for no change. */
function changesCount(files: number): string | null {
  if (files === 0) return null
  return files > countedFiles ? `${countedFiles}+` : String(files)
}

/** Commits of the target that the source lacks. */
async function diverged(ctx: Ctx, row: MergeRequestRow): Promise<number> {
  const target = await branchHead(ctx, row.target_project_id, row.target_branch)
  if (target === undefined || row.head_sha === null || row.prepared_at === null) return 0
  const repo = ctx.git.open(row.target_project_id)
  const [counted] = await countAheadBehind(repo, target, [row.head_sha])
  return counted?.behind ?? 0
}
