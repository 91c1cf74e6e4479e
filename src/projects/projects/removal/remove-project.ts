import { findProjectById, type ProjectRow } from '../../../access/find-queries.ts'
import { getVisibleProject } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import { badRequest } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { goesAtOnce, type WantedRemoval } from '../../namespaces/state.ts'
import { deleteRedirects, updateProjectRow } from '../queries.ts'
import { auditProject, saveState } from '../record.ts'
import { removeProject } from '../tasks.ts'
import { deleteHidden, eraseProject } from './empty-project.ts'

/** Clears away a hidden project whose repository the caller has made, or whose row was shown once; at once. */
export async function discardProject(ctx: Ctx, id: number): Promise<void> {
  await eraseProject(ctx, id, new AbortController().signal)
}

/** Clears away the rows of a project whose repository could not be made: what lies in its place is not its own. */
export async function discardRows(ctx: Ctx, id: number): Promise<void> {
  await deleteHidden(ctx, id, new AbortController().signal)
}

/**
 * Makes a project unfindable at once and its paths free, and leaves the rest to a task; nothing when somebody did so a
 * moment ago, or the project is not `asWanted` any more. Joins the transaction it is called in.
 */
export async function hideProject(
  ctx: Ctx,
  projectId: number,
  asWanted: (project: ProjectRow) => boolean = () => true,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const project = await findProjectById(ctx.db, projectId)
    if (!project || !asWanted(project)) return
    await runEffects(ctx, ctx.effects.projectChanged, { id: project.id, change: 'destroy' })
    // `~` stands in no path: nobody can have taken this one before.
    const mark = `~deleted~${project.id}`
    await updateProjectRow(ctx.db, project.id, {
      pending_delete: 1,
      name: `${project.path}${mark}`,
      path: `${project.path}${mark}`,
      full_path: `${project.full_path}${mark}`,
      forked_from_id: null,
      updated_at: ctx.now(),
    })
    await deleteRedirects(ctx.db, project.id)
    await auditProject(ctx, project.id, 'project_deleted', { full_path: project.full_path })
    await ctx.work.enqueue(ctx.db, removeProject, { project_id: project.id })
  })
}

/** Deletes a project: at once, or, where the instance delays deletions, by a mark that a daily task acts on. */
export async function removeOrMark(
  ctx: Ctx,
  projectId: number,
  wanted: WantedRemoval,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    // Read inside: somebody may have restored or deleted it a moment ago.
    const project = await getVisibleProject(ctx, String(projectId))
    if (goesAtOnce(ctx, project, wanted, 'project')) await hideProject(ctx, project.id)
    else await saveState(ctx, project.id, 'marked_for_deletion')
  })
}

/** Takes the mark away again. */
export async function unmarkProject(ctx: Ctx, projectId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const project = await getVisibleProject(ctx, String(projectId))
    if (project.marked_for_deletion_on === null) {
      throw badRequest('Project has not been marked for deletion')
    }
    await saveState(ctx, project.id, 'restored')
  })
}
