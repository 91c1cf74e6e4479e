import type { UserActor } from '../../access/actor.ts'
import { admit, findByPassword } from '../../access/authentication/sign-in-basic.ts'
import { runEffects } from '../../base/effects.ts'
import { forbidden, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { forBrowsers, html, redirectTo } from '../../http/page.ts'
import { hash, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { moveUser } from '../users/states.ts'
import { formPage, type Refusal } from './form-page.ts'
import { isOurForm } from './form-token.ts'
import { safeReturn } from './return-path.ts'
import { beginSession, endSession, findSession, type Session } from './session.ts'

const PATH = '/users/sign_in'

interface Asked {
  readonly ctx: Ctx
  readonly request: RequestFacts
  readonly returnTo?: string | undefined
  readonly refusal?: Refusal
}

/** The form; after a refusal with the reason. */
function signInPage({ ctx, request, returnTo, refusal }: Asked): Bytes {
  return formPage(ctx, request, {
    title: 'Sign in',
    action: PATH,
    refusal,
    body: html`${returnTo === undefined ? '' : html`<input type="hidden" name="return_to" value="${returnTo}">`}
<label for="login">Username or e-mail</label>
<input type="text" id="login" name="user[login]" autocomplete="username" autocapitalize="none" required autofocus>
<label for="password">Password</label>
<input type="password" id="password" name="user[password]" autocomplete="current-password" required>
<button type="submit">Sign in</button>`,
  })
}

function signedInPage(ctx: Ctx, request: RequestFacts, session: Session): Bytes {
  return formPage(ctx, request, {
    title: 'You are signed in',
    action: '/users/sign_out',
    above: html`<p>You are signed in as <strong>${session.user.name}</strong> (@${session.user.username}).</p>`,
    body: html`<button type="submit" class="quiet">Sign out</button>`,
  })
}

export const showSignIn = endpoint({
  ...forBrowsers,
  method: 'GET',
  path: PATH,
  summary: 'The page on which people sign in',
  query: { return_to: text().optional() },
  async handler({ ctx, query, request }) {
    const returnTo = safeReturn(query.return_to)
    const session = await findSession(ctx, request)
    if (!session) return signInPage({ ctx, request, returnTo })
    return returnTo === undefined ? signedInPage(ctx, request, session) : redirectTo(returnTo)
  },
})

export const signIn = endpoint({
  ...forBrowsers,
  method: 'POST',
  path: PATH,
  summary: 'Sign a browser in with username or e-mail and password',
  body: {
    user: hash({ login: text({ max: 1000 }), password: text({ max: 10_000 }) }),
    return_to: text().optional(),
    authenticity_token: text().optional(),
  },
  async handler({ ctx, body, request }) {
    const returnTo = safeReturn(body.return_to)
    const refuse = (status: number, words: string) =>
      signInPage({ ctx, request, returnTo, refusal: { text: words, status } })
    if (!isOurForm(ctx, request, body.authenticity_token)) {
      return refuse(422, 'This form was too old. Please try again.')
    }
    try {
      const actor = await signInAtPage(ctx, body.user)
      const headers = await beginSession(ctx, actor)
      return redirectTo(returnTo ?? PATH, headers)
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 429) throw error
      return refuse(error.status, refusalText(error))
    }
  },
})

/**
 * Passwords may be kept for administrators alone (`password_authentication_enabled_for_web`). Who was deactivated is active
 * again, as the refusal of their tokens promises.
 */
async function signInAtPage(
  ctx: Ctx,
  given: { readonly login: string; readonly password: string },
): Promise<UserActor> {
  const known = await findByPassword(ctx, { user: given.login, password: given.password })
  const { user } = known
  if (!ctx.settings.get('password_authentication_enabled_for_web') && !user.admin) {
    throw forbidden('Signing in with a password is switched off.')
  }
  if (user.state === 'deactivated') {
    const actor = admit(ctx, { ...known, user: { ...user, state: 'active' } })
    await moveUser({ ...ctx, actor }, user.id, 'activate')
    return actor
  }
  if (user.state !== 'active') {
    await inTransaction(ctx, (ctx) => runEffects(ctx, ctx.effects.signInRefused, { id: user.id }))
  }
  return admit(ctx, known)
}

function refusalText(error: Problem): string {
  if (error.status === 401) return 'The username or the password is wrong.'
  return error.message.replace(/^403 Forbidden - /, '')
}

export const signOut = endpoint({
  ...forBrowsers,
  method: 'POST',
  path: '/users/sign_out',
  summary: 'Sign the browser out',
  body: { authenticity_token: text().optional() },
  async handler({ ctx, body, request }) {
    const session = await findSession(ctx, request)
    if (!session) return redirectTo(PATH)
    if (!isOurForm(ctx, request, body.authenticity_token)) {
      return signedInPage(ctx, request, session)
    }
    return redirectTo(PATH, await endSession(ctx, session))
  },
})
