import { isAdmin } from '../../access/actor.ts'
import { mayInGroup, mayInProject } from '../../access/decide.ts'
import { getVisibleGroup, getVisibleProject, signedIn } from '../../access/subjects.ts'
import { badParameters, forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, oneOf } from '../../http/params.ts'
import { registeredEntity, runnerSettingParameters } from './protocol-endpoints.ts'
import { createRunner } from './register.ts'

interface Wanted {
  readonly runner_type: 'instance_type' | 'group_type' | 'project_type'
  readonly group_id?: number | undefined
  readonly project_id?: number | undefined
}

/** Administrators make runners of the instance, Owners those of a group, Maintainers those of a project. */
async function placeOf(ctx: Ctx, wanted: Wanted) {
  if (wanted.runner_type === 'instance_type') {
    if (!isAdmin(ctx.actor)) throw forbidden()
    return {}
  }
  if (wanted.runner_type === 'group_type') {
    if (wanted.group_id === undefined) throw badParameters('group_id is missing')
    const group = await getVisibleGroup(ctx, String(wanted.group_id))
    if (!mayInGroup(ctx.actor, group, 'admin_runners')) throw forbidden()
    return { groupId: group.id }
  }
  if (wanted.project_id === undefined) throw badParameters('project_id is missing')
  const project = await getVisibleProject(ctx, String(wanted.project_id))
  if (!mayInProject(ctx.actor, project, 'admin_runners')) throw forbidden()
  return { projectId: project.id }
}

export const createUserRunner = endpoint({
  method: 'POST',
  path: '/user/runners',
  summary: 'Make a runner for the instance, a group or a project',
  tags: ['runners'],
  access: signedIn(),
  scopes: ['api', 'create_runner'],
  body: {
    runner_type: oneOf(['instance_type', 'group_type', 'project_type']),
    group_id: id().optional(),
    project_id: id().optional(),
    ...runnerSettingParameters(),
  },
  response: registeredEntity,
  status: 201,
  async handler({ ctx, body }) {
    const made = await createRunner(ctx, {
      type: body.runner_type,
      ...(await placeOf(ctx, body)),
      registration: 'authenticated_user',
      settings: body,
    })
    return { id: made.runner.id, token: made.token, token_expires_at: made.runner.token_expires_at }
  },
})
