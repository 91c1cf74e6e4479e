import { Problem } from '../../../base/problem.ts'
import { type Bytes, endpoint } from '../../../http/endpoint.ts'
import { forBrowsers, html, page } from '../../../http/page.ts'
import { text } from '../../../http/params.ts'
import { followConfirmation, setPasswordByLink } from './confirm-address.ts'

const secret = text({ max: 1000 }).optional()

/** What a person reads of a problem. */
function problemText(error: unknown): string {
  if (!(error instanceof Problem)) throw error
  if (!error.fields) return error.message
  return Object.entries(error.fields)
    .map(([field, texts]) => `${field.replaceAll('_', ' ')} ${texts.join(', ')}`)
    .join('; ')
}

// A page with a button: programs that look into mails follow links, but press nothing.
export const showConfirmation = endpoint({
  ...forBrowsers,
  method: 'GET',
  path: '/users/confirmation',
  summary: 'The page to which the mail leads that asks whether an address is right',
  query: { confirmation_token: secret },
  handler: ({ query }) =>
    page({
      title: 'Confirm your e-mail address',
      body: html`<form method="post" action="/users/confirmation">
<input type="hidden" name="confirmation_token" value="${query.confirmation_token}">
<button type="submit">Confirm</button>
</form>`,
    }),
})

export const confirmByLink = endpoint({
  ...forBrowsers,
  method: 'POST',
  path: '/users/confirmation',
  summary: 'Confirm an address with the secret of a mail',
  body: { confirmation_token: secret },
  async handler({ ctx, body }) {
    try {
      await followConfirmation(ctx, body.confirmation_token ?? '')
    } catch (error) {
      return page({
        title: 'That did not work',
        status: 400,
        body: html`<p role="alert">${problemText(error)}</p>`,
      })
    }
    return page({ title: 'Confirmed', body: html`<p>The address was confirmed.</p>` })
  },
})

function passwordPage(token: string, wrong?: string): Bytes {
  return page({
    title: 'Set your password',
    status: wrong === undefined ? 200 : 400,
    body: html`${wrong === undefined ? '' : html`<p role="alert">${wrong}</p>`}
<form method="post" action="/users/password">
<input type="hidden" name="reset_password_token" value="${token}">
<label for="password">New password</label>
<input type="password" id="password" name="password" autocomplete="new-password" required>
<button type="submit">Set</button>
</form>`,
  })
}

export const showPassword = endpoint({
  ...forBrowsers,
  method: 'GET',
  path: '/users/password/edit',
  summary: 'The page to which the mail leads under which a password is set',
  query: { reset_password_token: secret },
  handler: ({ query }) => passwordPage(query.reset_password_token ?? ''),
})

export const setPassword = endpoint({
  ...forBrowsers,
  method: 'POST',
  path: '/users/password',
  summary: 'Set a password with the secret of a mail',
  body: { reset_password_token: secret, password: text({ max: 10_000 }).optional() },
  async handler({ ctx, body }) {
    const token = body.reset_password_token ?? ''
    try {
      await setPasswordByLink(ctx, token, body.password ?? '')
    } catch (error) {
      return passwordPage(token, problemText(error))
    }
    return page({ title: 'Done', body: html`<p>The password was set.</p>` })
  },
})
