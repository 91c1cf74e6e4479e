import { z } from 'zod'
import { onGroup, onProject } from '../../access/subjects.ts'
import { badRequest, forbidden, notFound } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import { resetRegistrationToken } from '../../projects/registration-tokens/verbs.ts'
import { inTransaction } from '../../store/transaction.ts'
import { brokenKey } from '../../store/unique.ts'
import { MANAGE_SCOPES, runnerLookedAfter } from './access.ts'
import { presentRunner, runnerEntity } from './present.ts'
import {
  deleteRunnerProject,
  findRunner,
  insertRunnerProject,
  listRunnerProjects,
} from './queries.ts'
import { runnerPage, runnerQuery } from './runner-page.ts'

export const listGroupRunners = endpoint({
  method: 'GET',
  path: '/groups/:id/runners',
  summary: 'List the runners that the projects of a group may use',
  access: onGroup('read_runners'),
  query: runnerQuery,
  paginate: 'offset',
  response: z.array(runnerEntity),
  handler: ({ ctx, group, query, page }) =>
    runnerPage(ctx, { kind: 'group', id: group.id }, query, page),
})

export const enableProjectRunner = endpoint({
  method: 'POST',
  path: '/projects/:id/runners',
  summary: 'Enable a runner of another project for this one',
  access: onProject('change_runners'),
  scopes: MANAGE_SCOPES,
  body: { runner_id: id() },
  response: runnerEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const runner = await runnerLookedAfter(ctx, body.runner_id)
    if (runner.runner_type !== 'project_type') throw forbidden('Runner is not a project runner')
    if (runner.locked === 1) throw forbidden('Runner is locked')
    try {
      const row = { runner_id: runner.id, project_id: project.id, owner: false }
      await insertRunnerProject(ctx.db, row)
    } catch (error) {
      if (brokenKey(error) === undefined) throw error
      throw badRequest('Runner has already been assigned to the project')
    }
    return await presentRunner(ctx, runner)
  },
})

export const disableProjectRunner = endpoint({
  method: 'DELETE',
  path: '/projects/:id/runners/:runner_id',
  summary: 'Disable a runner of another project for this one',
  access: onProject('admin_runners'),
  scopes: MANAGE_SCOPES,
  params: { runner_id: id() },
  async handler({ ctx, project, params }) {
    await inTransaction(ctx, async (ctx) => {
      const runner = await findRunner(ctx.db, params.runner_id)
      const served = runner ? await listRunnerProjects(ctx.db, runner.id) : []
      const own = served.find((one) => one.id === project.id)
      if (!own) throw notFound('Runner')
      if (served.length === 1) {
        throw forbidden(
          'Only one project associated with the runner. Please remove the runner instead',
        )
      }
      if (own.owner === 1) {
        throw forbidden(
          'You cannot unassign a runner from the owner project. Delete the runner instead',
        )
      }
      await deleteRunnerProject(ctx.db, params.runner_id, project.id)
    })
  },
})

export const resetGroupRegistration = endpoint({
  method: 'POST',
  path: '/groups/:id/runners/reset_registration_token',
  summary: 'Reset the runner registration token of a group',
  access: onGroup('change_runners'),
  response: z.strictObject({ token: z.string() }),
  status: 201,
  async handler({ ctx, group }) {
    return { token: await resetRegistrationToken(ctx, { groupId: group.id, projectId: null }) }
  },
})
