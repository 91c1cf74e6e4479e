import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const CALLBACK = 'https://app.example/done'
const world = useWorld()
const ana = useCaller(world, 'ana')
let browser: Browser
let client: { readonly client_id: string; readonly client_secret: string }

beforeAll(async () => {
  await givePassword(world, ana.id)
  browser = new Browser(world.url)
  await browser.signIn('ana', PASSWORD)
  const { body } = await world.root.post('/applications', {
    name: 'App',
    redirect_uri: CALLBACK,
    scopes: 'api self_rotate openid email',
  })
  client = { client_id: body.application_id, client_secret: body.secret }
})

const ask = (path: string, fields: Record<string, string>) =>
  world.nobody.post(path, undefined, { host: true, raw: new URLSearchParams(fields) })

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

async function tokenWith(scope: string): Promise<string> {
  const fields = { grant_type: 'password', username: 'ana', password: PASSWORD, scope }
  const { status, body } = await ask('/oauth/token', { ...fields, ...client })
  expect(status).toBe(200)
  return body.access_token
}

/** The code of a consent; what the application asked for beside the usual goes along. */
async function code(more: Record<string, string> = {}): Promise<string> {
  const asked = { client_id: client.client_id, redirect_uri: CALLBACK, response_type: 'code' }
  const path = `/oauth/authorize?${new URLSearchParams({ ...asked, scope: 'api', ...more })}`
  const page = await browser.get(path)
  const shown = await browser.submit(page, '/oauth/authorize', { decision: 'allow' })
  return new URL(shown.location ?? '').searchParams.get('code') ?? ''
}

const exchange = (value: string, more: Record<string, string> = {}) =>
  ask('/oauth/token', {
    grant_type: 'authorization_code',
    code: value,
    redirect_uri: CALLBACK,
    ...client,
    ...more,
  })

test('an application that may rotate its own token rotates no access token of the same number', async () => {
  const [own] = (await ana.get('/personal_access_tokens')).body
  // Both kinds are counted from 1: one of these has the number of the user's access token.
  for (let number = 1; number <= own.id; number++) {
    const token = await tokenWith('self_rotate')
    const path = `/personal_access_tokens/${own.id}/rotate`
    expect((await world.nobody.post(path, {}, bearer(token))).status).toBe(403)
  }
  expect((await ana.get('/user')).status).toBe(200)
})

test('an application that may only know who somebody is reads nothing of theirs', async () => {
  await createProject(ana, 'closed')
  const token = await tokenWith('openid')
  const associations = '/personal_access_tokens/self/associations'
  expect((await world.nobody.get(associations, bearer(token))).status).toBe(400)
  expect((await world.nobody.get('/user', bearer(token))).status).toBe(403)
  const answer = await world.nobody.get('/oauth/userinfo', { host: true, ...bearer(token) })
  expect([answer.status, answer.body.preferred_username]).toEqual([200, 'ana'])
  expect(answer.body).not.toHaveProperty('email')
})

test('a code that was asked for without a challenge is not given to who brings a verifier', async () => {
  const verifier = randomBytes(32).toString('base64url')
  const value = await code()
  expect((await exchange(value, { code_verifier: verifier })).body.error).toBe('invalid_grant')
  expect((await exchange(value)).status).toBe(200)
  const proven = await code({ code_challenge: verifier, code_challenge_method: 'plain' })
  expect((await exchange(proven)).body.error).toBe('invalid_grant')
  expect((await exchange(proven, { code_verifier: verifier })).status).toBe(200)
})

test('an application is refused what its user may not do while blocked', async () => {
  const { access_token: token, refresh_token } = (await exchange(await code())).body
  const introspect = async () => (await ask('/oauth/introspect', { token, ...client })).body.active
  const info = async () =>
    (await world.nobody.get('/oauth/token/info', { host: true, ...bearer(token) })).status
  const waiting = await code()
  await world.root.post(`/users/${ana.id}/block`)
  expect([await introspect(), await info()]).toEqual([false, 401])
  expect((await exchange(waiting)).body.error).toBe('invalid_grant')
  const refresh = { grant_type: 'refresh_token', refresh_token, ...client }
  expect((await ask('/oauth/token', refresh)).body.error).toBe('invalid_grant')
  await world.root.post(`/users/${ana.id}/unblock`)
  expect([await introspect(), await info()]).toEqual([true, 200])
})

test('applications are shown the groups of which the user is a member today', async () => {
  const owner = await world.user('owner')
  for (const [path, expires_at] of [
    ['staff', null],
    ['guests', '2026-05-06'],
    ['gone', null],
  ] as const) {
    const group = await createGroup(owner, path)
    const member = { user_id: ana.id, access_level: 30, expires_at }
    expect((await owner.post(`/groups/${group.id}/members`, member)).status).toBe(201)
    if (path === 'gone') await owner.delete(`/groups/${group.id}`)
  }
  const groups = async () => {
    const token = await tokenWith('openid')
    return (await world.nobody.get('/oauth/userinfo', { host: true, ...bearer(token) })).body.groups
  }
  expect(await groups()).toEqual(['guests', 'staff'])
  world.setNow('2026-05-06T10:00:00.000Z')
  expect(await groups()).toEqual(['staff'])
  const associated = await ana.get('/personal_access_tokens/self/associations')
  expect(associated.body.groups.map((group: { name: string }) => group.name)).toEqual(['Staff'])
})
