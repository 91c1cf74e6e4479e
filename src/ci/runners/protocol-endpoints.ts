import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { badParameters, forbidden, gone, notFound } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, flag, integer, oneOf, parameter, text } from '../../http/params.ts'
import { findRegistration } from '../../projects/registration-tokens/verbs.ts'
import { noteContact, readRunnerInfo } from './contact.ts'
import { deleteManager, deleteRunner, findManager } from './queries.ts'
import { createRunner } from './register.ts'
import { findRunnerByToken, giveNewToken, runnerTokenOf, signInRunner } from './runner-token.ts'

/** Runners sign in with tokens of their own. */
const common = { access: anyone(), ownSignIn: true } as const

export const registeredEntity = z.strictObject({
  id: z.int(),
  token: z.string(),
  token_expires_at: z.string().nullable(),
})

/** What may be shown of a runner program; unknown members are left out. */
export const infoParameter = () =>
  parameter({ type: 'object', additionalProperties: true }, (raw) => raw).optional()

export const runnerSettingParameters = () => ({
  description: text({ max: 1024 }).nullish(),
  maintenance_note: text().nullish(),
  paused: flag().optional(),
  active: flag().optional(),
  locked: flag().optional(),
  run_untagged: flag().optional(),
  access_level: oneOf(['not_protected', 'ref_protected']).optional(),
  maximum_timeout: integer({ min: 0, max: 2 ** 31 - 1 }).nullish(),
  tag_list: csv(text({ max: 255 })).optional(),
})

/** `active` is the older word for the contrary of `paused`. */
export function pausedOrActive(sent: ReadonlySet<string>): string[] {
  return sent.has('active') && sent.has('paused') ? ['paused, active are mutually exclusive'] : []
}

export const registerRunner = endpoint({
  ...common,
  method: 'POST',
  path: '/runners',
  summary: 'Register a runner with a registration token',
  body: {
    token: text().optional(),
    info: infoParameter(),
    ...runnerSettingParameters(),
  },
  check: pausedOrActive,
  response: registeredEntity,
  status: 201,
  async handler({ ctx, body, request }) {
    const token = runnerTokenOf(request, body.token)
    if (token === undefined) throw badParameters('token is missing')
    // Programs that do not know our prefix bring the token of a runner that is there already.
    const known = await findRunnerByToken(ctx, token)
    if (known) return { id: known.id, token, token_expires_at: known.token_expires_at }
    const place = await findRegistration(ctx, token)
    if (!ctx.settings.get('allow_runner_registration_token')) throw gone('410 Gone')
    if (!place) throw forbidden()
    const made = await createRunner(ctx, {
      type:
        place.project_id !== null
          ? 'project_type'
          : place.group_id !== null
            ? 'group_type'
            : 'instance_type',
      groupId: place.group_id ?? undefined,
      projectId: place.project_id ?? undefined,
      registration: 'registration_token',
      settings: body,
    })
    return { id: made.runner.id, token: made.token, token_expires_at: made.runner.token_expires_at }
  },
})

const withToken = { token: text().optional(), system_id: text({ max: 64 }).optional() }

export const verifyRunner = endpoint({
  ...common,
  method: 'POST',
  path: '/runners/verify',
  summary: 'Verify the token of a runner',
  body: { ...withToken, info: infoParameter() },
  status: 200,
  response: registeredEntity,
  async handler({ ctx, body, request }) {
    const runner = await signInRunner(ctx, request, body.token)
    await noteContact(ctx, runner, body.system_id, readRunnerInfo(body.info))
    const token = runnerTokenOf(request, body.token) ?? ''
    return { id: runner.id, token, token_expires_at: runner.token_expires_at }
  },
})

export const resetOwnRunnerToken = endpoint({
  ...common,
  method: 'POST',
  path: '/runners/reset_authentication_token',
  summary: 'Give a runner a new token, by the token it has',
  body: withToken,
  response: z.strictObject({ token: z.string(), token_expires_at: z.string().nullable() }),
  status: 201,
  async handler({ ctx, body, request }) {
    const runner = await signInRunner(ctx, request, body.token)
    return await giveNewToken(ctx, runner, forbidden)
  },
})

export const unregisterRunner = endpoint({
  ...common,
  method: 'DELETE',
  path: '/runners',
  summary: 'Delete a runner by its token',
  body: withToken,
  async handler({ ctx, body, request }) {
    const runner = await signInRunner(ctx, request, body.token)
    // Its token is nobody's since a moment ago.
    if (!(await deleteRunner(ctx.db, runner.id))) throw forbidden()
  },
})

export const unregisterRunnerManager = endpoint({
  ...common,
  method: 'DELETE',
  path: '/runners/managers',
  summary: 'Forget a machine of a runner',
  body: { token: text().optional(), system_id: text({ max: 64 }) },
  async handler({ ctx, body, request }) {
    const runner = await signInRunner(ctx, request, body.token)
    const manager = await findManager(ctx.db, runner.id, body.system_id)
    if (!manager) throw notFound('Runner manager')
    await deleteManager(ctx.db, manager.id)
  },
})
