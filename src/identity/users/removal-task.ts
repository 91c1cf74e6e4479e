import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { hideGroup } from '../../projects/groups/remove-group.ts'
import { discardProject, hideProject } from '../../projects/projects/remove-project.ts'
import { discardSnippetsOf } from '../../publishing/snippets/remove.ts'
import { findUserRow, listPersonalProjects, listSolelyOwnedGroups } from './queries.ts'
import { removeUser } from './remove-user.ts'

/** Removes a user whose projects go along: those first, so that a second run finds what is left. */
export const removeUserTask = task({
  name: 'users.remove',
  payload: z.object({ user_id: z.int(), hard: z.boolean() }),
  lane: 'slow',
  async handler(ctx: Ctx, { user_id, hard }) {
    const user = await findUserRow(ctx.db, user_id)
    if (!user) return
    for (const project of await listPersonalProjects(ctx.db, user_id)) {
      if (project.pending_delete === 0) await hideProject(ctx, project)
      await discardProject(ctx, project.id)
    }
    if (hard) {
      await discardSnippetsOf(ctx, user_id)
      await hideOwnedGroups(ctx, user_id)
    }
    await removeUser(ctx, user, { hard })
  },
})

/** Groups that nobody else owns go too; one that is below another goes with that. */
async function hideOwnedGroups(ctx: Ctx, userId: number): Promise<void> {
  for (;;) {
    const [group] = await listSolelyOwnedGroups(ctx.db, userId)
    if (!group) return
    await hideGroup(ctx, group)
  }
}
