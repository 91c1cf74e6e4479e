import { describe, expect, test } from 'vitest'
import { removeExpiredMembers } from '../../../src/projects/members/tasks.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')
let count = 0

async function group(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  const { id } = await createGroup(owner, `g${count}`, more)
  return `/groups/${id}`
}

async function project(more: Record<string, unknown> = {}) {
  count += 1
  const { id } = await createProject(ana, `p${count}`, more)
  return `/projects/${id}`
}

const idOf = (path: string) => Number(path.split('/')[2])

async function add(source: string, user: Caller, access_level: number, more = {}) {
  const reply = await ana.post(`${source}/members`, { user_id: user.id, access_level, ...more })
  expect([reply.status, reply.body.message]).toEqual([201, undefined])
}

async function owners(path: string): Promise<string[]> {
  const { body } = await world.root.get(`${path}/members`)
  return body
    .filter((one: { access_level: number }) => one.access_level === 50)
    .map((one: { username: string }) => one.username)
}

/** Every way in which the membership of somebody ends or shrinks. */
const ways: readonly [string, (path: string, user: Caller) => ReturnType<Caller['get']>, number][] =
  [
    ['leave', (path, user) => user.delete(`${path}/members/${user.id}`), 403],
    ['be removed', (path, user) => world.root.delete(`${path}/members/${user.id}`), 403],
    [
      'step down',
      (path, user) => user.put(`${path}/members/${user.id}`, { access_level: 40 }),
      403,
    ],
    [
      'get an end',
      (path, user) =>
        user.put(`${path}/members/${user.id}`, { access_level: 50, expires_at: '2026-06-01' }),
      403,
    ],
    [
      'be made to wait',
      (path, user) => world.root.put(`${path}/members/${user.id}/state`, { state: 'awaiting' }),
      422,
    ],
    [
      'be removed as billable',
      (path, user) => world.root.delete(`${path}/billable_members/${user.id}`),
      400,
    ],
  ]

describe('the last owner of a group does not', () => {
  test.each(ways)('%s', async (_, end, status) => {
    const path = await group()
    await add(path, cleo, 40)
    expect((await end(path, ana)).status).toBe(status)
    await world.runTasks()
    expect(await owners(path)).toEqual(['ana'])
    expect((await ana.get(`${path}/members/${ana.id}`)).body).toMatchObject({
      access_level: 50,
      expires_at: null,
      membership_state: 'active',
    })
  })

  test.each(ways)('%s while the other one is there until a known day', async (_, end, status) => {
    const path = await group()
    await add(path, ben, 50, { expires_at: '2026-05-06' })
    expect((await end(path, ana)).status).toBe(status)
    world.setNow('2026-05-07T10:00:00.000Z')
    await removeExpiredMembers.handler(world.ctx, {}, new AbortController().signal)
    expect(await owners(path)).toEqual(['ana'])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('leave while the others are invited, ask, wait, or are bots', async () => {
    const path = await group({ visibility: 'public' })
    await ana.post(`${path}/invitations`, { email: 'o@example.org', access_level: 50 })
    await cleo.post(`${path}/access_requests`)
    await ana.post(`${path}/access_tokens`, { name: 'b', scopes: ['api'], access_level: 50 })
    await add(path, ben, 50)
    const state = await ana.put(`${path}/members/${ben.id}/state`, { state: 'awaiting' })
    expect(state.body).toEqual({ success: true })
    expect((await ana.delete(`${path}/members/${ana.id}`)).status).toBe(403)
    await ana.put(`${path}/members/${ben.id}/state`, { state: 'active' })
    expect((await ana.delete(`${path}/members/${ana.id}`)).status).toBe(204)
  })
})

describe('one of two owners', () => {
  test.each(ways)('may %s', async (_, end) => {
    const path = await group()
    await add(path, ben, 50)
    expect((await end(path, ben)).status).toBeLessThan(300)
    await world.runTasks()
    expect(await owners(path)).toContain('ana')
  })

  test('of whom one owns the group above may leave the one below', async () => {
    const top = await group()
    const sub = await group({ parent_id: idOf(top) })
    expect((await ana.delete(`${sub}/members/${ana.id}`)).status).toBe(403)
    await add(top, ben, 50)
    expect((await ana.delete(`${sub}/members/${ana.id}`)).status).toBe(204)
    expect(await owners(sub)).toEqual([])
    expect((await ben.put(sub, { description: 'still ours' })).status).toBe(200)
  })
})

describe('a group that is moved to the top', () => {
  test('is owned by who moved it, where its owners were those of the groups above', async () => {
    const top = await group()
    const sub = await group({ parent_id: idOf(top) })
    await add(top, ben, 50)
    await ana.delete(`${sub}/members/${ana.id}`)
    const moved = await ben.post(`${sub}/transfer`)
    expect([moved.status, moved.body.parent_id]).toEqual([201, null])
    expect(await owners(sub)).toEqual(['ben'])
    expect((await ben.put(sub, { description: 'mine' })).status).toBe(200)
    expect((await ana.get(sub)).status).toBe(404)
    const { body } = await ben.get(`${sub}/audit_events`)
    expect(body.map((one: { event_name: string }) => one.event_name)).toContain('member_added')
  })

  test('keeps the owners that it has, and gets no other', async () => {
    const top = await group()
    const sub = await group({ parent_id: idOf(top) })
    await add(top, ben, 50)
    expect((await ben.post(`${sub}/transfer`)).status).toBe(201)
    expect(await owners(sub)).toEqual(['ana'])
    expect((await ben.get(sub)).status).toBe(404)
  })

  test('raises a lesser membership of who moved it', async () => {
    const top = await group()
    const sub = await group({ parent_id: idOf(top) })
    await add(sub, ben, 30)
    await add(top, ben, 50)
    await ana.delete(`${sub}/members/${ana.id}`)
    expect((await ben.post(`${sub}/transfer`)).status).toBe(201)
    expect(await owners(sub)).toEqual(['ben'])
  })

  test('below another group has the owners of that', async () => {
    const from = await group()
    const to = await group()
    const sub = await group({ parent_id: idOf(from) })
    await add(from, ben, 50)
    await ana.delete(`${sub}/members/${ana.id}`)
    expect((await ana.post(`${sub}/transfer`, { group_id: idOf(to) })).status).toBe(201)
    expect(await owners(sub)).toEqual([])
    expect((await ana.put(sub, { description: 'x' })).status).toBe(200)
  })
})

describe('a group that a project was shared with as owners', () => {
  test('is sent away by owners, not by maintainers', async () => {
    const place = await project()
    const team = await group()
    await add(place, cleo, 40)
    await add(team, ben, 50)
    const share = { group_id: idOf(team), group_access: 50 }
    expect((await ana.post(`${place}/share`, share)).status).toBe(201)
    const refused = await cleo.delete(`${place}/share/${idOf(team)}`)
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    expect((await ben.get(place)).body.permissions.project_access.access_level).toBe(50)
    // Whoever is an owner by it, may.
    expect((await ben.delete(`${place}/share/${idOf(team)}`)).status).toBe(204)
    expect((await ben.get(place)).status).toBe(404)
  })

  test.each([
    [10, 204],
    [40, 204],
    [50, 403],
  ])('at level %i answers %i to a maintainer', async (group_access, status) => {
    const place = await project()
    const team = await group()
    await add(place, cleo, 40)
    await ana.post(`${place}/share`, { group_id: idOf(team), group_access })
    expect((await cleo.delete(`${place}/share/${idOf(team)}`)).status).toBe(status)
  })

  test('is found only by those who may end it', async () => {
    const place = await project({ visibility: 'public' })
    const team = await group()
    await add(place, cleo, 30)
    for (const [caller, status] of [
      [cleo, 403],
      [ben, 403],
      [world.nobody, 401],
      [ana, 404],
    ] as const)
      expect((await caller.delete(`${place}/share/${idOf(team)}`)).status).toBe(status)
    const odd = await ana.delete(`${place}/share/x`)
    expect([odd.status, odd.body]).toEqual([400, { error: 'group_id is invalid' }])
  })
})

test('the owner of a personal namespace stays the owner of its projects', async () => {
  const place = await project()
  await add(place, ben, 50)
  const own = `${place}/members/${ana.id}`
  expect((await ben.delete(own)).status).toBe(403)
  expect((await ben.put(own, { access_level: 40 })).status).toBe(403)
  const end = { access_level: 50, expires_at: '2026-06-01' }
  expect((await ana.put(own, end)).status).toBe(403)
  expect((await ana.delete(`${place}/members/${ben.id}`)).status).toBe(204)
})
