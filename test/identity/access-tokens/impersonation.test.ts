import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let ben: Caller
let path: string
beforeAll(async () => {
  root = world.root
})

let count = 0
beforeEach(async () => {
  world.setNow('2026-05-04T10:00:00.000Z')
  count += 1
  ana = await world.user(`ana${count}`)
  ben = await world.user(`ben${count}`)
  path = `/users/${ana.id}/impersonation_tokens`
})

async function make(name: string, more: Record<string, unknown> = {}) {
  const made = await root.post(path, { name, scopes: ['api'], ...more })
  expect(made.status).toBe(201)
  return made.body
}

async function names(query = ''): Promise<string[]> {
  const { status, body } = await root.get(`${path}${query}`)
  expect(status).toBe(200)
  return body.map((one: { name: string }) => one.name)
}

test('acts as its user, and says so of itself', async () => {
  const { token, ...shown } = await make('one', { description: 'why', expires_at: '2026-06-01' })
  expect(shown).toMatchObject({
    name: 'one',
    description: 'why',
    user_id: ana.id,
    impersonation: true,
    revoked: false,
    active: true,
    expires_at: '2026-06-01',
    scopes: ['api'],
    last_used_at: null,
  })
  expect((await world.as(token).get('/user')).body.id).toBe(ana.id)
  expect((await root.get(`${path}/${shown.id}`)).body.last_used_at).toMatch(/^2026-05-04T/)
})

test('is listed by its state: those that are over stay in the list', async () => {
  await make('lives')
  await make('ends', { expires_at: '2026-05-05' })
  const taken = await make('taken')
  expect((await root.delete(`${path}/${taken.id}`)).status).toBe(204)
  expect(await names()).toEqual(['lives', 'ends', 'taken'])
  expect(await names('?state=all')).toEqual(['lives', 'ends', 'taken'])
  expect(await names('?state=active')).toEqual(['lives', 'ends'])
  expect(await names('?state=inactive')).toEqual(['taken'])
  world.setNow('2026-05-05T00:00:00.000Z')
  expect(await names('?state=active')).toEqual(['lives'])
  expect(await names('?state=inactive')).toEqual(['ends', 'taken'])
  expect((await root.get(`${path}?state=revoked`)).body).toEqual({
    error: 'state does not have a valid value',
  })
})

test('opens no more once it is revoked, and stays to be seen', async () => {
  const { id, token } = await make('gone')
  expect((await root.delete(`${path}/${id}`)).status).toBe(204)
  expect((await world.as(token).get('/user')).status).toBe(401)
  expect((await root.get(`${path}/${id}`)).body).toMatchObject({ revoked: true, active: false })
})

test('is found below its own user alone, and among no personal tokens', async () => {
  const { id } = await make('hidden')
  const elsewhere = `/users/${ben.id}/impersonation_tokens`
  expect((await root.get(`${elsewhere}/${id}`)).status).toBe(404)
  expect((await root.delete(`${elsewhere}/${id}`)).status).toBe(404)
  expect((await root.get(elsewhere)).body).toEqual([])
  const own = await ana.get('/personal_access_tokens')
  expect(own.body.map((one: { name: string }) => one.name)).not.toContain('hidden')
  expect((await ana.get(`/personal_access_tokens/${id}`)).status).toBe(401)
})

test('a personal token is none', async () => {
  const personal = { name: 'mine', scopes: ['api'] }
  const { id } = (await root.post(`/users/${ana.id}/personal_access_tokens`, personal)).body
  expect(await names()).toEqual([])
  expect((await root.get(`${path}/${id}`)).status).toBe(404)
  expect((await root.delete(`${path}/${id}`)).status).toBe(404)
})

test('does as little as its scopes and its user may', async () => {
  const { token } = await make('reads', { scopes: ['read_api'] })
  const reader = world.as(token)
  expect((await reader.get('/projects')).status).toBe(200)
  expect((await reader.post('/projects', { name: 'p' })).status).toBe(403)
  const whole = world.as((await make('whole')).token)
  expect((await whole.get('/applications')).status).toBe(403)
  const sudo = await root.post(path, { name: 'x', scopes: ['sudo'] })
  expect(sudo.status).toBe(400)
})

test('is shut out with its user', async () => {
  const { token } = await make('blocked')
  await root.post(`/users/${ana.id}/block`)
  expect((await world.as(token).get('/user')).status).toBe(403)
  await root.post(`/users/${ana.id}/unblock`)
  expect((await world.as(token).get('/user')).status).toBe(200)
})
