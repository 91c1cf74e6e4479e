import type { Ctx } from '../../ctx.ts'
import { listPersonalProjects, listSolelyOwnedGroups } from '../../identity/users/queries.ts'
import { discardProject, hideProject } from '../projects/removal/remove-project.ts'
import { hideGroup } from './remove-group.ts'

/** Removes the projects in the namespace of a user who goes. */
export async function removePersonalProjects(
  ctx: Ctx,
  { userId }: { readonly userId: number },
): Promise<void> {
  for (const project of await listPersonalProjects(ctx.db, userId)) {
    if (project.pending_delete === 0) await hideProject(ctx, project.id)
    await discardProject(ctx, project.id)
  }
}

/** Groups that nobody else owns go too when all goes; one that is below another goes with that. */
export async function removeOwnedGroups(
  ctx: Ctx,
  { userId, hard }: { readonly userId: number; readonly hard: boolean },
): Promise<void> {
  if (!hard) return
  for (;;) {
    const [group] = await listSolelyOwnedGroups(ctx.db, userId)
    if (!group) return
    await hideGroup(ctx, group.id)
  }
}
