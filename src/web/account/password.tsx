import { invalid } from '../../base/problem.ts'
import { beginSession } from '../../identity/sign-in/session.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { hasOwnPassword } from '../../identity/users/profile/own-password.ts'
import { updateOwnSignIn } from '../../identity/users/profile/update-oneself.ts'
import { actForm } from '../form.ts'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { OwnPassword } from '../parts/own-password.tsx'
import { PASSWORD_TRIES } from './emails.tsx'
import { AccountFrame } from './frame.tsx'

const ADDRESS = '/-/user_settings/password'

export const passwordPage = page({
  address: ADDRESS,
  summary: 'My password',
  signedIn: true,
  whileDue: true,
  read: async (ctx) => ({
    least: ctx.settings.get('minimum_password_length'),
    hasPassword: await hasOwnPassword(ctx),
    isDue: ctx.actor.kind === 'user' && ctx.actor.session?.due === 'password',
  }),
  title: () => 'Password · Gitstead',
  view: ({ least, hasPassword, isDue }) => (
    <AccountFrame current="Password">
      {isDue && <p class="note">Your password must be changed before anything else.</p>}
      <p>A new password signs every other browser out.</p>
      <RefusalNote />
      <Form action={ADDRESS} class="form">
        <OwnPassword name="current_password" isSet={hasPassword} label="Current password" />
        <Field
          name="password"
          label="New password"
          hint={`At least ${least} characters`}
          input={{ type: 'password', autocomplete: 'new-password', required: true }}
        />
        <Field
          name="password_again"
          label="New password again"
          input={{ type: 'password', autocomplete: 'new-password', required: true }}
        />
        <button type="submit" class="button primary">
          Change the password
        </button>
      </Form>
    </AccountFrame>
  ),
})

export const passwordForm = actForm({
  address: ADDRESS,
  summary: 'Change the password of the caller',
  page: passwordPage,
  whileDue: true,
  async act({ ctx, fields }) {
    const { actor, request } = ctx
    if (actor.kind !== 'user') return '/users/sign_in'
    request.countAgainst(PASSWORD_TRIES, callerId(ctx))
    const { current_password, password, password_again } = fields
    if (password !== password_again) throw invalid({ password_again: ['is another one'] })
    const changes = { password: String(password ?? '') }
    await updateOwnSignIn(ctx, String(current_password ?? ''), changes)
    // That has ended all sessions, this one too.
    Object.assign(ctx.headers, await beginSession(ctx, actor, request))
    return ADDRESS
  },
})
