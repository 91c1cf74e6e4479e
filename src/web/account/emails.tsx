import { call } from '../../http/call/call.ts'
import { perMinute } from '../../http/endpoint.ts'
import {
  addOwnEmail,
  deleteOwnEmail,
  listOwnEmails,
} from '../../identity/users/addresses/endpoints.ts'
import { getCurrentUser } from '../../identity/users/current-endpoints.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { hasOwnPassword } from '../../identity/users/profile/own-password.ts'
import { updateOwnSignIn } from '../../identity/users/profile/update-oneself.ts'
import { actForm, form } from '../form.ts'
import { page } from '../page.ts'
import { leaveFlash } from '../page-ctx.ts'
import { State } from '../parts/basics.tsx'
import { ButtonForm, Field, Form, RefusalNote } from '../parts/form.tsx'
import { OwnPassword } from '../parts/own-password.tsx'
import { AccountFrame } from './frame.tsx'

const ADDRESS = '/-/user_settings/emails'
const PRIMARY = '/-/user_settings/emails/primary'

export const emailsPage = page({
  address: ADDRESS,
  summary: 'My e-mail addresses',
  signedIn: true,
  api: () => '/user/emails',
  async read(ctx) {
    const [user, { items }] = await Promise.all([
      call(getCurrentUser, ctx, { path: {} }),
      call(listOwnEmails, ctx, { path: {}, query: { per_page: 100 } }),
    ])
    return {
      first: user.email ?? '',
      isConfirmed: user.confirmed_at !== null,
      further: items,
      hasPassword: await hasOwnPassword(ctx),
    }
  },
  title: () => 'E-mail addresses · Gitstead',
  view: ({ first, isConfirmed, further, hasPassword }) => (
    <AccountFrame current="E-mail addresses">
      <p>Commits with one of these addresses count as yours; mails go to the first.</p>
      <RefusalNote />
      <ul class="list">
        <li>
          <span class="main">
            <strong>{first}</strong> <Confirmed yes={isConfirmed} />
          </span>
          <span class="facts">first</span>
        </li>
        {further.map(({ id, email, confirmed_at }) => (
          <li key={id}>
            <span class="main">
              {email} <Confirmed yes={confirmed_at !== null} />
            </span>
            <ButtonForm
              action={`${ADDRESS}/${id}/remove`}
              label="Remove"
              kind="danger"
              confirm={`Remove ${email}?`}
            />
          </li>
        ))}
      </ul>
      <section class="box">
        <h2 class="box-head">Add an address</h2>
        <Form action={ADDRESS} class="form box-body">
          <Field name="email" label="E-mail" input={{ type: 'email', required: true }} />
          <button type="submit" class="button primary">
            Add the address
          </button>
        </Form>
      </section>
      <section class="box">
        <h2 class="box-head">Change the first address</h2>
        <Form action={PRIMARY} class="form box-body">
          <Field
            name="first_email"
            fault="email"
            label="New first address"
            hint="It counts once you have followed the link of the mail that is sent there."
            input={{ type: 'email', required: true }}
          />
          <OwnPassword name="current_password" isSet={hasPassword} />
          <button type="submit" class="button">
            Change the first address
          </button>
        </Form>
      </section>
    </AccountFrame>
  ),
})

function Confirmed({ yes }: { yes: boolean }) {
  return yes ? null : (
    <State kind="waiting" icon="mail">
      waits for confirmation
    </State>
  )
}

export const addEmailForm = form({
  address: ADDRESS,
  summary: 'Add an address of the caller',
  fresh: true,
  endpoint: addOwnEmail,
  page: emailsPage,
  input: ({ fields: { email } }) => ({ path: {}, body: { email } }),
  goTo: () => ADDRESS,
  flash: ({ email }) => `A mail to ${email} asks whether it is yours.`,
})

export const removeEmailForm = form({
  address: '/-/user_settings/emails/:email_id/remove',
  summary: 'Remove an address of the caller',
  endpoint: deleteOwnEmail,
  input: ({ path }) => ({ path }),
  goTo: () => ADDRESS,
  flash: 'The address was removed.',
})

/** Passwords that are asked for again are slow to try out. */
export const PASSWORD_TRIES = perMinute('own_password', 10)

export const firstEmailForm = actForm({
  address: PRIMARY,
  summary: 'Change the first address of the caller',
  page: emailsPage,
  async act({ ctx, fields }) {
    ctx.request.countAgainst(PASSWORD_TRIES, callerId(ctx))
    const email = String(fields.first_email ?? '').trim()
    await updateOwnSignIn(ctx, String(fields.current_password ?? ''), { email })
    const words = `${email} is your first address once that is confirmed.`
    leaveFlash(ctx, { kind: 'notice', text: words })
    return ADDRESS
  },
})
