import { audit } from '../../access/audit.ts'
import type { Ctx } from '../../ctx.ts'

/** Puts what was done to a group on the audit trail. */
export async function auditGroup(
  ctx: Ctx,
  id: number,
  action: string,
  details: Readonly<Record<string, string | number | boolean | null>>,
): Promise<void> {
  await audit(ctx, { entity: { type: 'Group', id }, action, details })
}
