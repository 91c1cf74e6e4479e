import { mayInProject } from '../../access/decide.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { forbidden, invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { areRelated } from '../repository/fork-network.ts'

/** The project that `from` belongs to: of the same fork network, and readable (docs/contract/B-resolved §1.4). */
export async function fromProject(
  ctx: Ctx,
  project: Project,
  id: number | undefined,
): Promise<Pick<Project, 'id'>> {
  if (id === undefined || id === project.id) return project
  const source = await findVisibleProject(ctx, String(id))
  if (!source || !(await areRelated(ctx, project, source))) {
    throw invalidText(`Target project id:${id} is not a fork of project id:${project.id}`)
  }
  if (!mayInProject(ctx.actor, source, 'download_code')) {
    throw forbidden("You don't have access to this fork's parent project")
  }
  return source
}
