import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let ben: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  ben = await world.user('ben')
})

async function make(more: object = {}, user = ana) {
  const reply = await root.post(`/users/${user.id}/personal_access_tokens`, {
    name: 'robot',
    scopes: ['api'],
    ...more,
  })
  expect(reply.status).toBe(201)
  return reply.body as { id: number; token: string; expires_at: string }
}

describe('making tokens', () => {
  test('an administrator makes one for a user, and its secret is shown once', async () => {
    const made = await make({ description: 'd', scopes: 'api,read_user' })
    expect(made).toMatchObject({
      name: 'robot',
      description: 'd',
      scopes: ['api', 'read_user'],
      user_id: ana.id,
      active: true,
      revoked: false,
      expires_at: '2027-05-04',
    })
    expect(made.token).toMatch(/^svcpat-[\w-]{43}$/)
    expect((await world.as(made.token).get('/user')).body.id).toBe(ana.id)
    expect((await root.get(`/personal_access_tokens/${made.id}`)).body).not.toHaveProperty('token')
    const { rows } = await world.ctx.db
      .selectFrom('access_tokens')
      .selectAll()
      .where('id', '=', made.id)
      .execute()
      .then((all) => ({ rows: JSON.stringify(all) }))
    expect(rows).not.toContain(made.token)
  })
  test('people make themselves only tokens of little reach', async () => {
    const wide = await ana.post('/user/personal_access_tokens', { name: 'x', scopes: ['api'] })
    expect([wide.status, wide.body]).toEqual([400, { error: 'scopes does not have a valid value' }])
    const own = await ana.post('/user/personal_access_tokens', {
      name: 'x',
      scopes: ['self_rotate'],
    })
    expect([own.status, own.body.scopes]).toEqual([201, ['self_rotate']])
  })
  test.each([
    [{ name: '', scopes: ['api'] }, 422, { message: "Name can't be blank" }],
    [{ name: 'x', scopes: [] }, 422, { message: "Scopes can't be blank" }],
    [
      { name: 'x', scopes: ['api'], expires_at: '2027-05-05' },
      400,
      { message: 'Expires at must be before 2027-05-04' },
    ],
    [
      { name: 'x', scopes: ['api'], expires_at: '2026-05-03' },
      400,
      { message: 'Expires at cannot be a date in the past' },
    ],
    [{ name: 'x', scopes: ['sudo'] }, 422, { message: 'Scopes can only contain available scopes' }],
    [{ name: 'x', scopes: ['nope'] }, 400, { error: 'scopes does not have a valid value' }],
    [{}, 400, { error: 'name is missing, scopes is missing' }],
  ])('refuses %j', async (input, status, body) => {
    const reply = await root.post(`/users/${ana.id}/personal_access_tokens`, input)
    expect([reply.status, reply.body]).toEqual([status, body])
  })
  test('a token is dead on its day of expiry, though it may be asked for', async () => {
    const made = await make({ expires_at: '2026-05-04' })
    const reply = await world.as(made.token).get('/user')
    expect([reply.status, reply.body]).toEqual([
      401,
      {
        error: 'invalid_token',
        error_description: 'Token is expired. You can either do re-authorization or token refresh.',
      },
    ])
    expect((await root.get(`/personal_access_tokens/${made.id}`)).body.active).toBe(false)
    const inactive = (await root.get(`/personal_access_tokens?state=inactive&user_id=${ana.id}`))
      .body
    expect(inactive.map((token: { id: number }) => token.id)).toContain(made.id)
  })
})

describe('seeing tokens', () => {
  test('people list their own, administrators everybody’s', async () => {
    const made = await make({}, ben)
    const ids = async (caller: Caller, query = '') =>
      (await caller.get(`/personal_access_tokens?per_page=100${query}`)).body.map(
        (token: { id: number }) => token.id,
      )
    expect(await ids(ana)).not.toContain(made.id)
    expect(await ids(root, `&user_id=${ben.id}`)).toContain(made.id)
    expect((await ana.get(`/personal_access_tokens?user_id=${ben.id}`)).status).toBe(401)
    for (const user of ['9999', 'x', '']) {
      const reply = await root.get(`/personal_access_tokens?user_id=${user}`)
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Not Found' }])
    }
  })
  test('a foreign and a missing one look alike, but not to administrators', async () => {
    const made = await make({}, ben)
    for (const id of [made.id, 99999]) {
      const reply = await ana.get(`/personal_access_tokens/${id}`)
      expect([reply.status, reply.body]).toEqual([401, { message: '401 Unauthorized' }])
    }
    const reply = await root.get('/personal_access_tokens/99999')
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Not Found' }])
  })
  test('sorts and searches, and refuses an unknown order', async () => {
    const carl = await world.user('carl')
    for (const name of ['bb', 'aa', 'cc']) await make({ name }, carl)
    const names = async (query: string) =>
      (await root.get(`/personal_access_tokens?user_id=${carl.id}&${query}`)).body.map(
        (token: { name: string }) => token.name,
      )
    expect(await names('sort=name_asc')).toEqual(['aa', 'bb', 'cc', 'test'])
    const unknown = await ana.get('/personal_access_tokens?sort=nonsense')
    expect([unknown.status, unknown.body]).toEqual([
      400,
      { error: 'sort does not have a valid value' },
    ])
    expect(await names('search=A')).toEqual(['aa'])
  })
})

describe('the token in use', () => {
  test('is shown to a token of any scope, before ids are read', async () => {
    const made = await make({ scopes: ['read_repository'] })
    const own = world.as(made.token)
    expect((await own.get('/personal_access_tokens/self')).body.id).toBe(made.id)
    const rotate = await own.post('/personal_access_tokens/self/rotate')
    expect([rotate.status, rotate.body]).toEqual([
      403,
      {
        error: 'insufficient_scope',
        error_description:
          'The request requires higher privileges than provided by the access token.',
        scope: expect.stringContaining('self_rotate'),
      },
    ])
    expect((await own.delete('/personal_access_tokens/self')).status).toBe(204)
    expect((await own.get('/personal_access_tokens/self')).body.error_description).toBe(
      'Token was revoked. You have to re-authorize from the user.',
    )
  })
  test('rotates with self_rotate, and nothing else with it', async () => {
    const made = await make({ scopes: ['self_rotate'] })
    const own = world.as(made.token)
    expect((await own.get('/user')).status).toBe(403)
    const rotated = await own.post('/personal_access_tokens/self/rotate')
    expect(rotated.status).toBe(200)
    expect(rotated.body).toMatchObject({
      name: 'robot',
      scopes: ['self_rotate'],
      expires_at: '2026-05-11',
    })
    expect((await own.get('/personal_access_tokens/self')).status).toBe(401)
    const other = await make({})
    const foreign = await world
      .as(rotated.body.token)
      .post(`/personal_access_tokens/${other.id}/rotate`)
    expect(foreign.status).toBe(403)
  })
  test('shows the groups and projects that it reaches', async () => {
    const dora = await world.user('dora')
    const group = await createGroup(dora, 'reach')
    const project = await createProject(dora, 'p', { namespace_id: group.id })
    const reply = await dora.get('/personal_access_tokens/self/associations')
    expect(reply.body.groups).toMatchObject([{ id: group.id, access_levels: 50 }])
    expect(reply.body.projects).toMatchObject([
      {
        id: project.id,
        access_levels: { project_access_level: null, group_access_level: 50 },
      },
    ])
  })
})

describe('rotation', () => {
  test('rotating a revoked token revokes everything that came from it', async () => {
    const first = await make()
    const second = (await ana.post(`/personal_access_tokens/${first.id}/rotate`)).body
    const third = (await ana.post(`/personal_access_tokens/${second.id}/rotate`)).body
    expect((await world.as(third.token).get('/user')).status).toBe(200)
    const again = await ana.post(`/personal_access_tokens/${first.id}/rotate`)
    expect([again.status, again.body]).toEqual([
      400,
      { message: '400 Bad request - Token already revoked' },
    ])
    expect((await world.as(third.token).get('/user')).status).toBe(401)
  })
  test('the same token rotated many times at once gives one new token, which is dead then', async () => {
    const made = await make()
    const tries = Array.from({ length: 8 }, () =>
      ana.post(`/personal_access_tokens/${made.id}/rotate`),
    )
    const replies = await Promise.all(tries)
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(7).fill(400)])
    const winner = replies.find((reply) => reply.status === 200)
    expect((await world.as(winner?.body.token).get('/user')).status).toBe(401)
  })
  test('foreign tokens are not rotated or revoked', async () => {
    const made = await make({}, ben)
    expect((await ana.post(`/personal_access_tokens/${made.id}/rotate`)).status).toBe(401)
    const revoke = await ana.delete(`/personal_access_tokens/${made.id}`)
    expect([revoke.status, revoke.body]).toEqual([400, { message: '400 Bad request' }])
    const missing = await ana.delete('/personal_access_tokens/99999')
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Not found' }])
    expect((await ben.delete(`/personal_access_tokens/${made.id}`)).status).toBe(204)
  })
})

describe('impersonation tokens', () => {
  test('are for administrators, and hidden from their user', async () => {
    const path = `/users/${ana.id}/impersonation_tokens`
    expect((await ana.get(path)).status).toBe(403)
    const made = await root.post(path, { name: 'i', scopes: ['api'] })
    expect(made.body).toMatchObject({ impersonation: true, token: expect.any(String) })
    expect((await world.as(made.body.token).get('/user')).body.id).toBe(ana.id)
    expect((await root.get(`${path}?state=active`)).body).toMatchObject([{ id: made.body.id }])
    expect((await ana.get(`/personal_access_tokens/${made.body.id}`)).status).toBe(401)
    expect(JSON.stringify((await ana.get('/personal_access_tokens')).body)).not.toContain('"i"')
    expect((await root.delete(`${path}/${made.body.id}`)).status).toBe(204)
    expect((await root.get(`${path}/${made.body.id}`)).body.revoked).toBe(true)
    expect((await root.get(`/users/${ben.id}/impersonation_tokens/${made.body.id}`)).status).toBe(
      404,
    )
  })
  test('are dead while impersonation is off', async () => {
    const made = await root.post(`/users/${ana.id}/impersonation_tokens`, {
      name: 'i',
      scopes: ['api'],
    })
    await world.ctx.settings.change(world.ctx.db, { impersonation_enabled: false })
    const reply = await world.as(made.body.token).get('/user')
    expect(reply.body.error_description).toBe(
      'Token is an impersonation token but impersonation was disabled.',
    )
    await world.ctx.settings.change(world.ctx.db, { impersonation_enabled: true })
  })
})
