import { userOf } from '../../access/actor.ts'
import { PERSONAL_SCOPES } from '../../access/scopes.ts'
import { invalid } from '../../base/problem.ts'
import { call } from '../../http/call/call.ts'
import { csv, filledText, oneOf } from '../../http/params.ts'
import { refuseWrong, validate } from '../../http/validate.ts'
import { createToken, refuseBadToken } from '../../identity/access-tokens/create-token.ts'
import { listPersonalTokens, revokeTokenById } from '../../identity/access-tokens/endpoints.ts'
import { expiryParam } from '../../identity/access-tokens/params.ts'
import { scopeWords } from '../../identity/oauth/scope-words.ts'
import { callerId, getUser } from '../../identity/users/find-user.ts'
import { actForm, form } from '../form.ts'
import { type Page, page } from '../page.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Blank, CopyButton, Time } from '../parts/basics.tsx'
import { ButtonForm, Field, Form, RefusalNote } from '../parts/form.tsx'
import { AccountFrame } from './frame.tsx'

const ADDRESS = '/-/user_settings/personal_access_tokens'

/** The scopes that a page offers, in words. */
const scopes = [
  { value: 'api', label: 'Everything that I may do, by the API and by git' },
  { value: 'read_api', label: 'Read everything that I may see, by the API' },
  { value: 'read_user', label: 'Read my profile' },
  { value: 'read_repository', label: 'Clone and fetch repositories' },
  { value: 'write_repository', label: 'Push to repositories' },
  { value: 'read_registry', label: 'Pull container images' },
  { value: 'write_registry', label: 'Push container images' },
  { value: 'create_runner', label: 'Create runners' },
  { value: 'manage_runner', label: 'Manage runners' },
] as const

/** A token that was just made, for the one page that shows its secret. */
const fresh = new WeakMap<PageCtx, string>()

export const tokensPage: Page = page({
  address: ADDRESS,
  summary: 'My access tokens',
  signedIn: true,
  api: () => '/personal_access_tokens',
  async read(ctx) {
    const query = { state: 'active', user_id: userOf(ctx.actor)?.id, per_page: 100 }
    const { items } = await call(listPersonalTokens, ctx, { path: {}, query })
    return { tokens: items, secret: fresh.get(ctx) }
  },
  title: () => 'Access tokens · Gitstead',
  view: ({ tokens, secret }) => (
    <AccountFrame current="Access tokens">
      <p>A token is what programs sign in with: git asks for it as the password.</p>
      <RefusalNote />
      {secret !== undefined && (
        <div class="note" role="status">
          <p>Copy the new token now: it is shown once.</p>
          <p class="row">
            <code>{secret}</code> <CopyButton text={secret} label="Copy the token" />
          </p>
        </div>
      )}
      {tokens.length === 0 && <Blank icon="key" title="You have no tokens" />}
      <ul class="list">
        {tokens.map((token) => (
          <li key={token.id}>
            <div class="main">
              <strong>{token.name}</strong>
              <p class="facts">
                expires {token.expires_at ?? 'never'} · last used{' '}
                {token.last_used_at ? <Time at={token.last_used_at} /> : 'never'}
              </p>
              <ul class="facts">
                {token.scopes.map((scope) => (
                  <li key={scope}>
                    {scopeWords(scope)} <code class="quiet">{scope}</code>
                  </li>
                ))}
              </ul>
            </div>
            <ButtonForm
              action={`${ADDRESS}/${token.id}/revoke`}
              kind="danger"
              label="Revoke"
              confirm={`Revoke the token ${token.name}? Programs that use it are signed out.`}
            />
          </li>
        ))}
      </ul>
      <section class="box">
        <h2 class="box-head">New token</h2>
        <Form action={ADDRESS} class="form box-body">
          <Field name="name" label="Name" input={{ required: true }} />
          <Field name="expires_at" label="Last day" input={{ type: 'date' }} />
          <fieldset class="choices">
            <legend class="label-text">It may</legend>
            {scopes.map(({ value, label }) => (
              <label key={value}>
                <input type="checkbox" name="scopes[]" value={value} /> {label}{' '}
                <code class="quiet">{value}</code>
              </label>
            ))}
          </fieldset>
          <button type="submit" class="button primary">
            Make the token
          </button>
        </Form>
      </section>
    </AccountFrame>
  ),
})

const fields = {
  name: filledText({ max: 255 }),
  expires_at: expiryParam,
  scopes: csv(oneOf(PERSONAL_SCOPES)).default([]),
}

/** People make their own tokens here, signed in by their browser; the API lets them make narrower ones alone. */
export const makeTokenForm = actForm({
  address: ADDRESS,
  summary: 'Make an access token of the caller',
  fresh: true,
  page: tokensPage,
  async act({ ctx, fields: sent }) {
    const { value, wrong } = validate(fields, sent)
    refuseWrong(wrong)
    // What `validate` read has the schemas' types.
    const input = value as { name: string; expires_at?: string | null; scopes: string[] }
    const user = await getUser(ctx, callerId(ctx))
    refuseBadToken(ctx, input, user, invalid)
    const { secret } = await createToken(ctx, input, { kind: 'personal', userId: user.id })
    fresh.set(ctx, secret)
    ctx.headers['Cache-Control'] = 'no-store'
    return await tokensPage.show(ctx, { query: {} })
  },
})

export const revokeTokenForm = form({
  address: '/-/user_settings/personal_access_tokens/:token_id/revoke',
  summary: 'Revoke an access token of the caller',
  endpoint: revokeTokenById,
  input: ({ path }) => ({ path: { id: path.token_id } }),
  goTo: () => ADDRESS,
  flash: 'The token was revoked.',
})
