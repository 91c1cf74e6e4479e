import { badRequest, Problem } from '../../base/problem.ts'
import { labelOf } from '../../base/providers/provider.ts'
import { call } from '../../http/call/call.ts'
import { hash, text } from '../../http/params.ts'
import { refuseWrong, validate } from '../../http/validate.ts'
import {
  listIdentitiesOfCaller,
  unlinkIdentityOfCaller,
} from '../../identity/providers/endpoints.ts'
import { getDirectory, linkDirectory } from '../../identity/providers/ldap/sign-in.ts'
import { beginOpenId, getOpenIdProvider } from '../../identity/providers/openid/sign-in.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { actForm, form } from '../form.ts'
import { answerNotice } from '../notice.tsx'
import { page } from '../page.ts'
import { leaveFlash } from '../page-ctx.ts'
import { Time } from '../parts/basics.tsx'
import { ButtonForm, Field, Form } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { AccountFrame } from './frame.tsx'

const given = hash({ login: text({ max: 1000 }), password: text({ max: 10_000 }) })

const ADDRESS = '/-/user_settings/identities'

export const identitiesPage = page({
  address: ADDRESS,
  summary: 'By which providers I sign in',
  signedIn: true,
  api: () => '/user/identities',
  read: async (ctx) => ({ identities: await call(listIdentitiesOfCaller, ctx, { path: {} }) }),
  title: () => 'Sign-in providers · Gitstead',
  view: ({ identities }) => (
    <AccountFrame current="Sign-in providers">
      {identities.length === 0 && <p>This server has no sign-in providers.</p>}
      <ul class="list">
        {identities.map(({ provider: name, label, kind, linked_at, may }) => (
          <li key={name}>
            <div class="main">
              <strong>{label}</strong>
              <p class="facts">
                {linked_at === null ? (
                  'not linked'
                ) : (
                  <>
                    linked <Time at={linked_at} />
                  </>
                )}
              </p>
            </div>
            {may === 'link' && kind === 'openid' && (
              <ButtonForm action={`${ADDRESS}/${name}/link`} label="Link" />
            )}
            {may === 'unlink' && (
              <ButtonForm
                action={`${ADDRESS}/${name}/unlink`}
                label="Unlink"
                kind="danger"
                confirm={`Sign in by ${label} no more?`}
              />
            )}
          </li>
        ))}
      </ul>
      {identities
        .filter(({ kind, may }) => kind === 'ldap' && may === 'link')
        .map(({ provider: name, label }) => (
          <Form key={name} action={`${ADDRESS}/${name}/prove`} returnTo={ADDRESS} class="form">
            <h2>Link {label}</h2>
            <Field
              name={`${name}[login]`}
              label={`Username at ${label}`}
              input={{ autocomplete: 'off', autocapitalize: 'none', required: true }}
            />
            <Field
              name={`${name}[password]`}
              label={`Password at ${label}`}
              input={{ type: 'password', autocomplete: 'off', required: true }}
            />
            <button type="submit" class="button">
              Link
            </button>
          </Form>
        ))}
    </AccountFrame>
  ),
})

export const linkIdentityForm = actForm({
  address: '/-/user_settings/identities/:provider/link',
  summary: 'Let the caller sign in by a provider too',
  fresh: true,
  async act({ ctx, path }) {
    const provider = getOpenIdProvider(ctx, path.provider)
    const { url, headers } = await beginOpenId(ctx, provider, {
      request: ctx.request,
      returnTo: ADDRESS,
      link: callerId(ctx),
    })
    Object.assign(ctx.headers, headers)
    const label = labelOf(provider)
    // A redirect would need a page that may send its forms to the provider.
    return await answerNotice(
      ctx,
      `Link ${label}`,
      <p>
        <A class="button primary" href={url}>
          Continue to {label}
        </A>
      </p>,
    )
  },
})

/** Passwords of a directory are guessed here no faster than at the sign-in page. */
export const proveIdentityForm = actForm({
  address: '/-/user_settings/identities/:provider/prove',
  summary: 'Let the caller sign in by a directory too, whose password they give',
  fresh: true,
  async act({ ctx, path, fields }) {
    const directory = getDirectory(ctx, path.provider)
    const { value, wrong } = validate({ [directory.name]: given }, fields)
    refuseWrong(wrong)
    const sent = (value as Record<string, { login: string; password: string }>)[directory.name]
    const { login: user = '', password = '' } = sent ?? {}
    await linkDirectory(ctx, directory, { user, password }).catch((refusal: unknown) => {
      if (!(refusal instanceof Problem) || refusal.status !== 401) throw refusal
      throw badRequest('The username or the password is wrong.')
    })
    leaveFlash(ctx, { kind: 'notice', text: `${labelOf(directory)} is linked.` })
    return ADDRESS
  },
})

export const unlinkIdentityForm = form({
  address: '/-/user_settings/identities/:provider/unlink',
  summary: 'Let the caller sign in by a provider no more',
  fresh: true,
  endpoint: unlinkIdentityOfCaller,
  input: ({ path }) => ({ path }),
  goTo: () => ADDRESS,
  flash: 'The provider is unlinked.',
})
