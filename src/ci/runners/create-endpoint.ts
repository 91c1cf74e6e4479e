import { signedIn } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, oneOf } from '../../http/params.ts'
import { looksAfterPlace, type WantedRunner } from './access.ts'
import { registeredEntity, runnerSettingParameters } from './protocol-endpoints.ts'
import { createRunner } from './register.ts'

/** The group or project that a new runner is for. */
function placeOf(wanted: WantedRunner) {
  if (wanted.runner_type === 'group_type') return { groupId: wanted.group_id }
  return wanted.runner_type === 'project_type' ? { projectId: wanted.project_id } : {}
}

export const createUserRunner = endpoint({
  method: 'POST',
  path: '/user/runners',
  summary: 'Make a runner for the instance, a group or a project',
  access: signedIn(),
  scopes: ['api', 'create_runner'],
  conditions: [looksAfterPlace],
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
      ...placeOf(body),
      registration: 'authenticated_user',
      settings: body,
    })
    return { id: made.runner.id, token: made.token, token_expires_at: made.runner.token_expires_at }
  },
})
