import { Problem } from '../../base/problem.ts'
import { labelOf } from '../../base/providers/provider.ts'
import { perMinute } from '../../http/endpoint.ts'
import { flag, hash, text } from '../../http/params.ts'
import { refuseWrong, validate } from '../../http/validate.ts'
import { getDirectory, signInByDirectory } from '../../identity/providers/ldap/sign-in.ts'
import { continueSignIn } from '../../identity/sign-in/next-step.ts'
import { safeReturn } from '../../identity/sign-in/return-path.ts'
import { endSession, findSession, findWaitingSignIn } from '../../identity/sign-in/session.ts'
import { signInWithKey, signInWithPassword } from '../../identity/sign-in/sign-in.ts'
import { askForKey } from '../../identity/two-factor/keys/prove-by-key.ts'
import { useShown } from '../context.ts'
import { actForm } from '../form.ts'
import { page } from '../page.ts'
import { formTokenOf, type PageCtx } from '../page-ctx.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { KeyForm } from '../parts/key-form.tsx'
import { A } from '../parts/link.tsx'
import { ProviderLinks } from './by-provider.tsx'
import { assertNothingDue, pathOfStep } from './next-page.ts'

const ADDRESS = '/users/sign_in'
const KEY = '/users/sign_in/key'
/** Each answer of a key costs a signature's check. */
const KEY_TRIES = perMinute('key_sign_in', 30)

/** Whoever has a passkey of somebody here. */
const anybody = (ctx: PageCtx) =>
  ({ purpose: 'sign_in', userId: null, browser: formTokenOf(ctx) }) as const

export const signInPage = page({
  address: ADDRESS,
  summary: 'Sign in',
  query: { return_to: text().optional() },
  whileDue: true,
  async read(ctx, { query }) {
    assertNothingDue(ctx)
    return {
      returnTo: safeReturn(query.return_to) ?? '/',
      providers: ctx.config.signInProviders.openid.map((one) => ({
        name: one.name,
        label: labelOf(one),
      })),
      directories: ctx.config.signInProviders.ldap.map((one) => ({
        value: one.name,
        label: labelOf(one),
      })),
      byPassword: ctx.settings.get('password_authentication_enabled_for_web'),
      mayRemember: ctx.settings.get('remember_me_enabled'),
      maySignUp: ctx.settings.get('signup_enabled'),
      isSignedIn: ctx.actor.kind === 'user',
      key: await askForKey(ctx, anybody(ctx)),
    }
  },
  title: () => 'Sign in · Gitstead',
  view: ({
    returnTo,
    providers,
    directories,
    byPassword,
    maySignUp,
    mayRemember,
    isSignedIn,
    key,
  }) => (
    <div class="sign">
      <h1>Sign in</h1>
      <RefusalNote />
      {isSignedIn && (
        <p class="note">You are signed in. Signing in again changes who you are here.</p>
      )}
      <ProviderLinks providers={providers} returnTo={returnTo} />
      {!byPassword && directories.length === 0 && (
        <p>Only administrators sign in with a password.</p>
      )}
      <Form action={ADDRESS} returnTo={returnTo} class="form">
        {directories.length > 0 && (
          <Field
            name="user[provider]"
            label="Account"
            value={directories[0]?.value ?? ''}
            options={[...directories, { value: '', label: 'Of this server' }]}
          />
        )}
        <NameAndPassword label={directories.length > 0 ? 'Username' : 'Username or e-mail'} />
        {mayRemember && (
          <label>
            <input type="checkbox" name="user[remember_me]" value="1" /> Remember me for two weeks
          </label>
        )}
        <button type="submit" class="button primary">
          Sign in
        </button>
      </Form>
      {key && (
        <KeyForm
          action={KEY}
          returnTo={returnTo}
          ask="get"
          options={key}
          label="Sign in with a passkey"
        />
      )}
      <p>
        <A href="/users/password/new">I have forgotten my password</A> ·{' '}
        <A href="/users/confirmation/new">The mail that confirms my address has not come</A>
      </p>
      {maySignUp && (
        <p>
          New here? <A href="/users/sign_up">Make an account</A>
        </p>
      )}
    </div>
  ),
})

/** The two fields; after a refusal the name is there, and the password is typed again. */
function NameAndPassword({ label }: { label: string }) {
  const isAgain = useShown().refused !== null
  return (
    <>
      <Field
        name="user[login]"
        label={label}
        input={{
          autocomplete: 'username',
          autocapitalize: 'none',
          required: true,
          autofocus: !isAgain,
        }}
      />
      <Field
        name="user[password]"
        label="Password"
        input={{
          type: 'password',
          autocomplete: 'current-password',
          required: true,
          autofocus: isAgain,
        }}
      />
    </>
  )
}

const fields = {
  user: hash({
    login: text({ max: 1000 }),
    password: text({ max: 10_000 }),
    remember_me: flag().optional(),
    /** The directory whose account it is; that of this server without one. */
    provider: text({ max: 100 }).optional(),
  }),
}

interface SignIn {
  readonly login: string
  readonly password: string
  readonly remember_me?: boolean
  readonly provider?: string
}

async function signIn(ctx: PageCtx, { login, password, provider }: SignIn) {
  if (!provider) return await signInWithPassword(ctx, { login, password })
  const given = { user: login, password }
  return await signInByDirectory(ctx, getDirectory(ctx, provider), given)
}

export const signInForm = actForm({
  address: ADDRESS,
  summary: 'Sign a browser in with username or e-mail and password',
  page: signInPage,
  strangers: true,
  async act({ ctx, fields: sent }) {
    const { value, wrong } = validate(fields, sent)
    refuseWrong(wrong)
    // What `validate` read has the schemas' types.
    const { user } = value as { user: SignIn }
    const actor = await signIn(ctx, user).catch((refusal: unknown) => {
      if (!(refusal instanceof Problem) || refusal.status !== 401) throw refusal
      throw new Problem('unauthorized', 401, {
        message: 'The username or the password is wrong.',
      })
    })
    const remember = user.remember_me === true
    const { next, headers } = await continueSignIn(ctx, actor, 'password', ctx.request, {
      remember,
    })
    Object.assign(ctx.headers, headers)
    return pathOfStep(next, sent.return_to, remember)
  },
})

export const keySignInForm = actForm({
  address: KEY,
  summary: 'Sign a browser in with a passkey',
  page: signInPage,
  strangers: true,
  async act({ ctx, fields }) {
    ctx.request.countAgainst(KEY_TRIES, ctx.ip)
    const actor = await signInWithKey(ctx, fields.key, formTokenOf(ctx))
    const { next, headers } = await continueSignIn(ctx, actor, 'key_with_pin', ctx.request)
    Object.assign(ctx.headers, headers)
    return pathOfStep(next, fields.return_to)
  },
})

export const signOutForm = actForm({
  address: '/users/sign_out',
  summary: 'Sign the browser out',
  strangers: true,
  whileDue: true,
  async act({ ctx }) {
    const session =
      (await findSession(ctx, ctx.request)) ?? (await findWaitingSignIn(ctx, ctx.request))
    if (session) Object.assign(ctx.headers, await endSession(ctx, session))
    return ADDRESS
  },
})
