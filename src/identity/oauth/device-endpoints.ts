import { randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { getClient } from './client.ts'
import { oauthFault } from './faults.ts'
import { DEVICE_INTERVAL_S } from './grants.ts'
import { insertDevice } from './queries.ts'
import { grantedScopes } from './scopes.ts'

const PATH = '/oauth/device'
const LIFETIME_S = 300
/** No vowels, so that no words come about, and nothing that looks like something else (RFC 8628 §6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

function newUserCode(): string {
  return Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}

export const authorizeDevice = endpoint({
  method: 'POST',
  path: '/oauth/authorize_device',
  host: true,
  ownSignIn: true,
  summary: 'Start the sign-in of a device without a browser',
  access: anyone(),
  body: {
    client_id: text().optional(),
    client_secret: text().optional(),
    scope: text({ max: 2000 }).optional(),
  },
  status: 200,
  response: z.strictObject({
    device_code: z.string(),
    user_code: z.string(),
    verification_uri: z.string(),
    verification_uri_complete: z.string(),
    expires_in: z.int(),
    interval: z.int(),
  }),
  async handler({ ctx, body, request }) {
    const client = await getClient(ctx, request, body)
    const scopes = grantedScopes(client, body.scope)
    if (!scopes || scopes.length === 0) throw oauthFault('invalid_scope')
    const code = randomBytes(32).toString('base64url')
    const userCode = newUserCode()
    const now = ctx.now()
    await insertDevice(ctx.db, {
      application_id: client.id,
      device_digest: digestOf(code),
      user_code: userCode,
      scopes: JSON.stringify(scopes),
      expires_at: later(now, LIFETIME_S * 1000),
      created_at: now,
    })
    const address = ctx.config.externalUrl + PATH
    const answer = {
      device_code: code,
      user_code: userCode,
      verification_uri: address,
      verification_uri_complete: `${address}?user_code=${userCode}`,
      expires_in: LIFETIME_S,
      interval: DEVICE_INTERVAL_S,
    }
    return new Answer(answer, { headers: { 'Cache-Control': 'no-store' } })
  },
})
