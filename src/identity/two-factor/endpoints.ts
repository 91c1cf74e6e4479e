import { z } from 'zod'
import { onInstance, signedIn } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import { endpoint, perMinute } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { callerId, getUser } from '../users/find-user.ts'
import { provenCaller } from '../users/profile/own-password.ts'
import { proveByCode } from './prove.ts'
import { countRecoveryCodes, hasTotp } from './queries.ts'
import { turnOffSecondFactor } from './turn-off.ts'
import { confirmApp, makeRecoveryCodes, offerApp } from './turn-on.ts'

/** Passwords and codes that are asked for again are slow to try out. */
export const PROOF_TRIES = perMinute('own_password', 10)

/** Of whoever has one here. */
const password = { current_password: text({ max: 1000 }).default('') }
const passwordAndCode = { ...password, code: text({ max: 100 }) }
const recoveryCodes = z.strictObject({ recovery_codes: z.array(z.string()) })

export const getOwnTwoFactor = endpoint({
  method: 'GET',
  path: '/user/two_factor',
  summary: 'Get the second factors of the caller',
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  response: z.strictObject({
    enabled: z.boolean(),
    app: z.boolean(),
    recovery_codes_left: z.int(),
  }),
  async handler({ ctx }) {
    const user = await getUser(ctx, callerId(ctx))
    return {
      enabled: user.two_factor === 1,
      app: await hasTotp(ctx.db, user.id),
      recovery_codes_left: await countRecoveryCodes(ctx.db, user.id),
    }
  },
})

export const offerOwnApp = endpoint({
  method: 'POST',
  path: '/user/two_factor/app',
  summary:
    'Make the secret of an authenticator app of the caller, which counts once it is confirmed',
  access: signedIn(),
  limit: PROOF_TRIES,
  body: password,
  response: z.strictObject({ secret: z.string(), uri: z.string() }),
  handler: async ({ ctx, body }) => offerApp(ctx, await provenCaller(ctx, body.current_password)),
})

export const confirmOwnApp = endpoint({
  method: 'PUT',
  path: '/user/two_factor/app',
  summary: 'Turn the authenticator app of the caller on with one of its codes',
  access: signedIn(),
  limit: PROOF_TRIES,
  body: { code: text({ max: 100 }) },
  response: recoveryCodes,
  handler: async ({ ctx, body }) => ({
    recovery_codes: await confirmApp(ctx, callerId(ctx), body.code),
  }),
})

export const makeOwnRecoveryCodes = endpoint({
  method: 'POST',
  path: '/user/two_factor/recovery_codes',
  summary: 'Make new recovery codes of the caller; those before count no more',
  access: signedIn(),
  limit: PROOF_TRIES,
  body: passwordAndCode,
  response: recoveryCodes,
  async handler({ ctx, body }) {
    const user = await provenCaller(ctx, body.current_password)
    if (user.two_factor === 0) throw badRequest('There is no second factor')
    await proveByCode(ctx, user.id, body.code)
    return { recovery_codes: await makeRecoveryCodes(ctx, user.id) }
  },
})

export const turnOwnTwoFactorOff = endpoint({
  method: 'POST',
  path: '/user/two_factor/disable',
  summary: 'Turn the second factor of the caller off, with the password and a code',
  access: signedIn(),
  limit: PROOF_TRIES,
  body: passwordAndCode,
  async handler({ ctx, body }) {
    const user = await provenCaller(ctx, body.current_password)
    if (user.two_factor === 1) await proveByCode(ctx, user.id, body.code)
    await turnOffSecondFactor(ctx, user)
  },
})

export const disableTwoFactor = endpoint({
  method: 'PATCH',
  path: '/users/:id/disable_two_factor',
  summary: 'Disable the second factor of a user',
  tags: ['users'],
  access: onInstance(),
  params: { id: id() },
  async handler({ ctx, params }) {
    await turnOffSecondFactor(ctx, await getUser(ctx, params.id))
  },
})
