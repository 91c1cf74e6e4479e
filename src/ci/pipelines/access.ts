import { isAdmin } from '../../access/actor.ts'
import { mayInProject } from '../../access/decide.ts'
import { Role } from '../../access/roles.ts'
import { type Access, onProject, type Project } from '../../access/subjects.ts'
import { forbidden, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { findPipeline, type PipelineRow } from './queries.ts'

/** Whether the caller may read pipelines and jobs: Reporters, and everybody while they are public (docs/contract/D §2.2). */
export function mayReadBuilds(ctx: Pick<Ctx, 'actor'>, project: Project): boolean {
  const isReporter = project.role >= Role.reporter || isAdmin(ctx.actor)
  if (isReporter) return mayInProject(ctx.actor, project, 'read_builds')
  return (
    projectSetting(project, 'public_jobs') && mayInProject(ctx.actor, project, 'read_public_builds')
  )
}

/** The project of `:id`, for those who may read its pipelines. */
export function onBuilds(
  options: { readonly signedIn?: boolean } = {},
): Access<{ project: Project }> {
  const visible = onProject('read_project', options)
  return {
    ...visible,
    needs: 'read_public_builds',
    async find(request) {
      const found = await visible.find(request)
      if (mayReadBuilds(request.ctx, found.project)) return found
      throw request.ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
    },
  }
}

/** The pipeline of a project, or 404. */
export async function getPipeline(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  id: number,
): Promise<PipelineRow> {
  const row = await findPipeline(ctx.db, id)
  if (row?.project_id !== project.id) throw notFound()
  return row
}
