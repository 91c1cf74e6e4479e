import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteRequestRules, listOverwritten } from './rule-queries.ts'

/** Open merge requests of a project go back to the project's rules, in the caller's transaction. */
export async function forgetRequestRules(ctx: Ctx, projectId: number): Promise<void> {
  await deleteRequestRules(ctx.db, await listOverwritten(ctx.db, projectId))
  await runEffects(ctx, ctx.effects.requestRulesForgotten, { projectId })
}
