import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let groupId: number
let projectId: number
let accountId: number
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  groupId = (await createGroup(ana, 'g')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  accountId = (await root.post(`/groups/${groupId}/service_accounts`)).body.id
})
beforeEach(() => world.setNow('2026-05-04T10:00:00.000Z'))

const input = {
  name: 'Nightly',
  description: 'for the night',
  scopes: ['api', 'read_repository'],
  expires_at: '2026-12-24',
}

/** Where tokens of a kind are made, and where they are rotated. */
const kinds = {
  personal: () => [`/users/${ana.id}/personal_access_tokens`, '/personal_access_tokens'],
  project: () => Array(2).fill(`/projects/${projectId}/access_tokens`),
  group: () => Array(2).fill(`/groups/${groupId}/access_tokens`),
  account: () =>
    Array(2).fill(`/groups/${groupId}/service_accounts/${accountId}/personal_access_tokens`),
} as const satisfies Record<string, () => readonly string[]>

async function make(kind: keyof typeof kinds, more: Record<string, unknown> = {}) {
  const [made] = kinds[kind]()
  const reply = await root.post(made ?? '', { ...input, ...more })
  expect([reply.status, reply.body.message]).toEqual([201, undefined])
  return reply.body
}

const rotate = (kind: keyof typeof kinds, id: number, body?: object) =>
  root.post(`${kinds[kind]()[1]}/${id}/rotate`, body)

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('a %s token', (kind) => {
  test('keeps name, description, scopes and user, and gets another number and secret', async () => {
    const old = await make(kind)
    const reply = await rotate(kind, old.id)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      ...old,
      id: expect.any(Number),
      token: expect.any(String),
      expires_at: '2026-05-11',
    })
    expect(reply.body.id).not.toBe(old.id)
    expect(reply.body.token).not.toBe(old.token)
  })

  test('opens no more once there is a new one, which does', async () => {
    const old = await make(kind)
    const { token } = (await rotate(kind, old.id)).body
    const self = '/personal_access_tokens/self'
    const refused = await world.as(old.token).get(self)
    expect([refused.status, refused.body]).toMatchObject([401, { error: 'invalid_token' }])
    expect((await world.as(token).get(self)).body).toMatchObject({
      name: 'Nightly',
      active: true,
    })
  })

  test('ends when it is asked to, today at the earliest and in a year at the latest', async () => {
    const { id } = await make(kind)
    for (const [expires_at, sentence] of [
      ['2026-05-03', 'Expires at cannot be a date in the past'],
      ['2027-05-05', 'Expires at must be before 2027-05-04'],
    ]) {
      const refused = await rotate(kind, id, { expires_at })
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: `400 Bad request - ${sentence}` },
      ])
    }
    const last = await rotate(kind, id, { expires_at: '2027-05-04' })
    expect([last.status, last.body.expires_at]).toEqual([200, '2027-05-04'])
    const today = await rotate(kind, last.body.id, {
      expires_at: '2026-05-04',
    })
    expect(today.body).toMatchObject({
      expires_at: '2026-05-04',
      active: false,
    })
  })

  test('that was revoked takes all that came of it along', async () => {
    const first = await make(kind)
    const second = (await rotate(kind, first.id)).body
    const third = (await rotate(kind, second.id)).body
    const again = await rotate(kind, first.id)
    expect([again.status, again.body]).toEqual([
      400,
      { message: '400 Bad request - Token already revoked' },
    ])
    expect((await world.as(third.token).get('/personal_access_tokens/self')).status).toBe(401)
  })

  test('may be rotated after it has expired', async () => {
    const old = await make(kind, { expires_at: '2026-05-05' })
    world.setNow('2026-05-06T00:00:00.000Z')
    const reply = await rotate(kind, old.id)
    expect([reply.status, reply.body.expires_at]).toEqual([200, '2026-05-13'])
  })
})

test('without an end of tokens, a rotated one has none either unless it is given one', async () => {
  const settings = { require_personal_access_token_expiry: false }
  await root.put('/application/settings', settings)
  const { id } = await make('personal')
  const free = (await rotate('personal', id)).body
  expect(free.expires_at).toBeNull()
  const bound = (await rotate('personal', free.id, { expires_at: '2030-01-01' })).body
  expect(bound.expires_at).toBe('2030-01-01')
  await root.put('/application/settings', {
    require_personal_access_token_expiry: true,
  })
})

test('a week is cut to the longest life that administrators allow', async () => {
  const { id } = await make('personal')
  await root.put('/application/settings', {
    max_personal_access_token_lifetime: 3,
  })
  expect((await rotate('personal', id)).body.expires_at).toBe('2026-05-07')
  await root.put('/application/settings', {
    max_personal_access_token_lifetime: null,
  })
})

test('the bot of a rotated token stays the member it was', async () => {
  const old = await make('project', { access_level: 30 })
  const made = (await rotate('project', old.id)).body
  expect(made).toMatchObject({
    user_id: old.user_id,
    access_level: 30,
    resource_id: projectId,
  })
  const bot = world.as(made.token)
  expect((await bot.get(`/projects/${projectId}`)).body.id).toBe(projectId)
  const member = await ana.get(`/projects/${projectId}/members/${old.user_id}`)
  expect(member.body.access_level).toBe(30)
})

test('a token is rotated in its own project or group alone', async () => {
  const { id } = await make('project')
  expect((await root.post(`/groups/${groupId}/access_tokens/${id}/rotate`)).status).toBe(404)
  const own = await make('personal')
  const beside = `/projects/${projectId}/access_tokens/${own.id}/rotate`
  expect((await root.post(beside)).status).toBe(404)
  expect((await world.as(own.token).get('/user')).status).toBe(200)
})
