import { userOf } from '../../access/actor.ts'
import { Problem, unauthorized } from '../../base/problem.ts'
import type { Bytes } from '../../http/endpoint.ts'
import { refuseWrong, validate } from '../../http/validate.ts'
import {
  type AuthorizationParams,
  type AuthorizationRequest,
  authorizationParams,
  readAuthorization,
} from '../../identity/oauth/authorization-request.ts'
import { describeFault, type OauthFault } from '../../identity/oauth/faults.ts'
import { grantCode } from '../../identity/oauth/grant-code.ts'
import { OUT_OF_BAND, policySource, withAnswer } from '../../identity/oauth/redirect-uri.ts'
import { withQuery } from '../address.ts'
import { policyLeadingTo } from '../answer.ts'
import { actForm } from '../form.ts'
import { answerNotice } from '../notice.tsx'
import { page } from '../page.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Form, RefusalNote } from '../parts/form.tsx'
import { Decision, ScopeList } from './consent.tsx'

const ADDRESS = '/oauth/authorize'

/** A request that may be put before a person; any other is a refusal on a page, or sent to the application. */
async function readGood(ctx: PageCtx, sent: AuthorizationParams): Promise<AuthorizationRequest> {
  const read = await readAuthorization(ctx, sent)
  if (read.kind === 'refused') throw new Problem('bad_request', 400, { message: read.reason })
  if (read.kind === 'fault') throw faultFor(read)
  return read.asked
}

/** Redirects to the application with what is wrong. */
function faultFor(to: {
  readonly redirectUri: string
  readonly state: string | undefined
  readonly fault: OauthFault
}): Problem {
  const { redirectUri, state, fault } = to
  const message = describeFault(fault)
  if (redirectUri === OUT_OF_BAND) return new Problem('bad_request', 400, { message })
  const Location = withAnswer(redirectUri, { error: fault, error_description: message, state })
  const headers = { Location, 'Cache-Control': 'no-store' }
  return new Problem('moved', 302, { message }, { headers })
}

export const authorizePage = page({
  address: ADDRESS,
  summary: 'Let an application use the account',
  query: authorizationParams,
  async read(ctx, { query }) {
    const asked = await readGood(ctx, query)
    const user = userOf(ctx.actor)
    if (!user) throw unauthorized()
    const { application, redirectUri, scopes } = asked
    if (redirectUri !== OUT_OF_BAND) {
      const policy = policyLeadingTo(policySource(redirectUri))
      ctx.headers['Content-Security-Policy'] = policy
    }
    ctx.headers['Cache-Control'] = 'no-store'
    const sent = Object.entries(query).filter(([, value]) => value !== undefined)
    return { name: application.name, username: user.username, redirectUri, scopes, sent }
  },
  title: ({ name }) => `Authorize ${name}? · Gitstead`,
  view: ({ name, username, redirectUri, scopes, sent }) => (
    <div class="sign">
      <h1>Authorize {name}?</h1>
      <RefusalNote />
      <p>
        The application <strong>{name}</strong> wants to use your account{' '}
        <strong>@{username}</strong>. It may then:
      </p>
      <ScopeList scopes={scopes} />
      <p class="breakable">
        You will be sent to <strong>{redirectUri}</strong>.
      </p>
      <Form action={ADDRESS} returnTo="/">
        {sent.map(([field, value]) => (
          <input key={field} type="hidden" name={field} value={value} />
        ))}
        <Decision />
      </Form>
    </div>
  ),
})

export const authorizeForm = actForm({
  address: ADDRESS,
  summary: 'Let an application use the account, or not',
  page: authorizePage,
  strangers: true,
  async act({ ctx, fields }) {
    const { value, wrong } = validate(authorizationParams, fields)
    refuseWrong(wrong)
    // What `validate` read has the schemas' types.
    const sent = value as AuthorizationParams
    const asked = await readGood(ctx, sent)
    if (ctx.actor.kind === 'anonymous') {
      return withQuery('/users/sign_in', { return_to: withQuery(ADDRESS, sent) })
    }
    if (fields.decision !== 'allow') throw faultFor({ ...asked, fault: 'access_denied' })
    const code = await grantCode(ctx, asked)
    if (asked.redirectUri === OUT_OF_BAND) {
      const body = (
        <p>
          Give this code to the application: <code>{code}</code>
        </p>
      )
      return await answerNotice(ctx, 'Authorized', body)
    }
    return redirectTo(withAnswer(asked.redirectUri, { code, state: asked.state }))
  },
})

function redirectTo(url: string): Bytes {
  const headers = { Location: url, 'Cache-Control': 'no-store' }
  return { type: 'text/plain; charset=utf-8', body: '', status: 302, headers }
}
