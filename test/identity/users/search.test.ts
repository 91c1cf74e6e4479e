import { beforeAll, expect, test } from 'vitest'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  const people: readonly (readonly [username: string, name: string])[] = [
    ['under_score', '100% sure'],
    ['underXscore', 'Quite sure'],
    ['zoe', 'Zoë Ünal'],
    ['jose', "José O'Brien"],
  ]
  for (const [username, name] of people) {
    const email = `${username}@private.example`
    const made = await root.post('/users', {
      username,
      name,
      email,
      force_random_password: true,
      skip_confirmation: true,
    })
    expect(made.status).toBe(201)
  }
})

async function found(caller: Caller, query: Record<string, string>): Promise<string[]> {
  const { status, body } = await caller.get(`/users?${new URLSearchParams(query)}`)
  expect(status).toBe(200)
  return body.map((one: { username: string }) => one.username).sort()
}

const idOf = async (username: string) =>
  (await root.get(`/users?username=${username}`)).body[0].id as number

test.each([
  ['r_s', ['under_score']],
  ['0%', ['under_score']],
  ['%', ['under_score']],
  ['\\', []],
  ["o'br", ['jose']],
  ['UNDER', ['underXscore', 'under_score']],
  ['sure', ['underXscore', 'under_score']],
  ['zoë', ['zoe']],
  ['Ünal', ['zoe']],
  ['josé o', ['jose']],
])('%s is found as it is written, in name or username', async (search, expected) => {
  expect(await found(ana, { search })).toEqual(expected)
  expect(await found(root, { search })).toEqual(expected)
})

test('an empty search narrows nothing', async () => {
  expect(await found(root, { search: '' })).toHaveLength(6)
})

test('private addresses are found whole, in any letter case, by administrators alone', async () => {
  expect(await found(root, { search: 'ZOE@private.example' })).toEqual(['zoe'])
  expect(await found(root, { search: 'private.example' })).toEqual([])
  expect(await found(ana, { search: 'zoe@private.example' })).toEqual([])
})

test('further addresses are found like the first one', async () => {
  const id = await idOf('zoe')
  const more = { email: 'zoe@second.example', skip_confirmation: true }
  expect((await root.post(`/users/${id}/emails`, more)).status).toBe(201)
  expect(await found(root, { search: 'zoe@second.example' })).toEqual(['zoe'])
  expect(await found(ana, { search: 'zoe@second.example' })).toEqual([])
})

test('a public address is found by everybody, by both parameters', async () => {
  await root.put(`/users/${await idOf('jose')}`, {
    public_email: 'jose@private.example',
  })
  for (const caller of [ana, root]) {
    expect(await found(caller, { search: 'jose@private.example' })).toEqual(['jose'])
    expect(await found(caller, { public_email: 'JOSE@private.example' })).toEqual(['jose'])
    expect(await found(caller, { public_email: 'jose' })).toEqual([])
  }
})

test('filters narrow each other', async () => {
  const id = await idOf('underXscore')
  await root.put(`/users/${id}`, { external: true })
  expect(await found(root, { search: 'under', external: 'true' })).toEqual(['underXscore'])
  expect(await found(root, { search: 'under', exclude_external: 'true' })).toEqual(['under_score'])
  expect(await found(root, { username: 'zoe', external: 'true' })).toEqual([])
  expect(await found(root, { external: 'true', exclude_external: 'true' })).toEqual([])
})

test('a flag that is false, or empty, narrows nothing', async () => {
  for (const value of ['false', '']) {
    expect(await found(root, { active: value, external: value, admins: value })).toHaveLength(6)
  }
})

test('who is somebody elsewhere is found by provider and uid together, by administrators', async () => {
  const id = await idOf('zoe')
  await root.put(`/users/${id}`, { provider: 'saml', extern_uid: 'z-1' })
  expect(await found(root, { provider: 'saml', extern_uid: 'z-1' })).toEqual(['zoe'])
  expect(await found(root, { provider: 'saml', extern_uid: 'z-2' })).toEqual([])
  expect(await found(root, { provider: 'ldap', extern_uid: 'z-1' })).toEqual([])
  for (const alone of ['provider=saml', 'extern_uid=z-1'])
    expect((await root.get(`/users?${alone}`)).status).toBe(400)
  expect(await found(ana, { provider: 'saml', extern_uid: 'z-2' })).toHaveLength(6)
  expect((await root.delete(`/users/${id}/identities/saml`)).status).toBe(204)
  expect(await found(root, { provider: 'saml', extern_uid: 'z-1' })).toEqual([])
  expect((await root.delete(`/users/${id}/identities/saml`)).status).toBe(404)
})

test('custom attributes narrow together, for administrators', async () => {
  const [zoe, jose] = [await idOf('zoe'), await idOf('jose')]
  const set = (id: number, key: string, value: string) =>
    root.put(`/users/${id}/custom_attributes/${key}`, { value })
  await set(zoe, 'floor', '2')
  await set(jose, 'floor', '2')
  await set(jose, 'room', 'b/1')
  const floor = { 'custom_attributes[floor]': '2' }
  expect(await found(root, floor)).toEqual(['jose', 'zoe'])
  expect(await found(root, { ...floor, 'custom_attributes[room]': 'b/1' })).toEqual(['jose'])
  expect(await found(root, { 'custom_attributes[floor]': '3' })).toEqual([])
  expect(await found(ana, { 'custom_attributes[floor]': '3' })).toHaveLength(6)
  await set(zoe, 'floor', '3')
  expect(await found(root, floor)).toEqual(['jose'])
  expect((await root.get(`/users/${zoe}/custom_attributes`)).body).toEqual([
    { key: 'floor', value: '3' },
  ])
  expect((await root.delete(`/users/${zoe}/custom_attributes/floor`)).status).toBe(204)
  expect((await root.delete(`/users/${zoe}/custom_attributes/floor`)).status).toBe(404)
  expect((await root.get(`/users/${zoe}/custom_attributes/floor`)).status).toBe(404)
})

test('strangers find the one they name, and nobody by other words', async () => {
  expect(await found(world.nobody, { username: 'ZOE' })).toEqual(['zoe'])
  expect((await world.nobody.get('/users?search=zoe')).status).toBe(403)
})

test('everybody gets users in the order of ids, newest first', async () => {
  const ids = (await ana.get('/users')).body.map((one: { id: number }) => one.id)
  expect(ids).toEqual([...ids].sort((one, other) => other - one))
  expect((await ana.get('/users?per_page=2&page=2')).body).toHaveLength(2)
})
