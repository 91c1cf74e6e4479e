import type { Ctx } from '../../ctx.ts'
import { listApproverAddresses } from './approver-queries.ts'

/** The names and commit addresses of those who approved, for trailers. */
export async function listApproversOf(
  ctx: Pick<Ctx, 'db'>,
  mergeRequestId: number,
): Promise<{ name: string; email: string }[]> {
  const rows = await listApproverAddresses(ctx.db, mergeRequestId)
  return rows.map((row) => ({ name: row.name, email: row.commit_email ?? row.email }))
}
