import { done, examples, owner, type Spot } from '../contract/example.ts'
import { exampleKey } from '../contract/records.ts'
import { ed25519 } from '../support/keys.ts'

const token = { name: 'new', scopes: ['api'] }

function target({ stage }: Spot) {
  return { id: String(stage.target.id), user_id: String(stage.target.id) }
}

/** The target's, made by the administrator just before. */
function ofTarget(path: string, body: unknown, name: string) {
  return async (spot: Spot) => {
    const record = await done(
      spot.stage.world.root,
      'POST',
      `/users/${spot.stage.target.id}${path}`,
      body,
    )
    return { ...target(spot), [name]: String(record.id) }
  }
}

function made(path: string, body: () => unknown, name: string) {
  return async (spot: Spot) => {
    const record = await done(owner(spot), 'POST', path, body())
    return { [name]: String(record.id) }
  }
}

async function inState(spot: Spot, ...states: readonly string[]) {
  for (const state of states)
    await done(spot.stage.world.root, 'POST', `/users/${spot.stage.target.id}/${state}`)
  return target(spot)
}

/** Somebody who signed up and waits for the administrator. */
async function waiting({ stage }: Spot) {
  await stage.world.ctx.db
    .updateTable('users')
    .set({ state: 'blocked_pending_approval' })
    .where('id', '=', stage.target.id)
    .execute()
  return { id: String(stage.target.id) }
}

async function application({ stage }: Spot) {
  const made = await done(stage.world.root, 'POST', '/applications', {
    name: 'app',
    redirect_uri: 'https://app.example/back',
    scopes: 'api',
  })
  return { id: String(made.id) }
}

const key = () => ({ title: 'key', key: ed25519() })

export const identityExamples = examples({
  ...Object.fromEntries(
    [
      'GET /users/:id',
      'DELETE /users/:id',
      'GET /users/:id/associations_count',
      'GET /users/:id/events',
      'GET /users/:id/followers',
      'GET /users/:id/following',
      'POST /users/:id/follow',
      'GET /users/:id/custom_attributes',
      'GET /users/:id/emails',
      'GET /users/:id/gpg_keys',
      'GET /users/:id/memberships',
      'GET /users/:user_id/contributed_projects',
      'GET /users/:user_id/impersonation_tokens',
      'GET /users/:user_id/keys',
      'GET /users/:user_id/project_deploy_keys',
      'GET /users/:user_id/projects',
      'GET /users/:user_id/starred_projects',
      'GET /users/:user_id/status',
      'POST /users/:id/block',
      'POST /users/:id/ban',
    ].map((name) => [name, { path: target, by: 'admin' }]),
  ),
  'PUT /users/:id': { path: target, by: 'admin', body: { bio: 'changed' } },
  'POST /users': {
    by: 'admin',
    body: {
      email: 'new@example.com',
      name: 'new',
      username: 'new',
      force_random_password: true,
    },
  },
  'POST /users/:id/unblock': { by: 'admin', prepare: (spot) => inState(spot, 'block') },
  'POST /users/:id/unban': { by: 'admin', prepare: (spot) => inState(spot, 'ban') },
  'POST /users/:id/activate': { by: 'admin', prepare: (spot) => inState(spot) },
  'POST /users/:id/deactivate': { by: 'admin', path: target },
  'POST /users/:id/unfollow': {
    async prepare(spot) {
      for (const caller of spot.stage.callers.values())
        if (caller.token) await caller.post(`/users/${spot.stage.target.id}/follow`)
      return target(spot)
    },
  },
  'PUT /users/:id/custom_attributes/:key': { by: 'admin', path: target, body: { value: 'x' } },
  'GET /users/:id/custom_attributes/:key': {
    by: 'admin',
    async prepare(spot) {
      const path = `/users/${spot.stage.target.id}/custom_attributes/word`
      await done(spot.stage.world.root, 'PUT', path, { value: 'x' })
      return target(spot)
    },
  },
  'DELETE /users/:id/custom_attributes/:key': {
    by: 'admin',
    async prepare(spot) {
      const path = `/users/${spot.stage.target.id}/custom_attributes/word`
      await done(spot.stage.world.root, 'PUT', path, { value: 'x' })
      return target(spot)
    },
  },
  'POST /users/:id/approve': { by: 'admin', prepare: waiting },
  'POST /users/:id/reject': { by: 'admin', prepare: waiting },
  'DELETE /users/:id/identities/:provider': {
    by: 'admin',
    async prepare(spot) {
      const identity = { provider: 'saml', extern_uid: 'somebody' }
      await done(spot.stage.world.root, 'PUT', `/users/${spot.stage.target.id}`, identity)
      return { ...target(spot), provider: 'saml' }
    },
  },
  ...Object.fromEntries(
    [
      'PATCH /users/:id/disable_two_factor',
      'POST /user/two_factor/app',
      'PUT /user/two_factor/app',
      'POST /user/two_factor/recovery_codes',
      'POST /user/two_factor/disable',
      'PUT /user/two_factor/keys/:key_id',
      'DELETE /user/two_factor/keys/:key_id',
    ].map((name) => [name, { elsewhere: 'wants passwords and codes: test/identity/two-factor' }]),
  ),
  'POST /users/:id/emails': { by: 'admin', path: target, body: { email: 'more@example.com' } },
  'GET /users/:id/emails/:email_id': {
    by: 'admin',
    prepare: ofTarget('/emails', { email: 'more@example.com' }, 'email_id'),
  },
  'DELETE /users/:id/emails/:email_id': {
    by: 'admin',
    prepare: ofTarget('/emails', { email: 'more@example.com' }, 'email_id'),
  },
  'POST /users/:user_id/keys': { by: 'admin', path: target, body: key },
  'GET /users/:id/keys/:key_id': { prepare: ofTarget('/keys', key(), 'key_id') },
  'DELETE /users/:id/keys/:key_id': { by: 'admin', prepare: ofTarget('/keys', key(), 'key_id') },
  'POST /users/:id/gpg_keys': { by: 'admin', path: target, body: { key: exampleKey.armored } },
  'GET /users/:id/gpg_keys/:key_id': {
    prepare: ofTarget('/gpg_keys', { key: exampleKey.armored }, 'key_id'),
  },
  'DELETE /users/:id/gpg_keys/:key_id': {
    by: 'admin',
    prepare: ofTarget('/gpg_keys', { key: exampleKey.armored }, 'key_id'),
  },
  'POST /users/:user_id/impersonation_tokens': { by: 'admin', path: target, body: token },
  'GET /users/:user_id/impersonation_tokens/:impersonation_token_id': {
    by: 'admin',
    prepare: ofTarget('/impersonation_tokens', token, 'impersonation_token_id'),
  },
  'DELETE /users/:user_id/impersonation_tokens/:impersonation_token_id': {
    by: 'admin',
    prepare: ofTarget('/impersonation_tokens', token, 'impersonation_token_id'),
  },
  'POST /users/:user_id/personal_access_tokens': { by: 'admin', path: target, body: token },
  'POST /user/personal_access_tokens': { body: { name: 'new', scopes: ['k8s_proxy'] } },
  'GET /personal_access_tokens/:id': {
    by: 'admin',
    prepare: ofTarget('/personal_access_tokens', token, 'id'),
  },
  'DELETE /personal_access_tokens/:id': {
    by: 'admin',
    prepare: ofTarget('/personal_access_tokens', token, 'id'),
  },
  'POST /personal_access_tokens/:id/rotate': {
    by: 'admin',
    prepare: ofTarget('/personal_access_tokens', token, 'id'),
  },
  'POST /user/emails': { body: { email: 'mine@example.com' } },
  'GET /user/emails/:email_id': {
    prepare: made('/user/emails', () => ({ email: 'mine@example.com' }), 'email_id'),
  },
  'DELETE /user/emails/:email_id': {
    prepare: made('/user/emails', () => ({ email: 'mine@example.com' }), 'email_id'),
  },
  'POST /user/keys': { body: key },
  'GET /user/keys/:key_id': { prepare: made('/user/keys', key, 'key_id') },
  'DELETE /user/keys/:key_id': { prepare: made('/user/keys', key, 'key_id') },
  'POST /user/gpg_keys': { body: { key: exampleKey.armored } },
  'GET /user/gpg_keys/:key_id': {
    prepare: made('/user/gpg_keys', () => ({ key: exampleKey.armored }), 'key_id'),
  },
  'DELETE /user/gpg_keys/:key_id': {
    prepare: made('/user/gpg_keys', () => ({ key: exampleKey.armored }), 'key_id'),
  },
  'PUT /user/status': { body: { message: 'away' } },
  'PATCH /user/status': { body: { message: 'away' } },
  'PUT /user/preferences': { body: { view_diffs_file_by_file: true } },
  'GET /keys/:id': { by: 'admin', prepare: ofTarget('/keys', key(), 'id') },
  'POST /service_accounts': { by: 'admin', body: {} },
  'PATCH /service_accounts/:id': {
    by: 'admin',
    body: { name: 'changed' },
    async prepare({ stage }) {
      const made = await done(stage.world.root, 'POST', '/service_accounts')
      return { id: String(made.id) }
    },
  },
  'DELETE /applications/:id': { by: 'admin', prepare: application },
  'POST /applications/:id/renew-secret': { by: 'admin', prepare: application },
  'DELETE /user/identities/:provider': {
    elsewhere: 'unlinks a provider: test/identity/providers',
  },
  'DELETE /user/sessions/:session_id': {
    elsewhere: 'ends the session of a browser: test/web/account',
  },
  'GET /keys': { elsewhere: 'looks a fingerprint up: test/identity/keys' },
  'PUT /user/avatar': { elsewhere: 'takes a picture: test/identity/users' },
  ...Object.fromEntries(
    [
      'POST /oauth/authorize_device',
      'POST /oauth/token',
      'POST /oauth/introspect',
      'GET /oauth/token/info',
      'GET /oauth/userinfo',
      'POST /oauth/userinfo',
    ].map((name) => [name, { elsewhere: 'signs in by itself: test/identity/oauth' }]),
  ),
  'POST /applications': {
    by: 'admin',
    body: { name: 'app', redirect_uri: 'https://app.example/back', scopes: 'api' },
  },
})
