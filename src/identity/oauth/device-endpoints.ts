import { randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { anyone } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, type Bytes, endpoint, perMinute, type RequestFacts } from '../../http/endpoint.ts'
import { forBrowsers, html, page, redirectTo } from '../../http/page.ts'
import { text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { formPage } from '../sign-in/form-page.ts'
import { isOurForm } from '../sign-in/form-token.ts'
import { actingAs, findSession, type Session } from '../sign-in/session.ts'
import { getClient } from './client.ts'
import { decisionButtons, isAllowed, scopeList } from './consent.ts'
import { oauthFault } from './faults.ts'
import { DEVICE_INTERVAL_S } from './grants.ts'
import {
  type ApplicationRow,
  type DeviceRow,
  decideDevice,
  findApplication,
  findDevice,
  insertDevice,
} from './queries.ts'
import { grantedScopes, scopesOf } from './scopes.ts'

const PATH = '/oauth/device'
const LIFETIME_S = 300
/** No vowels, so that no words come about, and nothing that looks like something else (RFC 8628 §6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
/** Codes are short: whoever tries them out is slowed down. */
const TRIES = perMinute('oauth_device_code', 10)

function newUserCode(): string {
  return Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}

export const authorizeDevice = endpoint({
  method: 'POST',
  path: '/oauth/authorize_device',
  host: true,
  ownSignIn: true,
  summary: 'Begin to sign a device in that has no browser',
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

function codeForm(ctx: Ctx, request: RequestFacts, code: string, alert?: string): Bytes {
  return formPage(ctx, request, {
    title: 'Connect a device',
    action: PATH,
    refusal: alert === undefined ? undefined : { text: alert, status: 422 },
    body: html`<label for="code">Enter the code that your device shows</label>
<input type="text" id="code" name="user_code" value="${code}" autocomplete="off" autocapitalize="characters" required autofocus>
<button type="submit">Continue</button>`,
  })
}

function consentForm(
  ctx: Ctx,
  request: RequestFacts,
  session: Session,
  found: { readonly device: DeviceRow; readonly application: ApplicationRow },
): Bytes {
  const { device, application } = found
  return formPage(ctx, request, {
    title: `Connect ${application.name}?`,
    action: PATH,
    body: html`<p>A device with the code <code>${device.user_code}</code> wants to use your account
<strong>@${session.user.username}</strong>. Go on only if you have the device before you. It may then:</p>
${scopeList(scopesOf(device))}
<input type="hidden" name="user_code" value="${device.user_code}">
${decisionButtons}`,
  })
}

export const showDevice = endpoint({
  ...forBrowsers,
  method: 'GET',
  path: PATH,
  summary: 'The page on which people type the code of a device',
  query: { user_code: text({ max: 100 }).optional() },
  async handler({ ctx, query, request }) {
    const session = await findSession(ctx, request)
    const code = readCode(query.user_code)
    if (session) return codeForm(ctx, request, code)
    const path = code === '' ? PATH : `${PATH}?user_code=${code}`
    return redirectTo(`/users/sign_in?${new URLSearchParams({ return_to: path })}`)
  },
})

function readCode(sent: string | undefined): string {
  return (sent ?? '').toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

/** The device that waits for a decision under this code. */
async function findWaiting(ctx: Ctx, userCode: string) {
  const device = await findDevice(ctx.db, { userCode })
  if (!device || device.expires_at <= ctx.now()) return undefined
  if (device.user_id !== null || device.denied === 1) return undefined
  const application = await findApplication(ctx.db, device.application_id)
  return application && { device, application }
}

export const decideDeviceCode = endpoint({
  ...forBrowsers,
  method: 'POST',
  path: PATH,
  summary: 'Let a device use the account, or not',
  body: {
    user_code: text({ max: 100 }).optional(),
    decision: text({ max: 20 }).optional(),
    authenticity_token: text().optional(),
  },
  async handler({ ctx, body, request }) {
    const session = await findSession(ctx, request)
    if (!session) return redirectTo(`/users/sign_in?${new URLSearchParams({ return_to: PATH })}`)
    const code = readCode(body.user_code)
    if (!isOurForm(ctx, request, body.authenticity_token)) return codeForm(ctx, request, code)
    request.countAgainst(TRIES, session.user.id)
    const found = await findWaiting(ctx, code)
    if (!found) return codeForm(ctx, request, '', 'No device waits under this code.')
    if (body.decision === undefined) return consentForm(ctx, request, session, found)
    return decide(actingAs(ctx, session), session, found, isAllowed(body.decision))
  },
})

async function decide(
  ctx: Ctx,
  session: Session,
  found: { readonly device: DeviceRow; readonly application: ApplicationRow },
  allowed: boolean,
): Promise<Bytes> {
  await inTransaction(ctx, async (inner) => {
    const decision = allowed ? { user_id: session.user.id } : ({ denied: 1 } as const)
    const wasFirst = await decideDevice(inner.db, found.device.id, decision)
    if (!wasFirst || !allowed) return
    await audit(inner, {
      entity: { type: 'User', id: session.user.id },
      action: 'device_authorized',
      details: { application: found.application.name },
    })
  })
  return page({
    title: allowed ? 'The device is connected' : 'The device was refused',
    body: html`<p>You can close this page.</p>`,
  })
}
