import { isAdmin } from '../../access/actor.ts'
import { mayInProject } from '../../access/decide.ts'
import {
  type Access,
  findVisibleProject,
  onProject,
  type Project,
  refusalOf,
} from '../../access/subjects.ts'
import { existing } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { isKeptInside } from './queries.ts'

/** A project and the one it is to be a fork of, which the caller sees and could fork to where the project is. */
export function onForkParent(): Access<{ project: Project; parent: Project }, 'forked_from_id'> {
  const admitted = onProject('remove_fork')
  const params = { forked_from_id: id() }
  return {
    ...admitted,
    params,
    async find(request) {
      const { ctx } = request
      const { project } = await admitted.find(request)
      const { forked_from_id: parentId } = request.read(params)
      const parent = existing(await findVisibleProject(ctx, String(parentId)), 'Source Project')
      if (isAdmin(ctx.actor)) return { project, parent }
      const kept = await isKeptInside(ctx.db, parent.namespace_id, project.namespace_id)
      if (kept || !mayInProject(ctx.actor, parent, 'fork_project')) throw refusalOf(ctx)
      return { project, parent }
    },
  }
}
