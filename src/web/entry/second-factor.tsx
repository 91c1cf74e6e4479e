import { Problem } from '../../base/problem.ts'
import { text } from '../../http/params.ts'
import { completeSignIn } from '../../identity/sign-in/next-step.ts'
import { safeReturn } from '../../identity/sign-in/return-path.ts'
import { findWaitingSignIn, type Session } from '../../identity/sign-in/session.ts'
import { askForKey, proveByKey } from '../../identity/two-factor/keys/prove-by-key.ts'
import { proveByCode } from '../../identity/two-factor/prove.ts'
import { hasTotp } from '../../identity/two-factor/queries.ts'
import { actForm } from '../form.ts'
import { page } from '../page.ts'
import { formTokenOf, type PageCtx } from '../page-ctx.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { KeyForm } from '../parts/key-form.tsx'
import { A } from '../parts/link.tsx'
import { pathOfStep } from './next-page.ts'

const ADDRESS = '/users/sign_in/second_factor'

const textOf = (value: unknown) => (typeof value === 'string' ? value.slice(0, 100) : '')
const asked = (ctx: PageCtx) => ({ purpose: 'second_factor', browser: formTokenOf(ctx) }) as const

/** The sign-in of this browser that has come as far as this; whoever has none begins anew. */
async function waitingSignIn(ctx: PageCtx): Promise<Session> {
  const waiting = await findWaitingSignIn(ctx, ctx.request)
  if (!waiting) throw new Problem('moved', 302, '', { headers: { Location: '/users/sign_in' } })
  return waiting
}

export const secondFactorPage = page({
  address: ADDRESS,
  summary: 'The second step of signing in',
  query: { return_to: text().optional(), remember_me: text({ max: 10 }).optional() },
  async read(ctx, { query }) {
    const { user } = await waitingSignIn(ctx)
    ctx.headers['Cache-Control'] = 'no-store'
    return {
      returnTo: safeReturn(query.return_to) ?? '/',
      remember: query.remember_me === '1',
      hasApp: await hasTotp(ctx.db, user.id),
      key: await askForKey(ctx, { ...asked(ctx), userId: user.id }),
    }
  },
  title: () => 'Sign in · Gitstead',
  view: ({ returnTo, remember, hasApp, key }) => {
    const hidden = remember && <input type="hidden" name="remember_me" value="1" />
    return (
      <div class="sign">
        <h1>Second factor</h1>
        <RefusalNote />
        {key && (
          <KeyForm
            action={ADDRESS}
            returnTo={returnTo}
            ask="get"
            options={key}
            label="Use your key"
            primary
          >
            {hidden}
          </KeyForm>
        )}
        <Form action={ADDRESS} returnTo={returnTo} class="form">
          {hidden}
          <Field
            name="code"
            label={hasApp ? 'Code of your app' : 'Recovery code'}
            hint={hasApp ? 'Or one of your recovery codes' : 'One of those that you have kept'}
            input={{ autocomplete: 'one-time-code', required: true, autofocus: !key }}
          />
          <button type="submit" class={key ? 'button' : 'button primary'}>
            Sign in
          </button>
        </Form>
        <p>
          Without any of them, an administrator can take the second factor off.{' '}
          <A href="/users/sign_in">Sign in as somebody else</A>
        </p>
      </div>
    )
  },
})

export const secondFactorForm = actForm({
  address: ADDRESS,
  summary: 'Finish signing in with a code',
  page: secondFactorPage,
  strangers: true,
  async act({ ctx, fields }) {
    const waiting = await waitingSignIn(ctx)
    const userId = waiting.user.id
    if (fields.key === undefined) await proveByCode(ctx, userId, textOf(fields.code))
    else await proveByKey(ctx, { ...asked(ctx), userId }, fields.key)
    const { next, headers } = await completeSignIn(ctx, waiting, ctx.request, {
      remember: fields.remember_me === '1',
    })
    Object.assign(ctx.headers, headers)
    return pathOfStep(next, fields.return_to)
  },
})
