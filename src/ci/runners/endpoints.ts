import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import { onInstance, onProject, signedIn } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import { conflict, existing, forbidden, notFound } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { resetRegistrationToken } from '../../projects/registration-tokens/verbs.ts'
import { inTransaction } from '../../store/transaction.ts'
import { MANAGE_SCOPES, onRunner } from './access.ts'
import { describeRunner, runnerDetailsEntity } from './describe.ts'
import { managerEntity, presentManager, runnerEntity } from './present.ts'
import { pausedOrActive, runnerSettingParameters } from './protocol-endpoints.ts'
import { deleteRunner, findRunner, listManagers, updateRunner } from './queries.ts'
import { runnerColumns } from './register.ts'
import { runnerPage, runnerQuery } from './runner-page.ts'
import { giveNewToken } from './runner-token.ts'

export const listOwnRunners = endpoint({
  method: 'GET',
  path: '/runners',
  summary: 'List the runners that the caller administers',
  access: signedIn(),
  query: runnerQuery,
  paginate: 'offset',
  response: z.array(runnerEntity),
  async handler({ ctx, query, page }) {
    const user = userOf(ctx.actor)
    if (!user) throw forbidden()
    const place = { kind: 'user', userId: user.id, today: dayOf(ctx.now()) } as const
    return await runnerPage(ctx, place, query, page)
  },
})

export const listAllRunners = endpoint({
  method: 'GET',
  path: '/runners/all',
  summary: 'List every runner',
  access: onInstance(),
  query: runnerQuery,
  paginate: 'offset',
  response: z.array(runnerEntity),
  handler: ({ ctx, query, page }) => runnerPage(ctx, { kind: 'all' }, query, page),
})

export const listProjectRunners = endpoint({
  method: 'GET',
  path: '/projects/:id/runners',
  summary: 'List the runners that a project may use',
  access: onProject('admin_runners'),
  query: runnerQuery,
  paginate: 'offset',
  response: z.array(runnerEntity),
  handler: ({ ctx, project, query, page }) =>
    runnerPage(
      ctx,
      { kind: 'project', id: project.id, namespaceId: project.namespace_id },
      query,
      page,
    ),
})

export const getRunner = endpoint({
  method: 'GET',
  path: '/runners/:runner_id',
  summary: 'Read a runner',
  access: onRunner(),
  response: runnerDetailsEntity,
  handler: ({ ctx, runner }) => describeRunner(ctx, runner.id),
})

export const editRunner = endpoint({
  method: 'PUT',
  path: '/runners/:runner_id',
  summary: 'Change a runner',
  access: onRunner('change_runners'),
  scopes: MANAGE_SCOPES,
  body: runnerSettingParameters(),
  check: pausedOrActive,
  response: runnerDetailsEntity,
  async handler({ ctx, runner, body }) {
    await inTransaction(ctx, async ({ db, now }) => {
      // Read inside: somebody else may be taking away what lets the runner have jobs at all.
      const row = existing(await findRunner(db, runner.id), 'Runner')
      await updateRunner(db, row.id, { ...runnerColumns(body, row), updated_at: now() })
    })
    return await describeRunner(ctx, runner.id)
  },
})

export const removeRunner = endpoint({
  method: 'DELETE',
  path: '/runners/:runner_id',
  summary: 'Delete a runner',
  access: onRunner(),
  scopes: MANAGE_SCOPES,
  async handler({ ctx, runner }) {
    if (!(await deleteRunner(ctx.db, runner.id))) throw notFound('Runner')
  },
})

export const listRunnerManagers = endpoint({
  method: 'GET',
  path: '/runners/:runner_id/managers',
  summary: 'List the machines of a runner',
  access: onRunner(),
  response: z.array(managerEntity),
  async handler({ ctx, runner }) {
    const rows = await listManagers(ctx.db, runner.id)
    return rows.map((row) => presentManager(row, ctx.now()))
  },
})

export const resetRunnerToken = endpoint({
  method: 'POST',
  path: '/runners/:runner_id/reset_authentication_token',
  summary: 'Give a runner a new token',
  access: onRunner('change_runners'),
  scopes: MANAGE_SCOPES,
  response: z.strictObject({ token: z.string(), token_expires_at: z.string().nullable() }),
  status: 201,
  handler: ({ ctx, runner }) => giveNewToken(ctx, runner, conflict),
})

const tokenEntity = z.strictObject({ token: z.string() })

export const resetInstanceRegistration = endpoint({
  method: 'POST',
  path: '/runners/reset_registration_token',
  summary: 'Reset the runner registration token of the instance',
  access: onInstance(),
  response: tokenEntity,
  status: 201,
  async handler({ ctx }) {
    return { token: await resetRegistrationToken(ctx, { groupId: null, projectId: null }) }
  },
})

export const resetProjectRegistration = endpoint({
  method: 'POST',
  path: '/projects/:id/runners/reset_registration_token',
  summary: 'Reset the runner registration token of a project',
  access: onProject('change_runners'),
  response: tokenEntity,
  status: 201,
  async handler({ ctx, project }) {
    return { token: await resetRegistrationToken(ctx, { groupId: null, projectId: project.id }) }
  },
})
