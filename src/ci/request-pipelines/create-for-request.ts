import { findProjectById } from '../../access/find-queries.ts'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { branchStates } from '../../repositories/refs/branch-state.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import { branchHead, headRef, trialRef } from '../../review/merge-requests/branch-heads.ts'
import { buildTrialMerge } from '../../review/merge-requests/merge/trial-merge.ts'
import { findLatestVersion } from '../../review/merge-requests/queries.ts'
import type { MergeRequestRow } from '../../review/merge-requests/row.ts'
import { mayRunOnBoth, mayRunPipelines } from '../pipelines/access.ts'
import type { PipelineRef } from '../pipelines/create/known-variables.ts'
import type { RequestOrigin } from '../pipelines/create/pipeline-input.ts'
import { requestVariables } from './request-variables.ts'

/** Where the pipeline of a merge request runs, and on what. */
export interface RequestRun {
  readonly project: Project
  readonly at: PipelineRef
  readonly request: RequestOrigin
  /** The message of the head, also where a trial merge runs. */
  readonly message: string
}

/**
 * What a pipeline of a merge request runs on: in the target project where the caller may run pipelines there, otherwise
 * in the fork, which never sees the target's secrets (docs/contract/D §5.3). Undefined when the caller may in neither.
 */
export async function findRequestRun(
  ctx: Ctx,
  row: MergeRequestRow,
): Promise<RequestRun | undefined> {
  const target = await projectOf(ctx, row.target_project_id)
  const source =
    row.source_project_id === null ? undefined : await projectOf(ctx, row.source_project_id)
  if (!target || !source) return undefined
  const isFork = source.id !== target.id
  const inTarget = mayRunPipelines(ctx, target) && (!isFork || allowsForks(target))
  if (inTarget) return await runInTarget(ctx, row, target, source)
  return isFork && mayRunPipelines(ctx, source)
    ? await runInFork(ctx, row, target, source)
    : undefined
}

async function projectOf(ctx: Ctx, id: number): Promise<Project | undefined> {
  const row = await findProjectById(ctx.db, id)
  return row && (await withProjectRole(ctx, row))
}

function allowsForks(target: Project): boolean {
  return projectSetting(target, 'ci_allow_fork_pipelines_to_run_in_parent_project')
}

async function runInTarget(
  ctx: Ctx,
  row: MergeRequestRow,
  target: Project,
  source: Project,
): Promise<RequestRun | undefined> {
  const head = await branchHead(ctx, source.id, row.source_branch)
  if (head === undefined) return undefined
  const trial = await trialMerge(ctx, row, target)
  const start = await branchHead(ctx, target.id, row.target_branch)
  const origin = trial === undefined ? ('detached' as const) : ('merged_result' as const)
  const commit = await ifFound(readCommit(ctx.git.open(target.id), trial ?? head))
  if (!commit) return undefined
  const protectedBranch = await branchStates(ctx, target)
  const isProtected =
    source.id === target.id &&
    protectedBranch(row.source_branch).protected &&
    protectedBranch(row.target_branch).protected &&
    // Protected variables and runners are for those who may run on the branches themselves.
    (await mayRunOnBoth(ctx, target, row))
  const ref = trial === undefined ? headRef(row) : trialRef(row)
  return await describeRun(
    ctx,
    row,
    { target, source, project: target },
    {
      at: { ref, commit, protected: isProtected },
      origin: { event: origin, sourceSha: head, targetSha: start },
    },
  )
}

async function runInFork(
  ctx: Ctx,
  row: MergeRequestRow,
  target: Project,
  source: Project,
): Promise<RequestRun | undefined> {
  const head = await branchHead(ctx, source.id, row.source_branch)
  const commit = head && (await ifFound(readCommit(ctx.git.open(source.id), head)))
  if (!commit) return undefined
  return await describeRun(
    ctx,
    row,
    { target, source, project: source },
    {
      at: { ref: row.source_branch, commit, protected: false },
      origin: { event: 'detached', sourceSha: commit.id, targetSha: undefined },
    },
  )
}

async function describeRun(
  ctx: Ctx,
  row: MergeRequestRow,
  places: { readonly target: Project; readonly source: Project; readonly project: Project },
  found: {
    readonly at: Pick<PipelineRef, 'ref' | 'commit' | 'protected'>
    readonly origin: Pick<RequestOrigin, 'event' | 'sourceSha' | 'targetSha'>
  },
): Promise<RequestRun> {
  const version = await findLatestVersion(ctx.db, row.id)
  const isHere = places.project.id === places.target.id
  // A trial merge brings what the target has by now: beside it stands what the request changes.
  const base =
    found.origin.event === 'merged_result' ? found.at.commit.parentIds[0] : version?.base_sha
  const at = {
    ...found.at,
    tag: false,
    beforeSha: undefined,
    comparedTo: isHere ? base : undefined,
  }
  const variables = await requestVariables(ctx, row, { ...places, ...found.origin, version })
  const request = { ...found.origin, id: row.id, variables }
  const head = await ifFound(readCommit(ctx.git.open(places.project.id), found.origin.sourceSha))
  return { project: places.project, at, request, message: head?.message ?? '' }
}

/** The trial merge, where the project wants pipelines for merged results and there is no conflict. */
async function trialMerge(
  ctx: Ctx,
  row: MergeRequestRow,
  target: Project,
): Promise<string | undefined> {
  if (!projectSetting(target, 'merge_pipelines_enabled')) return undefined
  try {
    return await buildTrialMerge(ctx, row)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}
