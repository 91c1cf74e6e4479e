import { findProjectById, type ProjectRow } from '../../../access/find-queries.ts'
import { getVisibleProject, type Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import { badRequest } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { deleteRedirects, updateProjectRow } from '../queries.ts'
import { auditProject, saveState } from '../record.ts'
import { removeProject } from '../tasks.ts'

/** Clears away a project that could not be made to its end. */
export async function discardProject(ctx: Ctx, id: number): Promise<void> {
  await removeProject.handler(ctx, { project_id: id }, new AbortController().signal)
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
    await auditProject(ctx, project.id, 'project_deleted', { full_path: project.full_path })
    await ctx.work.enqueue(ctx.db, removeProject, { project_id: project.id })
  })
}

/**
 * Deletes a project: at once, or, where the instance delays deletions, by a mark that a daily task acts on. A marked one
 * can be removed at once by naming its full path (docs/contract/D §1.2).
 */
export async function removeOrMark(
  ctx: Ctx,
  projectId: number,
  wanted: { readonly permanently: boolean; readonly fullPath: string | undefined },
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    // Read inside: somebody may have restored or deleted it a moment ago.
    await decideRemoval(ctx, await getVisibleProject(ctx, String(projectId)), wanted)
  })
}

async function decideRemoval(
  ctx: Ctx,
  project: Project,
  wanted: { readonly permanently: boolean; readonly fullPath: string | undefined },
): Promise<void> {
  if (wanted.permanently) {
    if (project.marked_for_deletion_on === null) {
      throw badRequest('Project must be marked for deletion first.')
    }
    if (wanted.fullPath !== project.full_path) {
      throw badRequest(
        '`full_path` is incorrect. You must enter the complete path for the project.',
      )
    }
    return await hideProject(ctx, project.id)
  }
  if (!ctx.settings.get('delayed_project_removal')) return await hideProject(ctx, project.id)
  if (project.marked_for_deletion_on !== null) {
    throw badRequest('Project has already been marked for deletion')
  }
  await saveState(ctx, project.id, 'marked_for_deletion')
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
