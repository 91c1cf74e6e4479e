import type { Ctx } from '../../ctx.ts'
import { getRow } from './create-issue.ts'
import { type IssueRow, updateIssue } from './queries.ts'

/** Gives an issue that was just made a title with its own number in it, in the caller's transaction. */
export async function changeTitle(ctx: Ctx, row: IssueRow, title: string): Promise<IssueRow> {
  await updateIssue(ctx.db, row.id, { title })
  return await getRow(ctx, row.id)
}
