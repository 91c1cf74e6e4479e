import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, type Reply, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let stranger: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  stranger = await world.user('stranger')
})

let count = 0
let groupId: number
let projectId: number
beforeEach(async () => {
  count += 1
  world.setNow('2026-05-04T10:00:00.000Z')
  groupId = (await createGroup(ana, `g${count}`)).id
  projectId = (await createProject(ana, `p${count}`, { namespace_id: groupId })).id
})

const input = { name: 'Robot', scopes: ['api'] }
const answer = ({ status, body }: Reply) => [status, body]

describe.each(['project', 'group'] as const)('access tokens of a %s', (kind) => {
  const place = () => (kind === 'project' ? `/projects/${projectId}` : `/groups/${groupId}`)
  const tokens = () => `${place()}/access_tokens`
  const missing = [404, { message: `404 ${kind} Access Token Not Found` }]
  const make = async (more: object = {}, by = ana) => {
    const made = await by.post(tokens(), { ...input, ...more })
    expect([made.status, made.body.message]).toEqual([201, undefined])
    return made.body
  }

  /** List, one, create, rotate and revoke. */
  async function answers(by: Caller): Promise<number[]> {
    const [rotated, revoked] = [await make({ access_level: 10 }), await make({ access_level: 10 })]
    const replies = [
      await by.get(tokens()),
      await by.get(`${tokens()}/${rotated.id}`),
      await by.post(tokens(), { ...input, access_level: 10 }),
      await by.post(`${tokens()}/${rotated.id}/rotate`),
      await by.delete(`${tokens()}/${revoked.id}`),
    ]
    return replies.map((reply) => reply.status)
  }
  const all = [200, 200, 201, 200, 204]
  const refused = [401, 401, 400, 401, 400]
  const none = (status: number) => Array(5).fill(status)

  test.each([10, 20, 30, 40, 50])('for members of the level %i', async (level) => {
    const member = await world.user(`${kind}-${count}`)
    await ana.post(`${place()}/members`, { user_id: member.id, access_level: level })
    expect(await answers(member)).toEqual(level >= (kind === 'project' ? 40 : 50) ? all : refused)
  })

  test('for strangers and nobody, in sight of the place and not, and for administrators', async () => {
    expect(await answers(stranger)).toEqual(none(404))
    expect(await answers(world.nobody)).toEqual(none(401))
    await ana.put(`/groups/${groupId}`, { visibility: 'public' })
    await ana.put(`/projects/${projectId}`, { visibility: 'public' })
    expect(await answers(stranger)).toEqual(refused)
    expect(await answers(world.nobody)).toEqual(none(401))
    expect(await answers(root)).toEqual(all)
  })

  test('for a token that only reads', async () => {
    const reader = world.as(await world.token(ana.id, ['read_api']))
    expect(await answers(reader)).toEqual([200, 200, 403, 403, 403])
  })

  test('say why they are refused', async () => {
    const member = await world.user(`${kind}-${count}`)
    await ana.post(`${place()}/members`, { user_id: member.id, access_level: 30 })
    const { id } = await make()
    for (const [verb, reply] of [
      ['create', await member.post(tokens(), input)],
      ['revoke', await member.delete(`${tokens()}/${id}`)],
    ] as const) {
      const text = `User does not have permission to ${verb} ${kind} access token`
      expect(answer(reply)).toEqual([400, { message: `400 Bad request - ${text}` }])
    }
  })

  test('are found in their own place alone', async () => {
    const made = await make()
    const path = tokens()
    const other = await createGroup(ana, `other-${kind}-${count}`)
    const beside =
      kind === 'group' ? other.id : (await createProject(ana, 'o', { namespace_id: other.id })).id
    for (const wrong of [`/${kind}s/${beside}/access_tokens/${made.id}`, `${path}/99999`]) {
      expect(answer(await ana.get(wrong))).toEqual(missing)
      expect(answer(await ana.delete(wrong))).toEqual(missing)
      expect(answer(await ana.post(`${wrong}/rotate`))).toEqual(missing)
    }
    expect(answer(await ana.get(`${path}/x`))).toEqual([400, { error: 'token_id is invalid' }])
    expect((await ana.get(`/${kind}s/${beside}/access_tokens`)).body).toEqual([])
    expect((await ana.get(`${path}/${made.id}`)).body.revoked).toBe(false)
  })

  test('are never personal ones: those of people are not found here', async () => {
    const own = (await root.post(`/users/${ana.id}/personal_access_tokens`, input)).body
    expect(answer(await ana.get(`${tokens()}/${own.id}`))).toEqual(missing)
    expect(answer(await ana.delete(`${tokens()}/${own.id}`))).toEqual(missing)
    expect((await world.as(own.token).get('/user')).status).toBe(200)
  })

  test('are revoked for good, and again without harm, as programs that tidy up do', async () => {
    const { id, token } = await make()
    const replies = await Promise.all([1, 2, 3].map(() => ana.delete(`${tokens()}/${id}`)))
    expect(replies.map((reply) => reply.status)).toEqual([204, 204, 204])
    expect((await ana.delete(`${tokens()}/${id}`)).status).toBe(204)
    expect((await world.as(token).get('/user')).status).toBe(401)
    expect((await ana.get(`${tokens()}/${id}`)).body).toMatchObject({ revoked: true })
  })

  test('hold what they were made with, each scope once', async () => {
    const made = await make({
      description: 'For the night',
      scopes: 'read_api,read_repository,read_api',
      access_level: 20,
      expires_at: '2026-06-01',
    })
    const { token, ...shown } = made
    expect(shown).toEqual({
      id: made.id,
      name: 'Robot',
      description: 'For the night',
      revoked: false,
      created_at: '2026-05-04T10:00:00.000Z',
      scopes: ['read_api', 'read_repository'],
      user_id: made.user_id,
      last_used_at: null,
      last_used_ips: [],
      active: true,
      expires_at: '2026-06-01',
      access_level: 20,
      resource_type: kind,
      resource_id: kind === 'project' ? projectId : groupId,
    })
    expect(token).toMatch(/^svcpat-/)
    expect(answer(await ana.get(`${tokens()}/${made.id}`))).toEqual([200, shown])
    expect((await ana.get(tokens())).body).toEqual([shown])
  })

  test.each(['read_user', 'sudo', 'admin_mode', 'openid', 'none'])(
    'have no scope %s',
    async (scope) => {
      expect(answer(await ana.post(tokens(), { name: 'x', scopes: ['api', scope] }))).toEqual([
        400,
        { error: 'scopes does not have a valid value' },
      ])
    },
  )

  test('need a name and scopes', async () => {
    expect(answer(await ana.post(tokens(), {}))).toEqual([
      400,
      { error: 'name is missing, scopes is missing' },
    ])
    for (const [wrong, text] of [
      [{ name: 'x'.repeat(256) }, 'Name is too long (maximum is 255 characters)'],
      [{ description: 'x'.repeat(256) }, 'Description is too long (maximum is 255 characters)'],
    ] as const) {
      const reply = await ana.post(tokens(), { ...input, ...wrong })
      expect(answer(reply)).toEqual([400, { message: `400 Bad request - ${text}` }])
    }
  })

  test('do no more than their role', async () => {
    const issues = `/projects/${projectId}/issues`
    const reporter = world.as((await make({ access_level: 20 })).token)
    expect((await reporter.post(issues, { title: 'Found' })).status).toBe(201)
    expect((await reporter.put(`/projects/${projectId}`, { description: 'x' })).status).toBe(403)
    expect((await reporter.get(tokens())).status).toBe(401)
    const reading = world.as((await make({ scopes: ['read_api'] })).token)
    expect((await reading.get(issues)).body).toHaveLength(1)
    expect((await reading.post(issues, { title: 'x' })).status).toBe(403)
    const maintainer = world.as((await make({ access_level: 40 })).token)
    const changed = await maintainer.put(`/projects/${projectId}`, { description: 'y' })
    expect(changed.body.description).toBe('y')
    expect((await maintainer.post('/groups', { name: 'x', path: `x${count}` })).status).toBe(403)
  })

  test('end with their last day, and stay in the list', async () => {
    const made = await make({ expires_at: '2026-05-06' })
    const bot = world.as(made.token)
    world.setNow('2026-05-05T23:59:59.000Z')
    expect((await bot.get(place())).status).toBe(200)
    world.setNow('2026-05-06T00:00:00.000Z')
    expect(answer(await bot.get(place()))).toMatchObject([401, { error: 'invalid_token' }])
    expect((await ana.get(tokens())).body).toMatchObject([
      { id: made.id, active: false, revoked: false },
    ])
  })

  test('note when they were last used', async () => {
    const made = await make()
    world.setNow('2026-05-04T11:00:00.000Z')
    expect((await world.as(made.token).get(place())).status).toBe(200)
    const { body } = await ana.get(`${tokens()}/${made.id}`)
    expect(body.last_used_at).toBe('2026-05-04T11:00:00.000Z')
    expect(body.last_used_ips).toHaveLength(1)
  })

  describe('that rotate themselves', () => {
    test.each([['self_rotate'], ['api']])('need the scope %s', async (scope) => {
      const old = await make({ scopes: [scope, 'read_repository'], access_level: 30 })
      const reply = await world.as(old.token).post(`${tokens()}/self/rotate`)
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        ...old,
        id: expect.any(Number),
        token: expect.any(String),
        created_at: expect.any(String),
        expires_at: '2026-05-11',
      })
      expect([reply.body.id, reply.body.token]).not.toEqual([old.id, old.token])
      expect((await ana.get(`${tokens()}?state=active`)).body).toMatchObject([
        { id: reply.body.id, access_level: 30 },
      ])
    })

    test.each([['read_api'], ['read_repository']])('may not with %s alone', async (scope) => {
      const old = await make({ scopes: [scope] })
      const bot = world.as(old.token)
      for (const id of ['self', old.id]) {
        const reply = await bot.post(`${tokens()}/${id}/rotate`)
        expect(answer(reply)).toMatchObject([403, { error: 'insufficient_scope' }])
      }
      expect((await ana.get(`${tokens()}/${old.id}`)).body.revoked).toBe(false)
    })

    test('rotate no other with self_rotate, nor in another place', async () => {
      const [own, other] = [await make({ scopes: ['self_rotate'] }), await make()]
      const bot = world.as(own.token)
      const refusal = await bot.post(`${tokens()}/${other.id}/rotate`)
      expect(refusal.status).toBe(kind === 'project' ? 403 : 401)
      expect((await ana.get(`${tokens()}/${other.id}`)).body.revoked).toBe(false)
      const beside = kind === 'project' ? `/groups/${groupId}` : `/projects/${projectId}`
      expect((await bot.post(`${beside}/access_tokens/self/rotate`)).status).toBe(405)
      expect((await bot.post(`${tokens()}/${own.id}/rotate`)).status).toBe(200)
    })

    test('end when they are asked to, within the limits', async () => {
      const bot = world.as((await make()).token)
      const path = `${tokens()}/self/rotate`
      expect(answer(await bot.post(path, { expires_at: '2027-05-05' }))).toEqual([
        400,
        { message: '400 Bad request - Expires at must be before 2027-05-04' },
      ])
      expect(answer(await bot.post(path, { expires_at: 'soon' }))).toEqual([
        400,
        { error: 'expires_at is invalid' },
      ])
      const reply = await bot.post(path, { expires_at: '2026-12-24' })
      expect([reply.status, reply.body.expires_at]).toEqual([200, '2026-12-24'])
    })

    test('is no way for people, whose tokens belong nowhere', async () => {
      expect((await ana.post(`${tokens()}/self/rotate`)).status).toBe(405)
      expect((await world.nobody.post(`${tokens()}/self/rotate`)).status).toBe(401)
      expect((await stranger.post(`${tokens()}/self/rotate`)).status).toBe(404)
    })
  })

  test('never rotate or make a bot above the caller', async () => {
    const least = kind === 'project' ? 40 : 50
    const member = await world.user(`${kind}-${count}`)
    await ana.post(`${place()}/members`, { user_id: member.id, access_level: least })
    const strong = await make({ access_level: 50 })
    const reply = await member.post(`${tokens()}/${strong.id}/rotate`)
    expect(reply.status).toBe(kind === 'project' ? 400 : 200)
    const made = await member.post(tokens(), { ...input, access_level: 50 })
    expect(made.status).toBe(kind === 'project' ? 400 : 201)
  })

  test('show an external user no more than they see, made or rotated', async () => {
    const inner = await createProject(stranger, `open-${kind}`, { visibility: 'internal' })
    const guest = await world.user(`guest-${kind}-${count}`, { external: true })
    await ana.post(`${place()}/members`, { user_id: guest.id, access_level: 50 })
    const seen = async (token: string) =>
      (await world.as(token).get(`/projects/${inner.id}`)).status
    const own = await make({}, guest)
    expect(await seen(own.token)).toBe(404)
    const rotated = await guest.post(`${tokens()}/${own.id}/rotate`)
    expect([rotated.status, await seen(rotated.body.token)]).toEqual([200, 404])
    const foreign = await make()
    expect(await seen(foreign.token)).toBe(200)
    expect((await guest.post(`${tokens()}/${foreign.id}/rotate`)).status).toBe(400)
    expect(await seen(foreign.token)).toBe(200)
  })

  test('leave a trace in the audit trail, without their secret', async () => {
    const made = await make()
    const rotated = (await ana.post(`${tokens()}/${made.id}/rotate`)).body
    await ana.delete(`${tokens()}/${rotated.id}`)
    const trail = (await ana.get(`${place()}/audit_events`)).body
    const own = trail.filter((one: { event_name: string }) => one.event_name.startsWith('token_'))
    expect(own.map((one: { event_name: string }) => one.event_name)).toEqual([
      'token_revoked',
      'token_rotated',
      'token_created',
    ])
    const text = JSON.stringify(trail)
    for (const { token } of [made, rotated]) expect(text).not.toContain(token)
  })

  test('are listed in pages, with the headers of a page', async () => {
    const ids = []
    for (const name of ['one', 'two', 'three']) ids.push((await make({ name })).id)
    const page = await ana.get(`${tokens()}?per_page=2&page=2`)
    expect(page.body.map((one: { id: number }) => one.id)).toEqual([ids[2]])
    expect([page.headers.get('x-total'), page.headers.get('x-total-pages')]).toEqual(['3', '2'])
    const all = await ana.get(`${tokens()}?sort=created_desc&search=t`)
    expect(all.body.map((one: { name: string }) => one.name)).toEqual(['three', 'two'])
  })
})

test('the tokens of a group reach below it, those of a project stay in no list of the group', async () => {
  const sub = await createGroup(ana, 'sub', { parent_id: groupId })
  const made = await ana.post(`/groups/${groupId}/access_tokens`, { ...input, access_level: 50 })
  const bot = world.as(made.body.token)
  for (const path of [`/groups/${sub.id}`, `/projects/${projectId}`])
    expect((await bot.get(path)).status).toBe(200)
  await ana.post(`/projects/${projectId}/access_tokens`, input)
  const names = async (path: string) =>
    (await ana.get(`${path}/access_tokens`)).body.map((one: { id: number }) => one.id)
  expect(await names(`/groups/${groupId}`)).toEqual([made.body.id])
  expect(await names(`/groups/${sub.id}`)).toEqual([])
})

test('who owns the group administers the tokens of its projects', async () => {
  const owner = await world.user('group-owner')
  await ana.post(`/groups/${groupId}/members`, { user_id: owner.id, access_level: 50 })
  const made = await owner.post(`/projects/${projectId}/access_tokens`, {
    ...input,
    access_level: 50,
  })
  expect(made.status).toBe(201)
  await ana.delete(`/groups/${groupId}/members/${owner.id}`)
  expect((await owner.get(`/projects/${projectId}/access_tokens`)).status).toBe(404)
  // The bot is a member of its own, whoever made it.
  expect((await world.as(made.body.token).get(`/projects/${projectId}`)).status).toBe(200)
})
