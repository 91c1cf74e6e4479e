import { userOf } from '../../../access/actor.ts'
import { mayInProject } from '../../../access/decide.ts'
import type { Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { type AskedCommand, takeCommands } from '../../../discussions/notes/commands.ts'
import type { CommandContext, NoteKind } from '../../../discussions/notes/kind.ts'
import { labelsBySubject } from '../../../planning/labels/set-labels.ts'
import type { CommandDesk, CommandTable } from '../../../planning/quick-actions/desk.ts'
import { generalCommands } from '../../../planning/quick-actions/general.ts'
import { reviewerCommands } from '../../../planning/quick-actions/people.ts'
import { type CommandsResult, runCommands } from '../../../planning/quick-actions/run.ts'
import type { Timed } from '../../../planning/time-tracking/verbs.ts'
import { mayMergeBranch } from '../../../repositories/refs/gate.ts'
import { branchHead } from '../branch-heads.ts'
import { publishDrafts } from '../drafts/publish-drafts.ts'
import { listDrafts } from '../drafts/queries.ts'
import { mayEdit, noteableOf, reload } from '../find.ts'
import { acceptMerge } from '../merge/accept-merge.ts'
import { enqueueRebase } from '../merge/rebase.ts'
import { isParticipant, listAssigneeIds, listReviewers } from '../people/queries.ts'
import { updateMergeRequest } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { withDraftMark, withoutDraftMark } from './draft-title.ts'
import { noteReview } from './reviewers.ts'
import { changeMergeRequest } from './update.ts'

interface RequestDesk extends CommandDesk {
  readonly row: MergeRequestRow
  /** The head that the caller saw. */
  readonly headSha: string | undefined
}

/** How the time of merge requests is kept. */
export const mergeRequestTimed: Timed = {
  type: 'merge_request',
  saveEstimate: (ctx, subject, seconds) =>
    updateMergeRequest(ctx.db, subject.id, { time_estimate: seconds, updated_at: ctx.now() }),
}

/** Merges now, or as soon as nothing stands in the way; only for a caller who says which head they saw. */
async function merge(ctx: Ctx, desk: RequestDesk) {
  const { row, headSha, project } = desk
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
  return (_: Ctx, desk: RequestDesk) => {
    const title = desk.wishes.title ?? desk.title
    const next = wanted ? withDraftMark(title) : withoutDraftMark(title)
    if (!desk.mayChange || next === title) return undefined
    desk.wishes.title = next
    const word = wanted ? 'a draft' : 'ready'
    const changes = { wip_event: wanted ? 'draft' : 'ready' }
    return { changes, message: `Marked this merge request as ${word}.` }
  }
}

async function setTarget(ctx: Ctx, desk: RequestDesk, argument: string) {
  if (!desk.mayChange || argument === '' || desk.state !== 'opened') return undefined
  if ((await branchHead(ctx, desk.project.id, argument)) === undefined) return undefined
  desk.wishes.target_branch = argument
  return { changes: { target_branch: argument }, message: `Set target branch to ${argument}.` }
}

function rebase(ctx: Ctx, desk: RequestDesk) {
  if (!desk.mayChange || desk.state !== 'opened') return undefined
  return {
    changes: { rebase: true },
    message: `Scheduled a rebase of branch ${desk.row.source_branch}.`,
    act: () => enqueueRebase(ctx, desk.row),
  }
}

function giveApproval(ctx: Ctx, desk: RequestDesk) {
  return {
    changes: { approve: true },
    message: 'Approved the current merge request.',
    act: () => askApproval(ctx, desk, true),
  }
}

function takeApproval(ctx: Ctx, desk: RequestDesk) {
  return {
    changes: { unapprove: true },
    message: 'Unapproved the current merge request.',
    act: () => askApproval(ctx, desk, false),
  }
}

function askApproval(ctx: Ctx, desk: RequestDesk, approves: boolean): Promise<void> {
  const { project, row } = desk
  return runEffects(ctx, ctx.effects.approvalAsked, { project, row, approves })
}

async function submitReview(ctx: Ctx, desk: RequestDesk) {
  const drafts = await listDrafts(ctx.db, desk.id, userOf(ctx.actor)?.id ?? 0)
  return {
    message: 'Submitted the current review.',
    act: () => publishDrafts(ctx, desk.project, desk.row, drafts),
  }
}

function requestChanges(ctx: Ctx, desk: RequestDesk) {
  const me = userOf(ctx.actor)?.id ?? 0
  if (!desk.reviewerIds.includes(me)) return undefined
  return {
    message: 'Changes requested to the current merge request.',
    act: () => noteReview(ctx, desk.id, me, 'requested_changes'),
  }
}

const commands: CommandTable<RequestDesk> = {
  ...generalCommands,
  ...reviewerCommands,
  merge,
  draft: draft(true),
  ready: draft(false),
  target_branch: setTarget,
  rebase,
  approve: giveApproval,
  unapprove: takeApproval,
  submit_review: submitReview,
  request_changes: requestChanges,
}
const known = new Set(Object.keys(commands))

/** Takes the quick actions out of a text about a merge request. */
export function takeRequestCommands(text: string) {
  return takeCommands(text, known)
}

/** Carries quick actions out for a merge request. */
export async function runRequestCommands(
  ctx: Ctx,
  project: Project,
  id: number,
  asked: readonly AskedCommand[],
  context: CommandContext = {},
): Promise<CommandsResult> {
  const desk = await deskOf(ctx, project, await reload(ctx, id), context)
  return await runCommands(ctx, desk, commands, asked)
}

async function deskOf(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  context: CommandContext,
): Promise<RequestDesk> {
  const [labels, assigneeIds, reviewers] = await Promise.all([
    labelsBySubject(ctx, 'merge_request', [row.id]),
    listAssigneeIds(ctx.db, row.id),
    listReviewers(ctx.db, [row.id]),
  ])
  const noteable = { ...noteableOf(ctx, project, row), id: row.id }
  return {
    word: 'merge request',
    row,
    headSha: context.headSha,
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
    maySort: mayInProject(ctx.actor, project, 'update_merge_request'),
    mayChange: mayEdit(ctx, project, row),
    timed: mergeRequestTimed,
    timedSubject: { id: row.id, estimate: row.time_estimate, noteable },
    wishes: {},
    followsByDefault: () => isParticipant(ctx.db, row.id, userOf(ctx.actor)?.id ?? 0),
    async save(ctx, wishes) {
      const { due_date: _, weight: __, confidential: ___, issue_type: ____, ...changes } = wishes
      await changeMergeRequest(ctx, project, row, changes)
    },
  }
}

/** Quick actions in comments on merge requests. */
export const readRequestCommands: NonNullable<NoteKind['readCommands']> = async (
  ctx,
  noteable,
  body,
  context,
) => {
  const { text, commands: asked } = takeRequestCommands(body)
  if (asked.length === 0) return undefined
  const id = noteable.id ?? 0
  const { project } = noteable
  return { body: text, run: () => runRequestCommands(ctx, project, id, asked, context) }
}
