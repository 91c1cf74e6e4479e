import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Caller, openWorld, type World } from '../../support/world.ts'

const PASSWORD = 'correct horse battery'
const CALLBACK = 'https://app.example/done'
let world: World
let ana: Caller
let client: { readonly client_id: string; readonly client_secret: string }

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  await world.root.put(`/users/${ana.id}`, { password: PASSWORD })
  const { body } = await world.root.post('/applications', {
    name: 'App',
    redirect_uri: CALLBACK,
    scopes: 'api self_rotate openid email',
  })
  client = { client_id: body.application_id, client_secret: body.secret }
})
afterAll(() => world.close())

const ask = (path: string, fields: Record<string, string>) =>
  world.nobody.post(path, undefined, { host: true, raw: new URLSearchParams(fields) })

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

async function tokenWith(scope: string): Promise<string> {
  const fields = { grant_type: 'password', username: 'ana', password: PASSWORD, scope }
  const { status, body } = await ask('/oauth/token', { ...fields, ...client })
  expect(status).toBe(200)
  return body.access_token
}

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
  expect((await ana.post('/projects', { name: 'closed' })).status).toBe(201)
  const token = await tokenWith('openid')
  const associations = '/personal_access_tokens/self/associations'
  expect((await world.nobody.get(associations, bearer(token))).status).toBe(400)
  expect((await world.nobody.get('/user', bearer(token))).status).toBe(403)
  const told = await world.nobody.get('/oauth/userinfo', { host: true, ...bearer(token) })
  expect([told.status, told.body.preferred_username]).toEqual([200, 'ana'])
  expect(told.body).not.toHaveProperty('email')
})
