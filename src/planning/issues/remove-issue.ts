import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteIssue, type IssueRow } from './queries.ts'

/** Removes an issue; triggers take what hangs on it without a foreign key. */
export function removeIssue(ctx: Ctx, row: IssueRow): Promise<void> {
  return inTransaction(ctx, (ctx) => deleteIssue(ctx.db, row.id))
}
