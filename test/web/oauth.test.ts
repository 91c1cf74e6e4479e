import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPassword } from '../../src/access/password.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

let world: World
let ana: Caller
const password = 'right-Password-1'
beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  const password_hash = await hashPassword(password)
  await world.ctx.db.updateTable('users').set({ password_hash }).where('id', '=', ana.id).execute()
})
afterAll(() => world.close())

const redirect = 'http://localhost:7171/auth/redirect'

async function application(more: object = {}) {
  const reply = await world.root.post('/applications', {
    name: 'Tool',
    redirect_uri: `${redirect}\nvscode://tool/callback`,
    scopes: 'api read_user openid profile',
    ...more,
  })
  expect(reply.status).toBe(201)
  return reply.body as { id: number; application_id: string; secret: string }
}

async function send(
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${world.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
    redirect: 'manual',
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : {},
  }
}
const token = (form: Record<string, string>, headers?: Record<string, string>) =>
  send('/oauth/token', form, headers)
const bearer = (secret: string) =>
  world.nobody.get('/user', { headers: { Authorization: `Bearer ${secret}` } })

describe('the password grant', () => {
  test('gives a token of two hours that refreshes once', async () => {
    const reply = await token({ grant_type: 'password', username: 'ana', password })
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
        token_type: 'Bearer',
        expires_in: 7200,
        refresh_token: expect.any(String),
        scope: 'api',
        created_at: Math.floor(Date.parse(world.ctx.now()) / 1000),
      },
    ])
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect((await bearer(reply.body.access_token)).body.id).toBe(ana.id)
    const refresh = { grant_type: 'refresh_token', refresh_token: reply.body.refresh_token }
    const next = await token(refresh)
    expect(next.status).toBe(200)
    expect((await bearer(reply.body.access_token)).status).toBe(401)
    expect((await bearer(next.body.access_token)).status).toBe(200)
    expect((await token(refresh)).body.error).toBe('invalid_grant')
    const stored = JSON.stringify(
      await world.ctx.db.selectFrom('oauth_tokens').selectAll().execute(),
    )
    expect(stored).not.toContain(next.body.access_token)
  })
  test('answers in the words of the standard', async () => {
    const wrong = await token({ grant_type: 'password', username: 'ana', password: 'x' })
    expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_grant'])
    expect((await token({ grant_type: 'magic' })).body.error).toBe('unsupported_grant_type')
    expect((await token({})).body.error).toBe('invalid_request')
    const sudo = await token({ grant_type: 'password', username: 'ana', password, scope: 'sudo' })
    expect(sudo.body.error).toBe('invalid_scope')
    const client = await token({
      grant_type: 'client_credentials',
      client_id: 'x',
      client_secret: 'y',
    })
    expect([client.status, client.body.error]).toEqual([401, 'invalid_client'])
  })
})

describe('consent', () => {
  const query = (client: string, more: Record<string, string> = {}) =>
    new URLSearchParams({
      client_id: client,
      redirect_uri: redirect,
      response_type: 'code',
      state: 'a&b',
      scope: 'api',
      ...more,
    }).toString()
  const agree = (client: string, more: Record<string, string> = {}) =>
    send('/oauth/authorize', {
      ...Object.fromEntries(new URLSearchParams(query(client))),
      username: 'ana',
      password,
      decision: 'allow',
      ...more,
    })

  test('leads back with a code that is good once, with the verifier only', async () => {
    const app = await application({ confidential: false })
    const verifier = 'v'.repeat(50)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const page = await fetch(`${world.url}/oauth/authorize?${query(app.application_id, pkce)}`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(await page.text()).toContain('Let Tool use your account?')
    const back = await agree(app.application_id, pkce)
    expect(back.status).toBe(302)
    const target = new URL(back.headers.get('location') ?? '')
    expect([target.origin, target.searchParams.get('state')]).toEqual([
      'http://localhost:7171',
      'a&b',
    ])
    const exchange = (more: Record<string, string>) =>
      token({
        grant_type: 'authorization_code',
        client_id: app.application_id,
        redirect_uri: redirect,
        code: target.searchParams.get('code') ?? '',
        ...more,
      })
    const good = await exchange({ code_verifier: verifier })
    expect([good.status, good.body.scope]).toEqual([200, 'api'])
    expect((await bearer(good.body.access_token)).status).toBe(200)
    // Somebody shows the same code again: what it gave is taken back.
    expect((await exchange({ code_verifier: verifier })).body.error).toBe('invalid_grant')
    expect((await bearer(good.body.access_token)).status).toBe(401)
  })
  test('a stolen code is worth nothing without the verifier', async () => {
    const app = await application({ confidential: false })
    const pkce = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' }
    const back = await agree(app.application_id, pkce)
    const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
    for (const verifier of ['', 'c'.repeat(43)]) {
      const reply = await token({
        grant_type: 'authorization_code',
        client_id: app.application_id,
        redirect_uri: redirect,
        code,
        code_verifier: verifier,
      })
      expect(reply.body.error).toBe('invalid_grant')
    }
  })
  test('never leads to an address that was not registered', async () => {
    const app = await application()
    for (const redirect_uri of [
      'http://evil.example/',
      `${redirect}/x`,
      'javascript:alert(1)',
      '',
    ]) {
      const reply = await agree(app.application_id, { redirect_uri })
      expect([reply.status, reply.headers.get('location')]).toEqual([400, null])
    }
    expect((await agree('nobody')).status).toBe(400)
    const publicApp = await application({ confidential: false })
    expect((await agree(publicApp.application_id)).status).toBe(400)
  })
  test('asks again after a wrong password, and takes a no', async () => {
    const app = await application()
    const wrong = await agree(app.application_id, { password: 'nope', state: '"><script>' })
    expect(wrong.status).toBe(401)
    expect(wrong.text).not.toContain('<script>')
    const no = await agree(app.application_id, { decision: 'deny' })
    expect(new URL(no.headers.get('location') ?? '').searchParams.get('error')).toBe(
      'access_denied',
    )
  })
})

test('a device asks until its user has typed the code', async () => {
  const app = await application({ confidential: false })
  const client = { client_id: app.application_id }
  const begun = (await send('/oauth/authorize_device', { ...client, scope: 'read_user' })).body
  expect(begun).toMatchObject({
    expires_in: 300,
    interval: 5,
    user_code: expect.stringMatching(/^[A-Z]{8}$/),
  })
  const poll = () =>
    token({
      ...client,
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: begun.device_code,
    })
  expect((await poll()).body.error).toBe('authorization_pending')
  expect((await poll()).body.error).toBe('slow_down')
  const lower = begun.user_code.toLowerCase()
  const typed = await send('/oauth/device', { user_code: lower, username: 'ana', password })
  expect(typed.status).toBe(200)
  const got = await poll()
  expect([got.status, got.body.scope]).toEqual([200, 'read_user'])
  expect((await poll()).body.error).toBe('invalid_grant')
})

test('an application signs in as itself, asks about its tokens and gives them back', async () => {
  const app = await application()
  const basic = {
    Authorization: `Basic ${Buffer.from(`${app.application_id}:${app.secret}`).toString('base64')}`,
  }
  const own = await token({ grant_type: 'client_credentials' }, basic)
  expect(own.status).toBe(200)
  expect(own.body).not.toHaveProperty('refresh_token')
  expect((await bearer(own.body.access_token)).status).toBe(401)
  const user = await token({ grant_type: 'password', username: 'ana', password }, basic)
  const info = await fetch(`${world.url}/oauth/token/info?access_token=${user.body.access_token}`)
  expect(await info.json()).toMatchObject({
    resource_owner_id: ana.id,
    application: { uid: app.application_id },
    expires_in: 7200,
  })
  const look = () => send('/oauth/introspect', { token: user.body.access_token }, basic)
  expect((await look()).body).toMatchObject({ active: true, client_id: app.application_id })
  const about = await fetch(`${world.url}/oauth/userinfo`, {
    headers: { Authorization: `Bearer ${user.body.access_token}` },
  })
  expect(await about.json()).toMatchObject({ sub: String(ana.id), nickname: 'ana' })
  expect((await send('/oauth/revoke', { token: user.body.access_token })).status).toBe(401)
  expect((await send('/oauth/revoke', { token: user.body.access_token }, basic)).status).toBe(200)
  expect((await look()).body).toEqual({ active: false })
  expect((await fetch(`${world.url}/oauth/token/info`)).status).toBe(401)
})

test('administrators register, renew and remove applications', async () => {
  const app = await application()
  expect((await ana.get('/applications')).status).toBe(403)
  const listed = (await world.root.get('/applications?per_page=100')).body
  expect(JSON.stringify(listed)).not.toContain(app.secret)
  const bad = await world.root.post('/applications', {
    name: 'x',
    redirect_uri: 'javascript:1',
    scopes: 'api',
  })
  expect(bad.body).toEqual({ message: { redirect_uri: ['must be an absolute URI.'] } })
  const renewed = await world.root.post(`/applications/${app.id}/renew-secret`)
  const client = (client_secret: string) =>
    token({ grant_type: 'client_credentials', client_id: app.application_id, client_secret })
  expect((await client(app.secret)).status).toBe(401)
  expect((await client(renewed.body.secret)).status).toBe(200)
  expect((await world.root.delete(`/applications/${app.id}`)).status).toBe(204)
  expect((await client(renewed.body.secret)).status).toBe(401)
})
