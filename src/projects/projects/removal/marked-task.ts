import { z } from 'zod'
import type { ProjectRow } from '../../../access/find-queries.ts'
import { task } from '../../../background/task.ts'
import { dayOf, later } from '../../../base/clock.ts'
import type { Ctx } from '../../../ctx.ts'
import { listMarkedBefore } from '../queries.ts'
import { hideProject } from './remove-project.ts'

/** Every day: hides projects whose time after the mark for deletion is over. */
export const removeMarked = task({
  name: 'projects.remove_marked',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const days = ctx.settings.get('deletion_adjourned_period')
    const day = dayOf(later(ctx.now(), -days * 86_400_000))
    // Somebody may restore one while others are being hidden.
    const isDue = ({ marked_for_deletion_on: marked }: ProjectRow) =>
      marked !== null && marked <= day
    for (const { id } of await listMarkedBefore(ctx.db, day)) await hideProject(ctx, id, isDue)
  },
})
