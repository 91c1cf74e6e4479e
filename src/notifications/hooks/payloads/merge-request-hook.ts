import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import { userOf } from '../../../access/actor.ts'
import { findProjectWithRole, type Project } from '../../../access/subjects.ts'
import { task } from '../../../background/task.ts'
import type { Ctx, Effect } from '../../../ctx.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import { titleOf } from '../../../repositories/commits/entity.ts'
import type { ChangedMergeRequest, MergeRequestAction } from '../../../review/effects.ts'
import { reload } from '../../../review/merge-requests/find.ts'
import { presentMergeRequests } from '../../../review/merge-requests/present.ts'
import { findById, findNewest } from '../../../review/merge-requests/queries.ts'
import type { MergeRequestRow } from '../../../review/merge-requests/row.ts'
import { inTransaction } from '../../../store/transaction.ts'
import {
  because,
  causeOf,
  cause as chain,
  fireHooks,
  type HookPayload,
  wantsHooks,
} from '../fire.ts'
import { readCompared } from './merge-request-changes.ts'
import {
  changesBetween,
  type HookChanges,
  hookActor,
  hookProject,
  hookRepository,
  isNoNews,
} from './payload-parts.ts'
import { plainCommit } from './push-hooks.ts'

/** The newest commit of the source, as hooks show it; null when it is gone. What a fork brings is in the fork first. */
async function lastCommit(ctx: Ctx, row: MergeRequestRow, project: Project) {
  const { head_sha: head, source_project_id: source, target_project_id: target } = row
  if (head === null) return null
  const [there] = await readCommits(ctx.git.open(target), [head])
  const isFork = source !== null && source !== target
  const [commit] = there || !isFork ? [there] : await readCommits(ctx.git.open(source), [head])
  return commit ? { ...plainCommit(ctx, project, commit), title: titleOf(commit) } : null
}

/** What happened, for the attributes of a payload. */
interface Happened {
  readonly action?: string
  readonly oldrev?: string
}

/** A merge request as payloads show it, beside what happened to it; reads git. */
export async function requestAttributes(
  ctx: Ctx,
  row: MergeRequestRow,
  project: Project,
  given?: Awaited<ReturnType<typeof readCompared>>,
) {
  const [shown] = await presentMergeRequests(ctx, [row])
  if (!shown) return undefined
  const compared = given ?? (await readCompared(ctx, row))
  const source =
    row.source_project_id === null
      ? undefined
      : await findProjectWithRole(ctx, row.source_project_id)
  return {
    id: row.id,
    iid: row.iid,
    source_branch: row.source_branch,
    target_branch: row.target_branch,
    source_project_id: row.source_project_id,
    target_project_id: row.target_project_id,
    author_id: row.author_id,
    assignee_id: shown.assignee?.id ?? null,
    assignee_ids: shown.assignees.map((user) => user.id),
    reviewer_ids: shown.reviewers.map((user) => user.id),
    title: row.title,
    description: row.description,
    state: row.state,
    state_id: compared.state_id,
    merge_status: shown.merge_status,
    detailed_merge_status: shown.detailed_merge_status,
    blocking_discussions_resolved: shown.blocking_discussions_resolved,
    draft: shown.draft,
    work_in_progress: shown.draft,
    merge_params: {
      force_remove_source_branch: shown.force_remove_source_branch,
    },
    merge_when_pipeline_succeeds: shown.merge_when_pipeline_succeeds,
    merge_commit_sha: row.merge_commit_sha,
    merge_user_id: row.merge_user_id,
    milestone_id: row.milestone_id,
    ...shown.time_stats,
    prepared_at: row.prepared_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_commit: await lastCommit(ctx, row, project),
    source: source ? hookProject(ctx, source) : null,
    target: hookProject(ctx, project),
    labels: compared.labels,
    url: shown.web_url,
  }
}

/** The payload of a merge request. */
async function requestPayload(
  ctx: Ctx,
  row: MergeRequestRow,
  project: Project,
  cause: Happened,
  changes: HookChanges = {},
): Promise<HookPayload | undefined> {
  const compared = await readCompared(ctx, row)
  const shown = await requestAttributes(ctx, row, project, compared)
  if (!shown) return undefined
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: await hookActor(ctx),
    project: hookProject(ctx, project),
    repository: hookRepository(ctx, project),
    object_attributes: { ...shown, ...cause },
    labels: compared.labels,
    changes,
    assignees: compared.assignees,
    reviewers: compared.reviewers,
  }
}

const hookJob = {
  name: 'merge_requests.hooks',
  payload: z.object({
    id: z.int(),
    user_id: z.int().nullable(),
    ...chain,
    action: z.string(),
    oldrev: z.string().nullable(),
    changes: z
      .record(z.string(), z.object({ previous: z.unknown(), current: z.unknown() }))
      .optional(),
  }),
}

/**
 * Enqueues the notification of hooks, in the caller's transaction. The payload needs git, so a task makes it; nothing
 * is enqueued where nobody listens.
 */
export async function enqueueMergeRequestHooks(
  ctx: Ctx,
  { project, id, action, oldrev }: ChangedMergeRequest,
  changes: HookChanges = {},
): Promise<void> {
  if (!(await wantsHooks(ctx, project, 'merge_request'))) return
  const user_id = userOf(ctx.actor)?.id ?? null
  await ctx.work.enqueue(ctx.db, hookJob, {
    id,
    user_id,
    action,
    oldrev: oldrev ?? null,
    changes,
    ...causeOf(ctx),
  })
}

/** The same of an edit, with the old and new values of its fields. */
export async function compareForHooks(
  ctx: Ctx,
  { project, row }: { readonly project: Project; readonly row: MergeRequestRow },
): Promise<Effect<MergeRequestAction>> {
  if (!(await wantsHooks(ctx, project, 'merge_request'))) return async () => {}
  const before = await readCompared(ctx, row)
  return async (ctx, action) => {
    const after = await readCompared(ctx, await reload(ctx, row.id))
    const changes = changesBetween(before, after)
    if (action === 'update' && isNoNews(changes)) return
    await enqueueMergeRequestHooks(ctx, { project, id: row.id, action }, changes)
  }
}

/** Notifies the hooks of a project of a change to a merge request (docs/contract/D §1.25 Merge Request Hook). */
async function fireMergeRequestHooks(
  given: Ctx,
  cause: z.infer<typeof hookJob.payload>,
): Promise<void> {
  const ctx = because(await actAs(given, cause.user_id), cause)
  const row = await findById(ctx.db, cause.id)
  const project = row && (await findProjectWithRole(ctx, row.target_project_id))
  if (!row || !project) return
  const { action, oldrev, changes } = cause
  const happened = { action, ...(oldrev === null ? {} : { oldrev }) }
  const payload = await requestPayload(ctx, row, project, happened, changes)
  if (!payload) return
  await inTransaction(ctx, (ctx) => fireHooks(ctx, project, 'merge_request', () => payload))
}

export const notifyOfMergeRequest = task({
  ...hookJob,
  handler: (ctx: Ctx, payload) => fireMergeRequestHooks(ctx, payload),
})

/** The newest merge request as a payload, for trying a hook out. */
export async function newestRequestPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewest(ctx.db, project.id)
  return row && (await requestPayload(ctx, row, project, {}))
}
