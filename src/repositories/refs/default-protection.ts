import type { Ctx } from '../../ctx.ts'
import { findGroupProtection } from './queries.ts'

/** The level of default branch protection: of the nearest group that sets one, else of the instance. */
export async function defaultProtection(ctx: Ctx, namespaceId: number): Promise<number> {
  const ofGroup = await findGroupProtection(ctx.db, namespaceId)
  return ofGroup ?? ctx.settings.get('default_branch_protection')
}
