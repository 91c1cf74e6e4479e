import { hidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { perMinute } from '../../http/endpoint.ts'
import { hash, text } from '../../http/params.ts'
import { refuseWrong, validate } from '../../http/validate.ts'
import { signUp } from '../../identity/users/create/sign-up.ts'
import { actForm } from '../form.ts'
import { answerNotice } from '../notice.tsx'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'

const ADDRESS = '/users/sign_up'
const LIMIT = perMinute('sign_up', 10)

/** Whether people may make accounts for themselves is for administrators to say. */
function assertOpen(ctx: Ctx): void {
  if (!ctx.settings.get('signup_enabled')) throw hidden()
}

export const signUpPage = page({
  address: ADDRESS,
  summary: 'Make an account',
  async read(ctx) {
    assertOpen(ctx)
    return {}
  },
  title: () => 'Make an account · Gitstead',
  view: () => (
    <div class="sign">
      <h1>Make an account</h1>
      <RefusalNote />
      <Form action={ADDRESS} class="form">
        <Field
          name="user[name]"
          fault="name"
          label="Name"
          input={{ autocomplete: 'name', required: true, autofocus: true }}
        />
        <Field
          name="user[username]"
          fault="username"
          label="Username"
          hint="How others mention you, and where your projects are"
          input={{ autocomplete: 'username', autocapitalize: 'none', required: true }}
        />
        <Field
          name="user[email]"
          fault="email"
          label="E-mail"
          input={{ type: 'email', autocomplete: 'email', required: true }}
        />
        <Field
          name="user[password]"
          fault="password"
          label="Password"
          input={{ type: 'password', autocomplete: 'new-password', required: true }}
        />
        <button type="submit" class="button primary">
          Make the account
        </button>
      </Form>
      <p>
        You have one? <A href="/users/sign_in">Sign in</A>
      </p>
    </div>
  ),
})

const fields = {
  user: hash({
    name: text({ max: 1000 }),
    username: text({ max: 1000 }),
    email: text({ max: 1000 }),
    password: text({ max: 10_000 }),
  }),
}

export const signUpForm = actForm({
  address: ADDRESS,
  summary: 'Make an account for oneself',
  page: signUpPage,
  strangers: true,
  async act({ ctx, fields: sent }) {
    assertOpen(ctx)
    ctx.request.countAgainst(LIMIT, ctx.ip)
    const { value, wrong } = validate(fields, sent)
    refuseWrong(wrong)
    // What `validate` read has the schemas' types.
    const waits = (await signUp(ctx, (value as { user: SignUp }).user)) === 'waits'
    const mustConfirm = ctx.settings.get('email_confirmation_setting') === 'hard'
    return await answerNotice(
      ctx,
      'The account was made',
      <>
        <p>{waits ? 'An administrator looks at it before you can sign in.' : when(mustConfirm)}</p>
        <p>{ctx.settings.get('after_sign_up_text')}</p>
        <p>
          <A href="/users/sign_in">Sign in</A>
        </p>
      </>,
    )
  },
})

type SignUp = Parameters<typeof signUp>[1]

function when(mustConfirm: boolean): string {
  return mustConfirm
    ? 'A mail asks whether the address is yours. You can sign in once you have said so.'
    : 'You can sign in now. A mail asks whether the address is yours.'
}
