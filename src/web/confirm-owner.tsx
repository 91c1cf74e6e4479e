import { Problem } from '../base/problem.ts'
import type { Bytes } from '../http/endpoint.ts'
import { isFresh, proveAgain } from '../identity/sign-in/prove-again.ts'
import { PROOF_TRIES } from '../identity/two-factor/endpoints.ts'
import { askForKey } from '../identity/two-factor/keys/prove-by-key.ts'
import { callerId, getUser } from '../identity/users/find-user.ts'
import { answerPage } from './answer.ts'
import type { RefusedForm } from './context.ts'
import { formTokenOf, type PageCtx } from './page-ctx.ts'
import { Field, Form, RefusalNote } from './parts/form.tsx'
import { KeyForm } from './parts/key-form.tsx'
import { A } from './parts/link.tsx'
import { sentenceOf } from './sentence.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields with which a form shows that it comes from the owner of the browser. */
const PROOFS = ['proof_password', 'proof_code', 'proof_key'] as const

/**
 * Before what is dangerous, asks who sits there unless that was shown a short while ago: gives the page that asks, which
 * carries the form along, so that nothing that was typed is lost. Undefined: go on.
 */
export async function confirmOwner(
  ctx: PageCtx,
  address: string,
  fields: Fields,
): Promise<Bytes | undefined> {
  if (ctx.actor.kind !== 'user' || isFresh(ctx)) return undefined
  const [password, code, key] = PROOFS.map((name) => textOf(fields[name]))
  if (!password && !code && !key) return await ask(ctx, address, fields, null)
  try {
    ctx.request.countAgainst(PROOF_TRIES, callerId(ctx))
    await proveAgain(ctx, { password, code, key }, formTokenOf(ctx))
    return undefined
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { status, fields: texts = {} } = error
    return await ask(ctx, address, fields, {
      status,
      text: sentenceOf(error),
      fields: texts,
      values: {},
    })
  }
}

/** The fields of the form without those that this page has asked for. */
export function withoutProofs(fields: Fields): Fields {
  const proofs: readonly string[] = PROOFS
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !proofs.includes(name)))
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

async function ask(
  ctx: PageCtx,
  address: string,
  fields: Fields,
  refused: RefusedForm | null,
): Promise<Bytes> {
  const userId = callerId(ctx)
  const user = await getUser(ctx, userId)
  const key = await askForKey(ctx, { purpose: 'prove', userId, browser: formTokenOf(ctx) })
  ctx.headers['Cache-Control'] = 'no-store'
  const body = (
    <ConfirmView
      action={address}
      carried={carriedOf(withoutProofs(fields))}
      hasPassword={user.password_hash !== null}
      hasCode={user.two_factor === 1}
      keyOptions={key}
    />
  )
  const title = 'Confirm that it is you · Gitstead'
  return await answerPage(ctx, { title, body, refused, status: refused?.status ?? 403 })
}

/** Every value of a form, under the name of its field; passwords are typed again, since no secret comes back in a page. */
function carriedOf(fields: Fields): [string, string][] {
  const pairs = Object.entries(fields).flatMap(([name, value]) => pairsOf(name, value))
  return pairs.filter(([name]) => !/password/i.test(name))
}

function pairsOf(name: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[name, value]]
  if (Array.isArray(value)) return value.flatMap((one) => pairsOf(`${name}[]`, one))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => pairsOf(`${name}[${key}]`, one))
}

interface ConfirmProps {
  readonly action: string
  readonly carried: readonly (readonly [string, string])[]
  readonly hasPassword: boolean
  readonly hasCode: boolean
  readonly keyOptions: object | undefined
}

function ConfirmView({ action, carried, hasPassword, hasCode, keyOptions }: ConfirmProps) {
  const returnTo = carried.find(([name]) => name === 'return_to')?.[1] ?? '/'
  const hidden = carried
    .filter(([name]) => name !== 'return_to')
    .map(([name, value]) => <input key={name + value} type="hidden" name={name} value={value} />)
  return (
    <div class="sign">
      <h1>Confirm that it is you</h1>
      <p>This is asked for before what could be misused, if you have not shown it of late.</p>
      <RefusalNote />
      {keyOptions && (
        <KeyForm
          action={action}
          returnTo={returnTo}
          ask="get"
          field="proof_key"
          options={keyOptions}
          label="Use your key"
        >
          {hidden}
        </KeyForm>
      )}
      {(hasPassword || hasCode) && (
        <Form action={action} returnTo={returnTo} class="form">
          {hidden}
          {hasPassword && (
            <Field
              name="proof_password"
              label="Password"
              input={{ type: 'password', autocomplete: 'current-password', autofocus: true }}
            />
          )}
          {hasCode && (
            <Field
              name="proof_code"
              label={hasPassword ? 'Or a code of your app' : 'Code of your app'}
              input={{ autocomplete: 'one-time-code' }}
            />
          )}
          <button type="submit" class="button primary">
            Go on
          </button>
        </Form>
      )}
      {!hasPassword && (
        <p>
          <A href={`/users/sign_in?${new URLSearchParams({ return_to: returnTo })}`}>
            Sign in again
          </A>
          , and send the form once more.
        </p>
      )}
    </div>
  )
}
