import type { Ctx } from '../../ctx.ts'
import { perMinute } from '../../http/endpoint.ts'
import {
  askForConfirmation,
  askForNewPassword,
} from '../../identity/users/addresses/confirm-address.ts'
import { actForm } from '../form.ts'
import { answerNotice } from '../notice.tsx'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'

// Strangers give an address. The answer is the same whether somebody has it or not.

const TRIES = perMinute('ask_for_mail', 10)

function askingPage<const P extends string>(address: P, summary: string, words: string) {
  return page({
    address,
    summary,
    read: async () => ({}),
    title: () => `${summary} · Gitstead`,
    view: () => (
      <div class="sign">
        <h1>{summary}</h1>
        <RefusalNote />
        <p>{words}</p>
        <Form action={address} class="form">
          <Field
            name="email"
            label="E-mail"
            input={{ type: 'email', autocomplete: 'email', required: true, autofocus: true }}
          />
          <button type="submit" class="button primary">
            Send the mail
          </button>
        </Form>
        <p>
          <A href="/users/sign_in">Sign in</A>
        </p>
      </div>
    ),
  })
}

function askingForm<const P extends string>(
  address: P,
  summary: string,
  ask: (ctx: Ctx, email: string) => Promise<void>,
) {
  return actForm({
    address,
    summary,
    strangers: true,
    async act({ ctx, fields }) {
      ctx.request.countAgainst(TRIES, ctx.ip)
      await ask(ctx, typeof fields.email === 'string' ? fields.email : '')
      return await answerNotice(
        ctx,
        'Look into your mailbox',
        <p>
          If the address is known here, a mail is on its way to it.{' '}
          <A href="/users/sign_in">Sign in</A>
        </p>,
      )
    },
  })
}

export const askPasswordPage = askingPage(
  '/users/password/new',
  'Have a link for a new password sent',
  'A mail to the first address of your account brings a link, which counts once and for an hour.',
)

export const askPasswordForm = askingForm(
  '/users/password/new',
  'Send a link for a new password to an address',
  askForNewPassword,
)

export const askConfirmationPage = askingPage(
  '/users/confirmation/new',
  'Have the mail that confirms an address sent again',
  'Give the address that waits for its confirmation.',
)

export const askConfirmationForm = askingForm(
  '/users/confirmation/new',
  'Ask an address once more whether it is its owner’s',
  askForConfirmation,
)
