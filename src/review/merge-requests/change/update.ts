import type { Project } from '../../../access/subjects.ts'
import { badParameters, invalidText } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { followText } from '../../../discussions/references/follow-text.ts'
import { changedTasks } from '../../../planning/issues/tasks-in-text.ts'
import { titleChange } from '../../../planning/issues/title-change.ts'
import { setLabels } from '../../../planning/labels/set-labels.ts'
import {
  recordLabelEvents,
  recordMilestoneEvent,
} from '../../../planning/resource-events/record.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { branchHead } from '../branch-heads.ts'
import { noteableOf, reload } from '../find.ts'
import { noteClosingIssues } from '../links/closing-issues.ts'
import { updateMergeRequest } from '../queries.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import type { UpdateInput } from './body-params.ts'
import { closeMergeRequest, reopenMergeRequest } from './close.ts'
import {
  assertNoDuplicate,
  assertTargetBranch,
  assertTitle,
  flagValue,
  milestoneFor,
} from './create.ts'
import { isDraftTitle, withoutDraftMark } from './draft-title.ts'
import { editMergeRequest } from './edit.ts'
import { retarget } from './retarget.ts'
import { setPeople } from './reviewers.ts'

/** What is changed, where, and what the request really said. */
interface Change {
  readonly project: Project
  readonly row: MergeRequestRow
  readonly input: UpdateInput
}

/** Changes what the request names (docs/contract/D §1.10); every change that the reference records gets its system note. */
export async function changeMergeRequest(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  input: UpdateInput,
): Promise<MergeRequestRow> {
  await assertPossible(ctx, { project, row, input })
  const milestone =
    input.milestone_id === undefined
      ? undefined
      : await milestoneFor(ctx, project, input.milestone_id)
  await inTransaction(ctx, async (ctx) => {
    const change = { project, row: await reload(ctx, row.id), input }
    const all = async (ctx: Ctx) => {
      await changeText(ctx, change)
      await changeOptions(ctx, change)
      await changeTarget(ctx, change)
      await changePlan(ctx, change, milestone)
      await setPeople(ctx, project, change.row, input, 'noted')
      await updateMergeRequest(ctx.db, row.id, { updated_at: ctx.now() })
    }
    const rest = Object.keys(input).some((name) => name !== 'state_event')
    if (rest) await editMergeRequest(ctx, project, change.row, 'update', all)
    else await all(ctx)
    await changeState(ctx, { ...change, row: await reload(ctx, row.id) })
  })
  return reload(ctx, row.id)
}

async function assertPossible(ctx: Ctx, { project, row, input }: Change): Promise<void> {
  if (input.title !== undefined) assertTitle(input.title)
  const event = input.state_event
  if (event !== undefined && event !== 'close' && event !== 'reopen') {
    throw badParameters('state_event does not have a valid value')
  }
  const target = input.target_branch
  if (target !== undefined && target !== row.target_branch) {
    if (row.state !== 'opened')
      throw invalidText(['The target branch of this merge request cannot be changed'])
    await assertTargetBranch(ctx, project, target)
    await assertNoDuplicate(ctx, branchesOf(row, target), row.id)
  }
  if (event === 'reopen') await assertMayReopen(ctx, row)
}

function branchesOf(row: MergeRequestRow, targetBranch = row.target_branch) {
  return {
    sourceProjectId: row.source_project_id ?? 0,
    sourceBranch: row.source_branch,
    targetProjectId: row.target_project_id,
    targetBranch,
  }
}

async function assertMayReopen(ctx: Ctx, row: MergeRequestRow): Promise<void> {
  if (row.state !== 'closed') return
  const head =
    row.source_project_id === null
      ? undefined
      : await branchHead(ctx, row.source_project_id, row.source_branch)
  if (head === undefined) throw invalidText([`source_branch "${row.source_branch}" does not exist`])
  await assertNoDuplicate(ctx, branchesOf(row), row.id)
}

async function changeText(ctx: Ctx, { project, row, input }: Change): Promise<void> {
  const { title, description } = input
  if (title !== undefined && title.trim() !== row.title) {
    const draft = isDraftTitle(title)
    await updateMergeRequest(ctx.db, row.id, { title: title.trim(), draft })
    if (draft !== (row.draft === 1)) {
      const word = draft ? 'draft' : 'ready'
      await noteChange(ctx, project, row, 'title', `marked this merge request as **${word}**`)
    }
    // Taking the mark of a draft on or off has a note of its own.
    const marked = withoutDraftMark(row.title) === withoutDraftMark(title.trim())
    if (draft === (row.draft === 1) || !marked) {
      await noteChange(ctx, project, row, 'title', titleChange(row.title, title.trim()))
    }
  }
  if (description !== undefined && description !== row.description) {
    await updateMergeRequest(ctx.db, row.id, { description })
    await noteClosingIssues(ctx, { ...row, description })
    await noteDescription(ctx, project, row, description)
    await followText(ctx, noteableOf(ctx, project, row), description ?? '')
  }
}

/** Ticks of a check-list have notes of their own (docs/contract/B-resolved §11.3 task). */
async function noteDescription(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  description: string | null,
): Promise<void> {
  const ticks = changedTasks(row.description, description)
  for (const { text, completed } of ticks) {
    const word = completed ? 'completed' : 'incomplete'
    await noteChange(ctx, project, row, 'task', `marked the task **${text}** as ${word}`)
  }
  if (ticks.length === 0)
    await noteChange(ctx, project, row, 'description', 'changed the description')
}

async function changeOptions(ctx: Ctx, { project, row, input }: Change): Promise<void> {
  await updateMergeRequest(ctx.db, row.id, {
    squash: input.squash,
    allow_collaboration: input.allow_collaboration ?? input.allow_maintainer_to_push,
    force_remove_source_branch:
      input.remove_source_branch === undefined ? undefined : flagValue(input.remove_source_branch),
    merge_after: input.merge_after,
  })
  const locked = input.discussion_locked
  if (locked === undefined) return
  await updateMergeRequest(ctx.db, row.id, { discussion_locked: flagValue(locked) })
  if ((locked ?? false) === (row.discussion_locked === 1)) return
  const [action, word] = locked ? ['locked', 'locked'] : ['unlocked', 'unlocked']
  await noteChange(ctx, project, row, action, `${word} this merge request`)
}

async function changeTarget(ctx: Ctx, { project, row, input }: Change): Promise<void> {
  const target = input.target_branch
  if (target === undefined || target === row.target_branch) return
  await retarget(ctx, project, row, target)
}

async function changePlan(
  ctx: Ctx,
  { project, row, input }: Change,
  milestone: number | null | undefined,
): Promise<void> {
  const subject = { type: 'merge_request', id: row.id } as const
  const { labels, add_labels: add, remove_labels: remove } = input
  if (labels ?? add ?? remove) {
    const input = { labels, add, remove }
    const change = await setLabels(ctx, project, 'merge_request', row.id, input)
    await recordLabelEvents(ctx, subject, change.added, change.removed)
  }
  if (milestone !== undefined && milestone !== row.milestone_id) {
    await updateMergeRequest(ctx.db, row.id, { milestone_id: milestone })
    await recordMilestoneEvent(ctx, subject, row.milestone_id, milestone)
  }
}

async function changeState(ctx: Ctx, { project, row, input }: Change): Promise<void> {
  if (input.state_event === 'close' && row.state === 'opened') {
    await closeMergeRequest(ctx, project, row)
  }
  if (input.state_event === 'reopen' && row.state === 'closed') {
    await reopenMergeRequest(ctx, project, row)
  }
}
