import { call } from '../../../http/call/call.ts'
import { endOtherSessions } from '../../../identity/sign-in/own-sessions.ts'
import {
  confirmOwnApp,
  getOwnTwoFactor,
  makeOwnRecoveryCodes,
  offerOwnApp,
  PROOF_TRIES,
  turnOwnTwoFactorOff,
} from '../../../identity/two-factor/endpoints.ts'
import { addKey, offerKey } from '../../../identity/two-factor/keys/add-key.ts'
import { listOwnKeys, removeOwnKey } from '../../../identity/two-factor/keys/endpoints.ts'
import { waitingApp } from '../../../identity/two-factor/turn-on.ts'
import { callerId, getUser } from '../../../identity/users/find-user.ts'
import { actForm, form, type Sent } from '../../form.ts'
import { type Page, page } from '../../page.ts'
import { formTokenOf, type PageCtx } from '../../page-ctx.ts'
import { RefusalNote } from '../../parts/form.tsx'
import { AccountFrame } from '../frame.tsx'
import { KeysSection } from './keys-section.tsx'
import { AppSection, RecoverySection, TurnOffSection } from './sections.tsx'

const ADDRESS = '/-/user_settings/two_factor'

/** Recovery codes that were just made, for the one page that shows them. */
const made = new WeakMap<PageCtx, readonly string[]>()

export const twoFactorPage: Page = page({
  address: ADDRESS,
  summary: 'My second factor',
  signedIn: true,
  whileDue: true,
  api: () => '/user/two_factor',
  async read(ctx) {
    const user = await getUser(ctx, callerId(ctx))
    ctx.headers['Cache-Control'] = 'no-store'
    return {
      state: await call(getOwnTwoFactor, ctx, { path: {} }),
      waiting: await waitingApp(ctx, user),
      codes: made.get(ctx) ?? [],
      hasPassword: user.password_hash !== null,
      keys: (await call(listOwnKeys, ctx, { path: {}, query: { per_page: 100 } })).items,
      newKey: await offerKey(ctx, user, formTokenOf(ctx)),
      isDue: ctx.actor.kind === 'user' && ctx.actor.session?.due === 'second_factor',
    }
  },
  title: () => 'Second factor · Gitstead',
  view: ({ state, waiting, codes, isDue, keys, newKey, hasPassword }) => (
    <AccountFrame current="Second factor">
      {isDue && <p class="note">A second factor must be set up before anything else.</p>}
      <p>
        With a second factor, nobody signs in with your password alone. Programs and git then need
        an access token.
      </p>
      <RefusalNote />
      <RecoveryCodes codes={codes} />
      <AppSection isOn={state.app} waiting={waiting} hasPassword={hasPassword} />
      <KeysSection keys={keys} newKey={newKey} hasPassword={hasPassword} />
      {state.enabled && (
        <RecoverySection left={state.recovery_codes_left} hasPassword={hasPassword} />
      )}
      {state.enabled && <TurnOffSection hasPassword={hasPassword} />}
    </AccountFrame>
  ),
})

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  if (codes.length === 0) return null
  return (
    <div class="note" role="status">
      <p>
        Keep these recovery codes where you find them without this browser and your telephone: they
        are shown once, and each signs you in once.
      </p>
      <ul class="mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
    </div>
  )
}

/** The page with codes that nobody sees again. */
export async function showCodes(ctx: PageCtx, codes: readonly string[]) {
  made.set(ctx, codes)
  return await twoFactorPage.show(ctx, { query: {} })
}

export const offerAppForm = form({
  address: '/-/user_settings/two_factor/app',
  summary: 'Begin to set an authenticator app of the caller up',
  endpoint: offerOwnApp,
  page: twoFactorPage,
  whileDue: true,
  input: ({ fields }) => ({ path: {}, body: { current_password: fields.app_password } }),
  goTo: () => ADDRESS,
})

export const confirmAppForm = actForm({
  address: '/-/user_settings/two_factor/app/confirm',
  summary: 'Turn the authenticator app of the caller on',
  page: twoFactorPage,
  whileDue: true,
  async act({ ctx, fields: { code } }) {
    const input = { path: {}, body: { code } }
    const { recovery_codes } = await call(confirmOwnApp, ctx, input)
    await endOtherSessions(ctx)
    return await showCodes(ctx, recovery_codes)
  },
})

export const addKeyForm = actForm({
  address: '/-/user_settings/two_factor/keys',
  summary: 'Add a passkey or security key of the caller',
  fresh: true,
  page: twoFactorPage,
  whileDue: true,
  async act({ ctx, fields }) {
    ctx.request.countAgainst(PROOF_TRIES, callerId(ctx))
    const name = typeof fields.name === 'string' ? fields.name.trim().slice(0, 100) : ''
    const given = { answer: fields.key, name: name || 'Key', browser: formTokenOf(ctx) }
    const codes = await addKey(ctx, callerId(ctx), given)
    await endOtherSessions(ctx)
    return await showCodes(ctx, codes)
  },
})

export const removeKeyForm = form({
  address: '/-/user_settings/two_factor/keys/:key_id/remove',
  summary: 'Remove a passkey or security key of the caller',
  endpoint: removeOwnKey,
  page: twoFactorPage,
  input: ({ path, fields }) => ({
    path,
    body: { current_password: fields[`key_${path.key_id}_password`] },
  }),
  goTo: () => ADDRESS,
  flash: 'The key was removed.',
})

/** Password and code of one of the forms. */
const proven = ({ fields }: Sent<string>, name: 'codes' | 'off') => ({
  path: {},
  body: { current_password: fields[`${name}_password`], code: fields[`${name}_code`] },
})

export const recoveryCodesForm = actForm({
  address: '/-/user_settings/two_factor/recovery_codes',
  summary: 'Make new recovery codes of the caller',
  page: twoFactorPage,
  async act(sent) {
    const { recovery_codes } = await call(makeOwnRecoveryCodes, sent.ctx, proven(sent, 'codes'))
    return await showCodes(sent.ctx, recovery_codes)
  },
})

export const turnOffForm = form({
  address: '/-/user_settings/two_factor/disable',
  summary: 'Turn the second factor of the caller off',
  endpoint: turnOwnTwoFactorOff,
  page: twoFactorPage,
  input: (sent) => proven(sent, 'off'),
  goTo: () => ADDRESS,
  flash: 'The second factor was turned off.',
})
