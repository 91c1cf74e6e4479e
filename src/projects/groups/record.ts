import { audit } from '../../access/audit.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type StateChange, stateAfter } from '../namespaces/state.ts'
import { updateGroupRow } from './queries.ts'

/** Puts what was done to a group on the audit trail. */
export async function auditGroup(
  ctx: Ctx,
  id: number,
  action: string,
  details: Readonly<Record<string, string | number | boolean | null>>,
): Promise<void> {
  await audit(ctx, { entity: { type: 'Group', id }, action, details })
}

/** Archives a group, marks it for deletion, or undoes one of these, on the record. */
export async function saveState(ctx: Ctx, id: number, change: StateChange): Promise<void> {
  const now = ctx.now()
  await inTransaction(ctx, async (ctx) => {
    await updateGroupRow(ctx.db, id, { ...stateAfter(change, now), updated_at: now })
    await auditGroup(ctx, id, `group_${change}`, {})
  })
}
