import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteIssue, type IssueRow } from './queries.ts'

/** Removes an issue; triggers take what hangs on it without a foreign key. 404 when somebody did so a moment ago. */
export async function removeIssue(ctx: Ctx, row: IssueRow): Promise<void> {
  if (!(await deleteIssue(ctx.db, row.id))) throw notFound()
}
