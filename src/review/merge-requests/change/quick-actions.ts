import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { CommandOptions } from '../../../discussions/notes/kind.ts'
import { labelsBySubject } from '../../../planning/labels/set-labels.ts'
import type {
  CommandContext,
  CommandTable,
} from '../../../planning/quick-actions/command-context.ts'
import { generalCommands } from '../../../planning/quick-actions/general.ts'
import { reviewerCommands } from '../../../planning/quick-actions/people.ts'
import { quickActions } from '../../../planning/quick-actions/run.ts'
import type { Timed } from '../../../planning/time-tracking/verbs.ts'
import { mayMergeBranch } from '../../../repositories/refs/check-rules.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { removeApprovals } from '../../approval-rules/save-approval.ts'
import { mayEdit, maySortRequests } from '../access.ts'
import { branchHead } from '../branch-heads.ts'
import { listOwnDrafts, publishDrafts } from '../drafts/publish-drafts.ts'
import type { DraftRow } from '../drafts/queries.ts'
import { noteableOf, reload } from '../find.ts'
import { acceptMerge } from '../merge/accept-merge.ts'
import { enqueueRebase } from '../merge/rebase.ts'
import { isParticipant, listAssigneeIds, listReviewers } from '../people/queries.ts'
import { updateMergeRequest } from '../queries.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import { withDraftMark, withoutDraftMark } from './draft-title.ts'
import { editMergeRequest } from './edit.ts'
import { noteReview } from './reviewers.ts'
import { changeMergeRequest } from './update.ts'

interface RequestContext extends CommandContext {
  readonly row: MergeRequestRow
  /** The head that the caller saw. */
  readonly headSha: string | undefined
}

/** How the time of merge requests is kept. */
export const mergeRequestTimed: Timed = {
  type: 'merge_request',
  edit: (ctx, { id, noteable }, change) =>
    inTransaction(ctx, async (ctx) => {
      const row = await reload(ctx, id)
      await editMergeRequest(ctx, noteable.project, row, 'update', async (ctx) => {
        await change(ctx)
        await updateMergeRequest(ctx.db, id, { updated_at: ctx.now() })
      })
    }),
  saveEstimate: (ctx, { id }, seconds) =>
    updateMergeRequest(ctx.db, id, { time_estimate: seconds }),
}

/** Merges now, or as soon as nothing stands in the way; only for a caller who says which head they saw. */
async function merge(ctx: Ctx, context: RequestContext) {
  const { row, headSha, project } = context
  if (row.state !== 'opened' || headSha === undefined || headSha !== row.head_sha) return undefined
  if (!(await mayMergeBranch(ctx, project, row.target_branch))) return undefined
  let merged = false
  return {
    changes: { merge: headSha },
    message: () =>
      merged ? 'Merged this merge request.' : 'Scheduled to merge this merge request.',
    async act() {
      const after = await acceptMerge(
        ctx,
        project,
        await reload(ctx, row.id),
        { sha: headSha },
        true,
      )
      merged = after.state === 'merged'
    },
  }
}

function draft(wanted: boolean) {
  return (_: Ctx, context: RequestContext) => {
    const title = context.edits.title ?? context.title
    const next = wanted ? withDraftMark(title) : withoutDraftMark(title)
    if (!context.mayChange || next === title) return undefined
    context.edits.title = next
    const word = wanted ? 'a draft' : 'ready'
    const changes = { wip_event: wanted ? 'draft' : 'ready' }
    return { changes, message: `Marked this merge request as ${word}.` }
  }
}

async function setTarget(ctx: Ctx, context: RequestContext, argument: string) {
  if (!context.mayChange || argument === '' || context.state !== 'opened') return undefined
  if ((await branchHead(ctx, context.project.id, argument)) === undefined) return undefined
  context.edits.target_branch = argument
  return { changes: { target_branch: argument }, message: `Set target branch to ${argument}.` }
}

function rebase(ctx: Ctx, context: RequestContext) {
  if (!context.mayChange || context.state !== 'opened') return undefined
  return {
    changes: { rebase: true },
    message: `Scheduled a rebase of branch ${context.row.source_branch}.`,
    act: () => enqueueRebase(ctx, context.row),
  }
}

function approval(approves: boolean) {
  return (ctx: Ctx, { project, row }: RequestContext) => ({
    changes: approves ? { approve: true } : { unapprove: true },
    message: `${approves ? 'Approved' : 'Unapproved'} the current merge request.`,
    act: () => runEffects(ctx, ctx.effects.approvalAsked, { project, row, approves }),
  })
}

async function submitOwnReview(ctx: Ctx, { project, row }: RequestContext) {
  const drafts = await listOwnDrafts(ctx, row)
  return {
    message: 'Submitted the current review.',
    act: () => submitReview(ctx, project, row, drafts),
  }
}

/** Publishes drafts without their quick actions, then carries those out. */
export async function submitReview(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  drafts: readonly DraftRow[],
): Promise<void> {
  const taken = drafts.map((draft) => ({ draft, ...takeRequestCommands(draft.note) }))
  const plain = taken.map(({ draft, text }) => ({ ...draft, note: text }))
  await publishDrafts(ctx, project, row, plain)
  const commands = taken.flatMap((one) => one.commands)
  if (commands.length > 0) await runRequestCommands(ctx, project, row.id, commands)
}

function requestChanges(ctx: Ctx, context: RequestContext) {
  const me = userOf(ctx.actor)?.id ?? 0
  if (context.state !== 'opened' || !context.reviewerIds.includes(me)) return undefined
  return {
    message: 'Changes requested to the current merge request.',
    act: () => askForChanges(ctx, context, me),
  }
}

/** Nobody approves what they want to have changed. */
async function askForChanges(ctx: Ctx, context: RequestContext, userId: number): Promise<void> {
  await removeApprovals(ctx, context.id, [userId])
  await noteReview(ctx, context.id, userId, 'requested_changes')
  await noteChange(ctx, context.project, context.row, 'requested_changes', 'requested changes')
}

const commands: CommandTable<RequestContext> = {
  ...generalCommands,
  ...reviewerCommands,
  merge,
  draft: draft(true),
  ready: draft(false),
  target_branch: setTarget,
  rebase,
  approve: approval(true),
  unapprove: approval(false),
  submit_review: submitOwnReview,
  request_changes: requestChanges,
}
export const {
  take: takeRequestCommands,
  run: runRequestCommands,
  read: readRequestCommands,
} = quickActions(commands, async (ctx, project, id, options) =>
  contextOf(ctx, project, await reload(ctx, id), options),
)

async function contextOf(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  options: CommandOptions,
): Promise<RequestContext> {
  const [labels, assigneeIds, reviewers] = await Promise.all([
    labelsBySubject(ctx, 'merge_request', [row.id]),
    listAssigneeIds(ctx.db, row.id),
    listReviewers(ctx.db, [row.id]),
  ])
  const noteable = { ...noteableOf(ctx, project, row), id: row.id }
  return {
    word: 'merge request',
    row,
    headSha: options.headSha,
    id: row.id,
    project,
    noteable,
    title: row.title,
    state: row.state,
    locked: row.discussion_locked === 1,
    milestoneId: row.milestone_id,
    labels: (labels.get(row.id) ?? []).map((label) => label.title),
    assigneeIds,
    reviewerIds: reviewers.map((user) => user.id),
    maySort: maySortRequests(ctx, project),
    mayChange: mayEdit(ctx, project, row),
    timed: mergeRequestTimed,
    timedSubject: { id: row.id, estimate: row.time_estimate, noteable },
    edits: {},
    followsByDefault: () => isParticipant(ctx.db, row.id, userOf(ctx.actor)?.id ?? 0),
    async save(ctx, edits) {
      const { due_date: _, weight: __, confidential: ___, issue_type: ____, ...changes } = edits
      await changeMergeRequest(ctx, project, row, changes)
    },
  }
}
