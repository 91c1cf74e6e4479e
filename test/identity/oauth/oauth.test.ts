import { createHash, createPublicKey, verify } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { Browser, type Shown } from '../../support/browser.ts'
import { createProject } from '../../support/create.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const CALLBACK = 'https://app.example/done'
const NOW = '2026-05-04T10:00:00.000Z'
const world = useWorld()
const ana = useCaller(world, 'ana')
let browser: Browser
let app: Client
let publicApp: Client

interface Client {
  readonly id: number
  readonly uid: string
  readonly secret: string
}

async function register(more: Record<string, unknown> = {}): Promise<Client> {
  const { body } = await world.root.post('/applications', {
    name: 'App',
    redirect_uri: CALLBACK,
    scopes: 'api read_user openid profile email',
    ...more,
  })
  return { id: body.id, uid: body.application_id, secret: body.secret }
}

beforeAll(async () => {
  await givePassword(world, ana.id)
  browser = new Browser(world.url)
  await browser.signIn('ana', PASSWORD)
  app = await register()
  publicApp = await register({
    redirect_uri: 'http://127.0.0.1:7171/auth/redirect vscode://app/auth',
    confidential: false,
  })
})

const ask = (path: string, fields: Record<string, string>, headers = {}): Promise<Reply> =>
  world.nobody.post(path, undefined, { host: true, raw: new URLSearchParams(fields), headers })

const client = (one: Client) => ({ client_id: one.uid, client_secret: one.secret })

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })
const user = (token: string) => world.nobody.get('/user', bearer(token))

function authorizePath(one: Client, more: Record<string, string> = {}): string {
  return `/oauth/authorize?${new URLSearchParams({
    client_id: one.uid,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'read_user openid',
    state: 'x y&z',
    ...more,
  })}`
}

async function consent(path: string, decision = 'allow'): Promise<Shown> {
  const page = await browser.get(path)
  expect(page.status).toBe(200)
  return browser.submit(page, '/oauth/authorize', { decision })
}

const answerOf = (shown: Shown) => new URL(shown.location ?? '').searchParams

async function code(more: Record<string, string> = {}, one = app): Promise<string> {
  return answerOf(await consent(authorizePath(one, more))).get('code') ?? ''
}

const exchange = (value: string, more: Record<string, string> = {}) =>
  ask('/oauth/token', {
    grant_type: 'authorization_code',
    code: value,
    redirect_uri: CALLBACK,
    ...client(app),
    ...more,
  })

test('a user lets an application have a code, and it gets tokens for it', async () => {
  const shown = await consent(authorizePath(app, { nonce: 'n-1' }))
  const answer = answerOf(shown)
  expect([shown.status, answer.get('state')]).toEqual([302, 'x y&z'])
  expect(shown.location?.startsWith(`${CALLBACK}?`)).toBe(true)
  const reply = await exchange(answer.get('code') ?? '')
  expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(reply.body).toMatchObject({
    token_type: 'Bearer',
    expires_in: 7200,
    scope: 'read_user openid',
    created_at: Date.parse(NOW) / 1000,
  })
  expect((await user(reply.body.access_token)).body.username).toBe('ana')
  // The scope counts, as with any token.
  expect((await world.nobody.get('/projects', bearer(reply.body.access_token))).status).toBe(403)
})

test('the identity token is signed by a published key and says who it is for', async () => {
  const { body } = await exchange(await code({ nonce: 'n-2', scope: 'openid email' }))
  const [head = '', claims = '', signature = ''] = body.id_token.split('.')
  const keys = await world.nobody.get('/oauth/discovery/keys', { host: true })
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
  const jwk = keys.body.keys.find((key: { kid: string }) => key.kid === kid)
  expect(Object.keys(jwk)).not.toContain('d')
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const signed = Buffer.from(`${head}.${claims}`)
  expect(verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))).toBe(true)
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    iss: world.app.config.externalUrl,
    aud: app.uid,
    nonce: 'n-2',
    sub: String(ana.id),
    preferred_username: 'ana',
    email: 'ana@example.com',
  })
  const info = await world.nobody.get('/oauth/userinfo', {
    host: true,
    ...bearer(body.access_token),
  })
  expect(info.body).toMatchObject({ sub: String(ana.id), email: 'ana@example.com' })
  const posted = await ask('/oauth/userinfo', { access_token: body.access_token })
  expect([posted.status, posted.body]).toEqual([200, info.body])
  expect((await ask('/oauth/userinfo', { access_token: 'none' })).status).toBe(401)
})

test('a code serves once; when it comes again, nobody keeps what came of it', async () => {
  const value = await code()
  const { body } = await exchange(value)
  const again = await exchange(value)
  expect([again.status, again.body.error]).toEqual([400, 'invalid_grant'])
  expect((await user(body.access_token)).status).toBe(401)
})

test('a code is bound to its client, its address and its time', async () => {
  const other = await register()
  const value = await code()
  expect((await exchange(value, client(other))).body.error).toBe('invalid_grant')
  expect((await exchange(value, { redirect_uri: `${CALLBACK}/2` })).body.error).toBe(
    'invalid_grant',
  )
  expect((await exchange(value, { client_secret: 'wrong' })).status).toBe(401)
  world.setNow('2026-05-04T10:10:00.000Z')
  expect((await exchange(value)).body.error).toBe('invalid_grant')
  world.setNow(NOW)
})

test('a public application proves a code by its verifier, at any port of the loopback address', async () => {
  const verifier = 'v'.repeat(64)
  const redirect_uri = 'http://127.0.0.1:50123/auth/redirect'
  const more = {
    redirect_uri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  const value = await code(more, publicApp)
  const fields = { grant_type: 'authorization_code', code: value, redirect_uri }
  const send = (code_verifier: string) =>
    ask('/oauth/token', { ...fields, client_id: publicApp.uid, code_verifier })
  expect((await send('w'.repeat(64))).body.error).toBe('invalid_grant')
  const { status, body } = await send(verifier)
  expect([status, body.scope]).toEqual([200, 'read_user openid'])
  const plain = await browser.get(authorizePath(publicApp, { redirect_uri }))
  expect(answerOf(plain).get('error')).toBe('invalid_request')
  const custom = await browser.get(
    authorizePath(publicApp, { ...more, redirect_uri: 'vscode://app/auth' }),
  )
  expect(custom.headers.get('content-security-policy')).toContain("form-action 'self' vscode:")
})

test('no address that is not registered is ever answered', async () => {
  for (const redirect_uri of ['https://evil.example/', `${CALLBACK}.evil.example`]) {
    const page = await browser.get(authorizePath(app, { redirect_uri }))
    expect([page.status, page.location]).toEqual([400, null])
  }
  const unknown = await browser.get(authorizePath({ ...app, uid: 'nothing' }))
  expect([unknown.status, unknown.location]).toEqual([400, null])
})

test('a refusal, and a request that cannot be met, are sent to the application', async () => {
  const denied = answerOf(await consent(authorizePath(app), 'deny'))
  expect([denied.get('error'), denied.get('state')]).toEqual(['access_denied', 'x y&z'])
  const scope = answerOf(await browser.get(authorizePath(app, { scope: 'sudo' })))
  expect(scope.get('error')).toBe('invalid_scope')
  const type = answerOf(await browser.get(authorizePath(app, { response_type: 'token' })))
  expect(type.get('error')).toBe('unsupported_response_type')
})

test('whoever is not signed in is asked to, and comes back', async () => {
  const fresh = new Browser(world.url)
  const path = authorizePath(app)
  const sent = await fresh.get(path)
  const form = await fresh.get(sent.location ?? '')
  const done = await fresh.submit(form, '/users/sign_in', {
    'user[login]': 'ana',
    'user[password]': PASSWORD,
  })
  const page = await fresh.get(done.location ?? '')
  expect(page.text).toContain('Authorize App?')
})

test('a consent that was not given on our page counts for nothing', async () => {
  const page = await browser.get(authorizePath(app))
  const forged = await browser.submit(page, '/oauth/authorize', {
    decision: 'allow',
    authenticity_token: 'forged',
  })
  expect([forged.status, forged.location]).toEqual([422, null])
  expect(forged.text).toContain('Authorize App?')
})

test('a name of an application is text, whatever it holds', async () => {
  const odd = await register({ name: '<script>alert(1)</script>"' })
  const page = await browser.get(authorizePath(odd))
  expect(page.text).not.toContain('<script>')
  expect(page.text).toContain('&lt;script>alert(1)&lt;/script>')
})

test('a refresh token serves once, and its second use ends the family', async () => {
  const first = (await exchange(await code())).body
  const refresh = (refresh_token: string) =>
    ask('/oauth/token', { grant_type: 'refresh_token', refresh_token, ...client(app) })
  const second = await refresh(first.refresh_token)
  expect(second.status).toBe(200)
  expect((await user(first.access_token)).status).toBe(401)
  expect((await user(second.body.access_token)).status).toBe(200)
  expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant')
  expect((await user(second.body.access_token)).status).toBe(401)
})

test('two uses of a refresh token at once give one token', async () => {
  const made = (await exchange(await code())).body
  const fields = { grant_type: 'refresh_token', refresh_token: made.refresh_token, ...client(app) }
  const replies = await Promise.all([ask('/oauth/token', fields), ask('/oauth/token', fields)])
  expect(replies.map((reply) => reply.status).sort()).toEqual([200, 400])
})

test('a password gives a token, without any client too', async () => {
  const fields = { grant_type: 'password', username: 'ana', password: PASSWORD }
  // Stock libraries send an empty pair when they have no client.
  const reply = await ask('/oauth/token', fields, { Authorization: 'Basic Og==' })
  expect([reply.status, reply.body.scope]).toEqual([200, 'api'])
  expect((await user(reply.body.access_token)).body.id).toBe(ana.id)
  const wrong = await ask('/oauth/token', { ...fields, password: 'no' })
  expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_grant'])
  const renew = (refresh_token: string) =>
    ask('/oauth/token', { grant_type: 'refresh_token', refresh_token })
  const other = await ask('/oauth/token', fields)
  const renewed = await renew(reply.body.refresh_token)
  expect(renewed.status).toBe(200)
  const newest = await renew(renewed.body.refresh_token)
  expect((await user(newest.body.access_token)).status).toBe(200)
  // Somebody else has the first one: nobody keeps what came of it, and other sign-ins stay.
  expect((await renew(reply.body.refresh_token)).body.error).toBe('invalid_grant')
  expect((await user(newest.body.access_token)).status).toBe(401)
  expect((await renew(newest.body.refresh_token)).body.error).toBe('invalid_grant')
  expect((await user(other.body.access_token)).status).toBe(200)
})

test('a token opens git as the password, and expires after two hours', async () => {
  await createProject(ana, 'closed')
  const { body } = await ask('/oauth/token', {
    grant_type: 'password',
    username: 'ana',
    password: PASSWORD,
  })
  const basic = Buffer.from(`oauth2:${body.access_token}`).toString('base64')
  const pull = () =>
    world.nobody.get('/ana/closed.git/info/refs?service=git-upload-pack', {
      host: true,
      headers: { Authorization: `Basic ${basic}` },
    })
  expect((await pull()).status).toBe(200)
  world.setNow('2026-05-04T12:00:00.000Z')
  expect((await pull()).status).toBe(401)
  const expired = await user(body.access_token)
  expect([expired.status, expired.body.error]).toEqual([401, 'invalid_token'])
  world.setNow(NOW)
})

test('a client may act for itself, but is no user', async () => {
  const reply = await ask('/oauth/token', { grant_type: 'client_credentials', ...client(app) })
  expect([reply.status, reply.body.refresh_token]).toEqual([200, undefined])
  expect((await user(reply.body.access_token)).status).toBe(401)
  const info = await world.nobody.get('/oauth/token/info', {
    host: true,
    ...bearer(reply.body.access_token),
  })
  expect(info.body).toMatchObject({ resource_owner_id: null, application: { uid: app.uid } })
  const open = await ask('/oauth/token', {
    grant_type: 'client_credentials',
    client_id: publicApp.uid,
  })
  expect(open.body.error).toBe('unauthorized_client')
})

test.each([
  [{}, 400, 'invalid_request'],
  [{ grant_type: 'magic' }, 400, 'unsupported_grant_type'],
  [{ grant_type: 'authorization_code', code: 'x' }, 401, 'invalid_client'],
  [{ grant_type: 'password', client_id: 'x', client_secret: 'y' }, 401, 'invalid_client'],
  [{ grant_type: 'refresh_token', refresh_token: 'x' }, 400, 'invalid_grant'],
])('the token endpoint refuses %j', async (fields, status, error) => {
  const reply = await ask('/oauth/token', fields as Record<string, string>)
  expect([reply.status, reply.body.error]).toEqual([status, error])
})

test('a client learns of its own tokens only, and takes them back', async () => {
  const { access_token: token } = (await exchange(await code())).body
  const other = await register()
  const look = (one: Client) => ask('/oauth/introspect', { token, ...client(one) })
  expect((await look(app)).body).toMatchObject({
    active: true,
    scope: 'read_user openid',
    username: 'ana',
  })
  expect((await look(other)).body).toEqual({ active: false })
  expect((await ask('/oauth/introspect', { token })).status).toBe(401)
  expect((await ask('/oauth/revoke', { token, ...client(other) })).status).toBe(403)
  expect((await user(token)).status).toBe(200)
  expect((await ask('/oauth/revoke', { token, ...client(app) })).body).toEqual({})
  expect((await user(token)).body.error).toBe('invalid_token')
  expect((await ask('/oauth/revoke', { token: 'unknown' })).status).toBe(200)
})

test('a device signs in by a code that its user types', async () => {
  const begun = await ask('/oauth/authorize_device', { ...client(app), scope: 'api' })
  expect(begun.body).toMatchObject({ expires_in: 300, interval: 5 })
  const poll = () =>
    ask('/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: begun.body.device_code,
      ...client(app),
    })
  expect((await poll()).body.error).toBe('authorization_pending')
  expect((await poll()).body.error).toBe('slow_down')
  const typed = begun.body.user_code.toLowerCase()
  const form = await browser.get('/oauth/device')
  const asked = await browser.submit(form, '/oauth/device', { user_code: typed })
  expect(asked.text).toContain('Connect App?')
  await browser.submit(asked, '/oauth/device', { decision: 'allow' })
  const done = await poll()
  expect([done.status, done.body.scope]).toEqual([200, 'api'])
  expect((await user(done.body.access_token)).body.username).toBe('ana')
  expect((await poll()).body.error).toBe('invalid_grant')
})

test('a device that its user refuses gets nothing', async () => {
  const begun = await ask('/oauth/authorize_device', { ...client(app), scope: 'api' })
  const form = await browser.get(`/oauth/device?user_code=${begun.body.user_code}`)
  const asked = await browser.submit(form, '/oauth/device', { user_code: begun.body.user_code })
  await browser.submit(asked, '/oauth/device', { decision: 'deny' })
  const reply = await ask('/oauth/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: begun.body.device_code,
    ...client(app),
  })
  expect(reply.body.error).toBe('access_denied')
})

test('administrators register applications; secrets are shown once and can be renewed', async () => {
  expect((await ana.get('/applications')).status).toBe(403)
  const path = `/applications/${app.id}`
  const listed = (await world.root.get('/applications')).body.find(
    (one: { id: number }) => one.id === app.id,
  )
  expect(listed).toEqual({
    id: app.id,
    application_id: app.uid,
    application_name: 'App',
    callback_url: CALLBACK,
    confidential: true,
    scopes: ['api', 'read_user', 'openid', 'profile', 'email'],
  })
  const one = await register()
  const renewed = await world.root.post(`/applications/${one.id}/renew-secret`)
  expect([renewed.status, renewed.body.secret === one.secret]).toEqual([201, false])
  const fields = { grant_type: 'client_credentials', ...client(one) }
  expect((await ask('/oauth/token', fields)).status).toBe(401)
  const fresh = { ...fields, client_secret: renewed.body.secret }
  const { body } = await ask('/oauth/token', fresh)
  expect((await world.root.delete(`/applications/${one.id}`)).status).toBe(204)
  const info = { host: true, ...bearer(body.access_token) }
  expect((await world.nobody.get('/oauth/token/info', info)).status).toBe(401)
  expect((await world.root.delete(`${path}00`)).status).toBe(404)
})

test.each([
  [{ redirect_uri: 'javascript:alert(1)' }, { redirect_uri: ['is forbidden by the server.'] }],
  [{ redirect_uri: 'nothing' }, { redirect_uri: ['must be an absolute URI.'] }],
  [{ redirect_uri: 'https://a.example/#x' }, { redirect_uri: ['cannot contain a fragment.'] }],
  [{ scopes: 'magic' }, { scopes: ["doesn't match configured on the server."] }],
  [{ name: ' ' }, { name: ["can't be blank"] }],
])('an application with %j is refused', async (more, message) => {
  const body = { name: 'App', redirect_uri: CALLBACK, scopes: 'api', ...more }
  const reply = await world.root.post('/applications', body)
  expect([reply.status, reply.body]).toEqual([400, { message }])
})

test('discovery names places that answer', async () => {
  const { body } = await world.nobody.get('/.well-known/openid-configuration', { host: true })
  expect(body.issuer).toBe(world.app.config.externalUrl)
  const other = await world.nobody.get('/.well-known/oauth-authorization-server', { host: true })
  expect(other.body).toEqual(body)
  expect(body.grant_types_supported).toContain('authorization_code')
})

test('expired codes, devices and sessions are removed every night, living tokens are not', async () => {
  const { body } = await exchange(await code())
  await ask('/oauth/authorize_device', { ...client(app), scope: 'api' })
  world.setNow('2026-06-20T10:00:00.000Z')
  await world.runTasks()
  const count = async (table: 'oauth_devices' | 'sessions') =>
    (await world.ctx.db.selectFrom(table).select('id').execute()).length
  expect([await count('oauth_devices'), await count('sessions')]).toEqual([0, 0])
  const refreshed = await ask('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: body.refresh_token,
    ...client(app),
  })
  expect(refreshed.status).toBe(200)
})
