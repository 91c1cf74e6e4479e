import express, { type Request, type Response, type Router } from 'express'
import { followConfirmation, setPasswordByLink } from '../api/users/confirm-address.ts'
import { formOf, type MakeCtx, pageCtx, problemText, queryOf, readForms } from './form.ts'
import { html, sendPage } from './page.ts'

/** Pages below `/users` that mails lead to, and the one that tells how to sign in. */
export function accountPages(makeCtx: MakeCtx): Router {
  const routes = express.Router({ caseSensitive: true })
  routes.use(readForms())
  routes.get('/sign_in', (_request, response) => {
    sendPage(response, {
      title: 'Sign in',
      body: html`<p>There are no pages to sign in to yet. Git and the <a href="/-/docs">API</a> take a
personal access token, git also takes your password.</p>`,
    })
  })
  confirmationRoutes(routes, makeCtx)
  passwordRoutes(routes, makeCtx)
  return routes
}

function confirmationRoutes(routes: Router, makeCtx: MakeCtx): void {
  // A page with a button: programs that look into mails follow links, but press nothing.
  routes.get('/confirmation', (request, response) => {
    const secret = queryOf(request).confirmation_token ?? ''
    sendPage(response, {
      title: 'Confirm your e-mail address',
      body: html`<form method="post" action="confirmation">
<input type="hidden" name="confirmation_token" value="${secret}">
<button>Confirm</button>
</form>`,
    })
  })
  routes.post('/confirmation', async (request, response) => {
    await answer(response, 'Confirmed', 'The address was confirmed.', () =>
      followConfirmation(pageCtx(makeCtx, request), formOf(request).confirmation_token ?? ''),
    )
  })
}

function passwordForm(response: Response, secret: string, wrong: string): void {
  sendPage(response, {
    title: 'Set your password',
    status: wrong === '' ? 200 : 400,
    body: html`${wrong === '' ? '' : html`<p class="wrong">${wrong}</p>`}
<form method="post" action="/users/password">
<input type="hidden" name="reset_password_token" value="${secret}">
<label>New password <input name="password" type="password" autocomplete="new-password" required></label>
<button>Set</button>
</form>`,
  })
}

function passwordRoutes(routes: Router, makeCtx: MakeCtx): void {
  routes.get('/password/edit', (request: Request, response) => {
    passwordForm(response, queryOf(request).reset_password_token ?? '', '')
  })
  routes.post('/password', async (request, response) => {
    const form = formOf(request)
    const secret = form.reset_password_token ?? ''
    try {
      await setPasswordByLink(pageCtx(makeCtx, request), secret, form.password ?? '')
    } catch (error) {
      passwordForm(response, secret, problemText(error))
      return
    }
    sendPage(response, { title: 'Done', body: html`<p>The password was set.</p>` })
  })
}

async function answer(
  response: Response,
  title: string,
  text: string,
  act: () => Promise<unknown>,
): Promise<void> {
  try {
    await act()
    sendPage(response, { title, body: html`<p>${text}</p>` })
  } catch (error) {
    const body = html`<p class="wrong">${problemText(error)}</p>`
    sendPage(response, { title: 'That did not work', status: 400, body })
  }
}
