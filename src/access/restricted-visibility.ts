import type { Ctx } from '../ctx.ts'
import { isAdmin } from './actor.ts'
import type { Visibility } from './roles.ts'

/** What is wrong with a visibility that the instance keeps to its administrators. */
export function restrictionFaults(ctx: Ctx, visibility: Visibility): string[] {
  const restricted = ctx.settings.get('restricted_visibility_levels').includes(visibility)
  return restricted && !isAdmin(ctx.actor)
    ? [`${visibility} has been restricted by your administrator`]
    : []
}
