import type { Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { copyAwards } from '../../discussions/award-emoji/verbs.ts'
import { copyNotes } from '../../discussions/notes/verbs.ts'
import { addNoteAbout } from '../../discussions/references/note-mention.ts'
import { carryText } from '../../markdown/carry-text.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assigneesBySubject } from '../assignees/verbs.ts'
import { labelsBySubject } from '../labels/set-labels.ts'
import { listMilestonesByTitle } from '../milestones/queries.ts'
import { presentMilestonesById } from '../milestones/verbs.ts'
import { placeOfProject } from '../place.ts'
import { copyTime } from '../time-tracking/verbs.ts'
import { cannotMove } from './access.ts'
import { closeIssueFor } from './change-issue.ts'
import { createIssue, getRow } from './create-issue.ts'
import { asNoteable } from './find.ts'
import { type IssueRow, repointIssueLinks, updateIssue } from './queries.ts'

/**
 * Moves an issue: a copy by its author in the other project, with notes, votes, time and links; the old one closed and
 * pointing to it.
 */
export async function moveIssue(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  target: Project,
): Promise<IssueRow> {
  return inTransaction(ctx, async (ctx) => {
    const { moved_to_id } = await getRow(ctx, row.id)
    if (moved_to_id !== null) throw badRequest(cannotMove)
    const copy = await copyIssue(ctx, project, target, row)
    const { author_id, time_estimate } = row
    await updateIssue(ctx.db, copy.id, { author_id, time_estimate })
    const notes = await copyNotes(ctx, asNoteable(ctx, project, row), asNoteable(ctx, target, copy))
    await copyAwards(ctx, 'Issue', row.id, copy.id)
    for (const [from, to] of notes) await copyAwards(ctx, 'Note', from, to)
    await copyTime(ctx, 'issue', row.id, copy.id)
    await repointIssueLinks(ctx.db, row.id, copy.id)
    await addNotes(ctx, { project, row }, { project: target, row: copy }, 'moved')
    await closeIssueFor(ctx, project, row, { moved_to_id: copy.id })
    return getRow(ctx, copy.id)
  })
}

/** Copies an issue, with its notes when asked, into the same or another project; the old one stays as it is. */
export async function cloneIssue(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  target: Project,
  withNotes: boolean,
): Promise<IssueRow> {
  return inTransaction(ctx, async (ctx) => {
    const copy = await copyIssue(ctx, project, target, row)
    if (withNotes) {
      await copyNotes(ctx, asNoteable(ctx, project, row), asNoteable(ctx, target, copy))
    }
    await addNotes(ctx, { project, row }, { project: target, row: copy }, 'cloned')
    return copy
  })
}

async function copyIssue(
  ctx: Ctx,
  project: Project,
  target: Project,
  row: IssueRow,
): Promise<IssueRow> {
  const stays = project.id === target.id
  const labels = (await labelsBySubject(ctx, 'issue', [row.id])).get(row.id) ?? []
  const people = (await assigneesBySubject(ctx, 'issue', [row.id])).get(row.id) ?? []
  return createIssue(ctx, target, {
    title: row.title,
    description: stays ? row.description : await carryText(ctx, row.description, project),
    issue_type: row.issue_type,
    confidential: row.confidential === 1,
    severity: row.severity,
    milestone_id: stays ? row.milestone_id : await milestoneThere(ctx, target, row.milestone_id),
    weight: row.weight,
    due_date: row.due_date,
    start_date: row.start_date,
    labels: labels.map((label) => label.title),
    assignee_ids: people.map((user) => user.id),
  })
}

/** The milestone of the same title that the other project may use. */
async function milestoneThere(ctx: Ctx, target: Project, id: number | null) {
  const milestone = id === null ? undefined : (await presentMilestonesById(ctx, [id])).get(id)
  if (!milestone) return null
  const [same] = await listMilestonesByTitle(ctx.db, placeOfProject(target), [milestone.title])
  return same?.id ?? null
}

interface Place {
  readonly project: Project
  readonly row: IssueRow
}

/** A note at either end, for those who may see the other. */
async function addNotes(ctx: Ctx, from: Place, to: Place, word: 'moved' | 'cloned'): Promise<void> {
  const named = ({ row }: Place) => `${row.project_path}#${row.iid}`
  const noteable = ({ project, row }: Place) => asNoteable(ctx, project, row)
  await addNoteAbout(ctx, noteable(from), word, `${word} to ${named(to)}`, noteable(to))
  await addNoteAbout(ctx, noteable(to), word, `${word} from ${named(from)}`, noteable(from))
}
