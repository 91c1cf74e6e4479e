import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { UserBasicRow } from '../../identity/users/basic.ts'
import { assigneesBySubject } from '../assignees/verbs.ts'
import type { LabelRow } from '../labels/entity.ts'
import { labelsBySubject } from '../labels/set-labels.ts'
import { sumTime } from '../time-tracking/queries.ts'
import { findNewestIssue, type IssueRow } from './queries.ts'

/** An issue with its people, labels and spent time, to be compared with what it was. */
export interface IssueState {
  readonly row: IssueRow
  readonly labels: readonly LabelRow[]
  readonly assignees: readonly UserBasicRow[]
  /** In seconds. */
  readonly spent: number
}

export async function readIssueState(ctx: Ctx, row: IssueRow): Promise<IssueState> {
  return {
    row,
    labels: (await labelsBySubject(ctx, 'issue', [row.id])).get(row.id) ?? [],
    assignees: (await assigneesBySubject(ctx, 'issue', [row.id])).get(row.id) ?? [],
    spent: await sumTime(ctx.db, 'issue', row.id),
  }
}

/** The newest issue of a project, for trying a hook out. */
export function newestIssue(
  ctx: Ctx,
  project: Project,
  confidential: boolean,
): Promise<IssueRow | undefined> {
  return findNewestIssue(ctx.db, project.id, confidential)
}
