import { hidden, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { forBrowsers, type Html, html, page } from '../../http/page.ts'
import { hash, text } from '../../http/params.ts'
import { signUp } from '../users/create/sign-up.ts'
import { formPage, type Refusal } from './form-page.ts'
import { isOurForm } from './form-token.ts'

const PATH = '/users/sign_up'

interface Given {
  readonly name: string
  readonly username: string
  readonly email: string
}

const nothing: Given = { name: '', username: '', email: '' }

function signUpPage(ctx: Ctx, request: RequestFacts, given: Given, refusal?: Refusal): Bytes {
  return formPage(ctx, request, {
    title: 'Make an account',
    action: PATH,
    refusal,
    body: html`<label for="name">Name</label>
<input type="text" id="name" name="user[name]" value="${given.name}" autocomplete="name" required>
<label for="username">Username</label>
<input type="text" id="username" name="user[username]" value="${given.username}" autocomplete="username" autocapitalize="none" required>
<label for="email">E-mail</label>
<input type="text" id="email" name="user[email]" value="${given.email}" autocomplete="email" autocapitalize="none" required>
<label for="password">Password</label>
<input type="password" id="password" name="user[password]" autocomplete="new-password" required>
<button type="submit">Make the account</button>`,
  })
}

export const showSignUp = endpoint({
  ...forBrowsers,
  method: 'GET',
  path: PATH,
  summary: 'The page on which people make an account, where administrators allow it',
  handler({ ctx, request }) {
    assertOpen(ctx)
    return signUpPage(ctx, request, nothing)
  },
})

export const postSignUp = endpoint({
  ...forBrowsers,
  method: 'POST',
  path: PATH,
  summary: 'Make an account for oneself',
  body: {
    user: hash({
      name: text({ max: 1000 }),
      username: text({ max: 1000 }),
      email: text({ max: 1000 }),
      password: text({ max: 10_000 }),
    }),
    authenticity_token: text().optional(),
  },
  limit: { name: 'sign_up', perMinute: 10, scope: 'caller' },
  async handler({ ctx, body, request }) {
    assertOpen(ctx)
    const refuse = (status: number, words: string) =>
      signUpPage(ctx, request, body.user, { text: words, status })
    if (!isOurForm(ctx, request, body.authenticity_token)) {
      return refuse(422, 'This form was too old. Please try again.')
    }
    try {
      const waits = (await signUp(ctx, body.user)) === 'waits'
      const after = ctx.settings.get('after_sign_up_text')
      return page({
        title: 'The account was made',
        body: html`<p>${waits ? 'An administrator looks at it before you can sign in.' : signInWhen(ctx)}</p>
<p>${after}</p>`,
      })
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 429) throw error
      return refuse(error.status, problemText(error))
    }
  },
})

function signInWhen(ctx: Ctx): Html {
  const page = html`<a href="/users/sign_in">sign in</a>`
  return ctx.settings.get('email_confirmation_setting') === 'hard'
    ? html`A mail asks whether the address is yours. You can ${page} once you have said so.`
    : html`You can ${page} now. A mail asks whether the address is yours.`
}

/** Whether people may make accounts for themselves is for administrators to say. */
function assertOpen(ctx: Ctx): void {
  if (!ctx.settings.get('signup_enabled')) throw hidden()
}

function problemText(error: Problem): string {
  if (!error.fields) return error.message
  return Object.entries(error.fields)
    .flatMap(([field, texts]) => texts.map((one) => `${field} ${one}`))
    .join('; ')
}
