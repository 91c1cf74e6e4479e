import { mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import { findProjectWithRole } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { findRemoteMirror } from './queries.ts'

/** The server of `:mirror_id` that the project is pushed to. */
export const onRemoteMirror = projectRecord('admin_project', {
  params: { mirror_id: id() },
  async find({ ctx, project, params }) {
    const mirror = await findRemoteMirror(ctx.db, params.mirror_id)
    if (mirror?.project_id !== project.id) throw notFound()
    return { mirror }
  },
  updatedAt: ({ mirror }) => mirror.updated_at,
})

/** Whether the caller may still change the mirror of a project: who may not, in their name nothing is pulled either. */
export async function mayFollow(ctx: Ctx, projectId: number): Promise<boolean> {
  const project = await findProjectWithRole(ctx, projectId)
  return project !== undefined && mayInProject(ctx.actor, project, 'admin_project')
}
