import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { task } from '../../work/task.ts'
import { deleteProjectRow, isPendingDelete } from './queries.ts'

/** Removes what is left of a project that was deleted, or that a crash kept from being shown. */
export const removeProject = task({
  name: 'projects.remove',
  payload: z.object({ project_id: z.int() }),
  lane: 'slow',
  async handler(ctx: Ctx, { project_id: id }) {
    if (!(await isPendingDelete(ctx.db, id))) return
    // The repository first, so that a crash leaves the row to try again.
    await ctx.git.remove(id)
    await deleteProjectRow(ctx.db, id)
  },
})
