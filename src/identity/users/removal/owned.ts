import type { Ctx } from '../../../ctx.ts'
import { listPersonalProjects, listSolelyOwnedGroups } from '../queries.ts'

/** The projects in a user's own namespace. */
export function personalProjects(ctx: Pick<Ctx, 'db'>, userId: number) {
  return listPersonalProjects(ctx.db, userId)
}

/** The groups that nobody else owns. */
export function solelyOwnedGroups(ctx: Pick<Ctx, 'db'>, userId: number) {
  return listSolelyOwnedGroups(ctx.db, userId)
}
