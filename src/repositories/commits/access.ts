import { mayInProject } from '../../access/decide.ts'
import { getVisibleProject, type Project } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { areRelated } from '../repository/fork-network.ts'

/** Another project to start from: 404 when hidden, 403 outside the fork network (docs/contract/B-resolved §2.2). */
export async function getStartProject(
  ctx: Ctx,
  project: Project,
  idOrPath: string,
): Promise<Project | undefined> {
  const start = await getVisibleProject(ctx, idOrPath)
  if (start.id === project.id) return undefined
  if (!(await areRelated(ctx, project, start))) {
    const name = `${start.namespace_full_name} / ${start.name}`
    throw forbidden(`Project is not included in the fork network for ${name}`)
  }
  if (!mayInProject(ctx.actor, start, 'download_code')) throw forbidden()
  return start
}
