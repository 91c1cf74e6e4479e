import type { Ctx } from '../../ctx.ts'
import { type DefaultProtection, protectionByLevel, protectionByRoles } from './protection.ts'
import { findGroupProtection } from './queries.ts'

/** How the first branch of a project will be protected: as the nearest group says, else the instance. */
export async function defaultProtection(ctx: Ctx, namespaceId: number): Promise<DefaultProtection> {
  const ofGroup = await findGroupProtection(ctx.db, namespaceId)
  if (ofGroup?.roles) return protectionByRoles(JSON.parse(ofGroup.roles)) // written by groups/settings
  return protectionByLevel(ofGroup?.level ?? ctx.settings.get('default_branch_protection'))
}
