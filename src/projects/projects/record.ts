import { audit } from '../../access/audit.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type StateChange, stateAfter } from '../namespaces/state.ts'
import { updateProjectRow } from './queries.ts'

type Details = Readonly<Record<string, string | number | boolean | null>>

/** Puts what was done to a project on the audit trail. */
export async function auditProject(
  ctx: Ctx,
  id: number,
  action: string,
  details: Details = {},
): Promise<void> {
  await audit(ctx, { entity: { type: 'Project', id }, action, details })
}

/** Puts the making of a project on the audit trail and into its feed. */
export async function recordProject(
  ctx: Ctx,
  id: number,
  authorId: number | undefined,
): Promise<void> {
  await auditProject(ctx, id, 'project_created')
  await runEffects(ctx, ctx.effects.projectChanged, { id, change: 'create' })
  await runEffects(ctx, ctx.effects.activity, { projectId: id, action: 'created', authorId })
}

/** Archives a project, marks it for deletion, or undoes one of these, on the record. */
export async function saveState(ctx: Ctx, id: number, change: StateChange): Promise<void> {
  const now = ctx.now()
  await inTransaction(ctx, async (ctx) => {
    await updateProjectRow(ctx.db, id, { ...stateAfter(change, now), updated_at: now })
    await auditProject(ctx, id, `project_${change}`)
    await runEffects(ctx, ctx.effects.projectChanged, { id, change: 'update' })
  })
}
