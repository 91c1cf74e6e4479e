import { beforeAll, expect, test } from 'vitest'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { type Caller, type Reply, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  await givePassword(world, ana.id)
})

const input = { name: 'App', redirect_uri: 'https://app.example/back', scopes: 'api read_user' }

async function register(more: Record<string, unknown> = {}) {
  const made = await root.post('/applications', { ...input, ...more })
  expect([made.status, made.body.message]).toEqual([201, undefined])
  return made.body
}

const ask = (path: string, fields: Record<string, string>): Promise<Reply> =>
  world.nobody.post(path, undefined, { host: true, raw: new URLSearchParams(fields) })

const clientOf = (app: { application_id: string; secret: string }) => ({
  client_id: app.application_id,
  client_secret: app.secret,
})

const signIn = (app: { application_id: string; secret: string }, scope = 'api') =>
  ask('/oauth/token', {
    grant_type: 'password',
    username: 'ana',
    password: PASSWORD,
    scope,
    ...clientOf(app),
  })

const userOf = (token: string) =>
  world.nobody.get('/user', { headers: { Authorization: `Bearer ${token}` } })

test('an application is confidential unless it says otherwise, and its secret is shown once', async () => {
  const { secret, ...shown } = await register()
  expect(shown).toEqual({
    id: expect.any(Number),
    application_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    application_name: 'App',
    callback_url: 'https://app.example/back',
    confidential: true,
    scopes: ['api', 'read_user'],
  })
  expect(secret).toMatch(/^svcoas-/)
  expect((await root.get('/applications')).body).toContainEqual(shown)
  expect((await register({ confidential: false })).confidential).toBe(false)
})

test.each([
  [{ name: ' ' }, { name: ["can't be blank"] }],
  [{ redirect_uri: '' }, { redirect_uri: ["can't be blank"] }],
  [{ redirect_uri: '/back' }, { redirect_uri: ['must be an absolute URI.'] }],
  [{ redirect_uri: 'javascript:alert(1)' }, { redirect_uri: ['is forbidden by the server.'] }],
  [{ redirect_uri: 'https://a.example/#x' }, { redirect_uri: ['cannot contain a fragment.'] }],
  [{ scopes: '' }, { scopes: ["can't be blank"] }],
  [{ scopes: 'api everything' }, { scopes: ["doesn't match configured on the server."] }],
])('one with %j is refused', async (wrong, message) => {
  const before = (await root.get('/applications')).headers.get('x-total')
  const reply = await root.post('/applications', { ...input, ...wrong })
  expect([reply.status, reply.body]).toEqual([400, { message }])
  expect((await root.get('/applications')).headers.get('x-total')).toBe(before)
})

test('all missing fields are named in one answer', async () => {
  expect((await root.post('/applications', {})).body).toEqual({
    error: 'name is missing, redirect_uri is missing, scopes is missing',
  })
})

test('several addresses are kept, one on each line', async () => {
  const made = await register({ redirect_uri: 'https://a.example/x\r\nhttps://b.example/y' })
  expect(made.callback_url).toBe('https://a.example/x\nhttps://b.example/y')
})

test('its users’ tokens end with it', async () => {
  const app = await register()
  const { body } = await signIn(app)
  expect((await userOf(body.access_token)).status).toBe(200)
  expect((await root.delete(`/applications/${app.id}`)).status).toBe(204)
  expect((await userOf(body.access_token)).status).toBe(401)
  const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
  const refused = await ask('/oauth/token', { ...refresh, ...clientOf(app) })
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
  expect((await root.delete(`/applications/${app.id}`)).status).toBe(404)
})

test('a new secret ends the old one, but no token', async () => {
  const app = await register()
  const { body } = await signIn(app)
  const renewed = await root.post(`/applications/${app.id}/renew-secret`)
  expect(renewed.body).toEqual({ ...app, secret: expect.stringMatching(/^svcoas-/) })
  expect(renewed.body.secret).not.toBe(app.secret)
  expect((await signIn(app)).body.error).toBe('invalid_client')
  expect((await signIn(renewed.body)).status).toBe(200)
  expect((await userOf(body.access_token)).status).toBe(200)
  expect((await root.post('/applications/999999/renew-secret')).status).toBe(404)
})

test('a token reaches no further than what was asked for and the application may have', async () => {
  const app = await register({ scopes: 'read_user read_api' })
  expect((await signIn(app, 'api')).body.error).toBe('invalid_scope')
  expect((await signIn(app, 'read_user nothing')).body.error).toBe('invalid_scope')
  const { body } = await signIn(app, 'read_user')
  expect(body.scope).toBe('read_user')
  const headers = { Authorization: `Bearer ${body.access_token}` }
  expect((await world.nobody.get('/user', { headers })).body.id).toBe(ana.id)
  expect((await world.nobody.get('/projects', { headers })).status).toBe(403)
})

test('a token is of no use to another application', async () => {
  const [one, other] = [await register(), await register()]
  const { body } = await signIn(one)
  const stolen = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
  const refused = await ask('/oauth/token', { ...stolen, ...clientOf(other) })
  expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant'])
  const looked = await ask('/oauth/introspect', { token: body.access_token, ...clientOf(other) })
  expect(looked.body).toEqual({ active: false })
  const revoked = await ask('/oauth/revoke', { token: body.access_token, ...clientOf(other) })
  expect(revoked.status).toBe(403)
  expect((await userOf(body.access_token)).status).toBe(200)
})

test('a token that was taken back opens nothing, and takes its refresh token along', async () => {
  const app = await register()
  const { body } = await signIn(app)
  const revoked = await ask('/oauth/revoke', { token: body.refresh_token, ...clientOf(app) })
  expect([revoked.status, revoked.body]).toEqual([200, {}])
  expect((await userOf(body.access_token)).status).toBe(401)
  const looked = await ask('/oauth/introspect', { token: body.access_token, ...clientOf(app) })
  expect(looked.body).toEqual({ active: false })
  const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
  expect((await ask('/oauth/token', { ...refresh, ...clientOf(app) })).body.error).toBe(
    'invalid_grant',
  )
})

test('applications are for administrators', async () => {
  expect((await ana.get('/applications')).status).toBe(403)
  expect((await ana.post('/applications', input)).status).toBe(403)
  expect((await world.nobody.get('/applications')).status).toBe(401)
})
