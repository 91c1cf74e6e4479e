import { randomBytes } from 'node:crypto'
import { audit } from '../../access/audit.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { type Bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { forBrowsers, type Html, html, page, redirectTo } from '../../http/page.ts'
import { text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { formPage } from '../sign-in/form-page.ts'
import { isOurForm } from '../sign-in/form-token.ts'
import { actingAs, findSession, type Session } from '../sign-in/session.ts'
import {
  type AuthorizationParams,
  type AuthorizationRequest,
  authorizationParams,
  readAuthorization,
} from './authorization-request.ts'
import { decisionButtons, isAllowed, scopeList } from './consent.ts'
import { describeFault, type OauthFault } from './faults.ts'
import { insertGrant } from './queries.ts'
import { OUT_OF_BAND, policySource, withAnswer } from './redirect-uri.ts'

const PATH = '/oauth/authorize'
const CODE_LIFETIME_MS = 10 * 60_000

const NAMES = Object.keys(authorizationParams) as (keyof AuthorizationParams)[]

function refusalPage(reason: string): Bytes {
  return page({
    title: 'This application cannot be authorized',
    status: 400,
    body: html`<p role="alert">${reason}</p>`,
  })
}

/** Redirects to the application with an error. */
function answerFault(to: {
  readonly redirectUri: string
  readonly state: string | undefined
  readonly fault: OauthFault
}): Bytes {
  const { redirectUri, state, fault } = to
  if (redirectUri === OUT_OF_BAND) return refusalPage(describeFault(fault))
  const answer = { error: fault, error_description: describeFault(fault), state }
  return redirectTo(withAnswer(redirectUri, answer))
}

/** Back here after signing in. */
function signInFirst(sent: AuthorizationParams): Bytes {
  const query = new URLSearchParams()
  for (const name of NAMES) {
    const value = sent[name]
    if (value !== undefined) query.set(name, value)
  }
  const path = `${PATH}?${query}`
  return redirectTo(`/users/sign_in?${new URLSearchParams({ return_to: path })}`)
}

function hiddenFields(sent: AuthorizationParams): Html[] {
  return NAMES.filter((name) => sent[name] !== undefined).map(
    (name) => html`<input type="hidden" name="${name}" value="${sent[name]}">`,
  )
}

function consentPage(
  ctx: Ctx,
  request: RequestFacts,
  session: Session,
  asked: AuthorizationRequest,
  sent: AuthorizationParams,
): Bytes {
  const { redirectUri } = asked
  return formPage(ctx, request, {
    title: `Authorize ${asked.application.name}?`,
    action: PATH,
    leadsTo: redirectUri === OUT_OF_BAND ? undefined : policySource(redirectUri),
    above: html`<p>The application <strong>${asked.application.name}</strong> wants to use your account
<strong>@${session.user.username}</strong>. It may then:</p>
${scopeList(asked.scopes)}
<p>You will be sent to <strong>${redirectUri}</strong>.</p>`,
    body: html`${hiddenFields(sent)}
${decisionButtons}`,
  })
}

export const showAuthorize = endpoint({
  ...forBrowsers,
  method: 'GET',
  path: PATH,
  summary: 'The page on which people let an application use their account',
  query: authorizationParams,
  async handler({ ctx, query, request }) {
    const read = await readAuthorization(ctx, query)
    if (read.kind === 'refused') return refusalPage(read.reason)
    if (read.kind === 'fault') return answerFault(read)
    const session = await findSession(ctx, request)
    if (!session) return signInFirst(query)
    return consentPage(ctx, request, session, read.asked, query)
  },
})

export const decideAuthorize = endpoint({
  ...forBrowsers,
  method: 'POST',
  path: PATH,
  summary: 'Let an application use the account, or not',
  body: {
    ...authorizationParams,
    decision: text({ max: 20 }).optional(),
    authenticity_token: text().optional(),
  },
  async handler({ ctx, body, request }) {
    const read = await readAuthorization(ctx, body)
    if (read.kind === 'refused') return refusalPage(read.reason)
    if (read.kind === 'fault') return answerFault(read)
    const session = await findSession(ctx, request)
    if (!session) return signInFirst(body)
    if (!isOurForm(ctx, request, body.authenticity_token)) {
      return consentPage(ctx, request, session, read.asked, body)
    }
    const { asked } = read
    if (!isAllowed(body.decision)) return answerFault({ ...asked, fault: 'access_denied' })
    const code = await grantCode(actingAs(ctx, session), session, asked)
    return asked.redirectUri === OUT_OF_BAND
      ? codePage(code)
      : redirectTo(withAnswer(asked.redirectUri, { code, state: asked.state }))
  },
})

function codePage(code: string): Bytes {
  return page({
    title: 'Authorized',
    body: html`<p>Give this code to the application:</p><p><code>${code}</code></p>`,
  })
}

async function grantCode(ctx: Ctx, session: Session, asked: AuthorizationRequest): Promise<string> {
  const code = randomBytes(32).toString('hex')
  const now = ctx.now()
  await inTransaction(ctx, async (inner) => {
    await insertGrant(inner.db, {
      application_id: asked.application.id,
      user_id: session.user.id,
      code_digest: digestOf(code),
      redirect_uri: asked.redirectUri,
      scopes: JSON.stringify(asked.scopes),
      code_challenge: asked.challenge?.value ?? null,
      code_challenge_method: asked.challenge?.method ?? null,
      nonce: asked.nonce,
      expires_at: later(now, CODE_LIFETIME_MS),
      created_at: now,
    })
    await audit(inner, {
      entity: { type: 'User', id: session.user.id },
      action: 'application_authorized',
      details: { application: asked.application.name, scopes: asked.scopes.join(' ') },
    })
  })
  return code
}
