import { randomBytes, randomInt } from 'node:crypto'
import { digestOf } from '../../access/door.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { type ClientCredentials, getClient, readScopes, scopesOf } from './client.ts'
import { oauthProblem } from './problems.ts'
import {
  type ApplicationRow,
  claimDevice,
  findDevice,
  insertDevice,
  notePoll,
  takeDevice,
} from './queries.ts'

const LIFETIME_S = 300
const INTERVAL_S = 5
/** No vowels and nothing that looks like something else. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

/** The answer of RFC 8628 §3.2. */
export async function beginDevice(ctx: Ctx, client: ClientCredentials, scope: string | undefined) {
  const application = await getClient(ctx, client)
  const scopes = readScopes(scope, scopesOf(application), scopesOf(application))
  const deviceCode = randomBytes(32).toString('base64url')
  const userCode = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  await insertDevice(ctx.db, {
    application_id: application.id,
    device_digest: digestOf(deviceCode),
    user_code: userCode,
    scopes: JSON.stringify(scopes),
    expires_at: later(ctx.now(), LIFETIME_S * 1000),
    created_at: ctx.now(),
  })
  const uri = `${ctx.config.externalUrl}/oauth/device`
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: uri,
    verification_uri_complete: `${uri}?user_code=${userCode}`,
    expires_in: LIFETIME_S,
    interval: INTERVAL_S,
  }
}

/** A user lets the device in whose code they typed; false for a code that is none, or over. */
export async function admitDevice(ctx: Ctx, userCode: string, userId: number): Promise<boolean> {
  const code = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '')
  const row = await findDevice(ctx.db, { userCode: code })
  if (!row || row.expires_at <= ctx.now()) return false
  return claimDevice(ctx.db, row.id, userId)
}

/** What a device may have once its user let it in; until then it is told to ask again. */
export async function grantForDevice(
  ctx: Ctx,
  client: ApplicationRow,
  deviceCode: string,
): Promise<{ readonly userId: number; readonly scopes: string[] }> {
  const row = await findDevice(ctx.db, { digest: digestOf(deviceCode) })
  if (!row || row.application_id !== client.id) throw oauthProblem('invalid_grant')
  const now = ctx.now()
  if (row.expires_at <= now) throw oauthProblem('expired_token')
  if (row.user_id === null) {
    const tooSoon = row.polled_at !== null && row.polled_at > later(now, -INTERVAL_S * 1000)
    await notePoll(ctx.db, row.id, now)
    throw oauthProblem(tooSoon ? 'slow_down' : 'authorization_pending')
  }
  if (!(await takeDevice(ctx.db, row.id))) throw oauthProblem('invalid_grant')
  return { userId: row.user_id, scopes: JSON.parse(row.scopes) as string[] } // written by us
}
