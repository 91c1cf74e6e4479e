import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteRedirects, updateProjectRow } from './queries.ts'
import { removeProject } from './tasks.ts'

/** Clears away a project that could not be made to its end. */
export async function discardProject(ctx: Ctx, id: number): Promise<void> {
  await removeProject.handler(ctx, { project_id: id }, new AbortController().signal)
}

/**
 * Makes a project unfindable at once and its paths free, and leaves the rest to a task. Joins the transaction it is
 * called in.
 */
export async function hideProject(
  ctx: Ctx,
  project: { readonly id: number; readonly path: string; readonly full_path: string },
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const mark = `-deleted-${project.id}`
    await updateProjectRow(ctx.db, project.id, {
      pending_delete: 1,
      name: `${project.path}${mark}`,
      path: `${project.path}${mark}`,
      full_path: `${project.full_path}${mark}`,
      forked_from_id: null,
      updated_at: ctx.now(),
    })
    await deleteRedirects(ctx.db, project.id)
    await ctx.work.enqueue(ctx.db, removeProject, { project_id: project.id })
  })
}
