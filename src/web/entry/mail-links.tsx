import { text } from '../../http/params.ts'
import {
  followConfirmation,
  setPasswordByLink,
} from '../../identity/users/addresses/confirm-address.ts'
import { getSent, unsubscribeBySecret } from '../../notifications/notifications/unsubscribe.ts'
import { pathOf } from '../address.ts'
import { actForm } from '../form.ts'
import { answerNotice } from '../notice.tsx'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'

// Pages with a button: programs that look into mails follow links, but press nothing.

const secret = text({ max: 1000 }).default('')
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

export const confirmationPage = page({
  address: '/users/confirmation',
  summary: 'Confirm an e-mail address by the link of a mail',
  beforeTerms: true,
  query: { confirmation_token: secret },
  async read(ctx, { query }) {
    ctx.headers['Cache-Control'] = 'no-store'
    return { token: query.confirmation_token }
  },
  title: () => 'Confirm your e-mail address · Gitstead',
  view: ({ token }) => (
    <div class="sign">
      <h1>Confirm your e-mail address</h1>
      <RefusalNote />
      <Form action="/users/confirmation" returnTo="/" class="form">
        <input type="hidden" name="confirmation_token" value={token} />
        <button type="submit" class="button primary">
          Confirm
        </button>
      </Form>
    </div>
  ),
})

export const confirmationForm = actForm({
  address: '/users/confirmation',
  summary: 'Confirm an address with the secret of a mail',
  page: confirmationPage,
  strangers: true,
  async act({ ctx, fields }) {
    await followConfirmation(ctx, textOf(fields.confirmation_token))
    return await answerNotice(ctx, 'Confirmed', <p>The address was confirmed.</p>)
  },
})

export const passwordLinkPage = page({
  address: '/users/password/edit',
  summary: 'Set a password by the link of a mail',
  beforeTerms: true,
  query: { reset_password_token: secret },
  async read(ctx, { query }) {
    ctx.headers['Cache-Control'] = 'no-store'
    return { token: query.reset_password_token }
  },
  title: () => 'Set your password · Gitstead',
  view: ({ token }) => (
    <div class="sign">
      <h1>Set your password</h1>
      <RefusalNote />
      <Form action="/users/password" returnTo="/" class="form">
        <input type="hidden" name="reset_password_token" value={token} />
        <Field
          name="password"
          label="New password"
          input={{ type: 'password', autocomplete: 'new-password', required: true }}
        />
        <button type="submit" class="button primary">
          Set the password
        </button>
      </Form>
    </div>
  ),
})

export const passwordLinkForm = actForm({
  address: '/users/password',
  summary: 'Set a password with the secret of a mail',
  page: passwordLinkPage,
  strangers: true,
  async act({ ctx, fields }) {
    await setPasswordByLink(ctx, textOf(fields.reset_password_token), textOf(fields.password))
    return await answerNotice(
      ctx,
      'Done',
      <p>
        The password was set. <A href="/users/sign_in">Sign in</A>
      </p>,
    )
  },
})

const unsubscribeAddress = '/-/sent_notifications/:key/unsubscribe'

export const unsubscribePage = page({
  address: unsubscribeAddress,
  summary: 'End the mails about an issue or merge request',
  async read(ctx, { key }) {
    await getSent(ctx, key)
    return { key }
  },
  title: () => 'Unsubscribe · Gitstead',
  view: ({ key }) => (
    <div class="sign">
      <h1>Unsubscribe</h1>
      <p>No more mails about this issue or merge request?</p>
      <Form action={pathOf('-', 'sent_notifications', key, 'unsubscribe')} returnTo="/">
        <button type="submit" class="button primary">
          Unsubscribe
        </button>
      </Form>
    </div>
  ),
})

/** Also what mail programs call by their own button (RFC 8058). */
export const unsubscribeForm = actForm({
  address: unsubscribeAddress,
  summary: 'End the mails about an issue or merge request with the secret of a mail',
  strangers: true,
  bySecret: true,
  async act({ ctx, path }) {
    await unsubscribeBySecret(ctx, path.key)
    return await answerNotice(ctx, 'Unsubscribed', <p>There will be no more of these mails.</p>)
  },
})
