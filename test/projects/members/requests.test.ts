import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

async function person() {
  count += 1
  return await world.user(`user-${count}`)
}

async function group(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createGroup(owner, `g${count}`, more)
}

async function project(more: Record<string, unknown> = {}) {
  count += 1
  return createProject(ana, `p${count}`, more)
}

const add = (id: number, user: Caller, access_level: number) =>
  ana.post(`/groups/${id}/members`, { user_id: user.id, access_level })

describe('access requests', () => {
  test('are made by strangers, seen by owners, and approved with 201', async () => {
    const { id } = await group({ visibility: 'public' })
    const ben = await person()
    const made = await ben.post(`/groups/${id}/access_requests`)
    expect([made.status, made.body]).toMatchObject([
      201,
      { id: ben.id, username: ben.username, requested_at: '2026-05-04T10:00:00.000Z' },
    ])
    const twice = await ben.post(`/groups/${id}/access_requests`)
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { user_id: ['already exists in source'] } },
    ])
    expect((await ben.get(`/groups/${id}/access_requests`)).status).toBe(403)
    expect((await ana.get(`/groups/${id}/members/${ben.id}`)).status).toBe(404)
    const list = await ana.get(`/groups/${id}/access_requests`)
    expect(list.body.map((one: { id: number }) => one.id)).toEqual([ben.id])
    const approve = `/groups/${id}/access_requests/${ben.id}/approve`
    expect((await ben.put(approve)).status).toBe(403)
    const done = await ana.put(approve)
    expect([done.status, done.body]).toMatchObject([201, { id: ben.id, access_level: 30 }])
    const again = await ana.put(approve)
    expect([again.status, again.body]).toEqual([404, { message: '404 Not found' }])
    expect((await ben.post(`/groups/${id}/access_requests`)).status).toBe(403)
  })

  test('are withdrawn by who made them, denied by owners, and by nobody else', async () => {
    const { id } = await project({ visibility: 'public' })
    const [ben, cay] = [await person(), await person()]
    await ben.post(`/projects/${id}/access_requests`)
    expect((await cay.delete(`/projects/${id}/access_requests/${ben.id}`)).status).toBe(403)
    expect((await ben.delete(`/projects/${id}/access_requests/${ben.id}`)).status).toBe(204)
    await ben.post(`/projects/${id}/access_requests`)
    expect((await ana.delete(`/projects/${id}/access_requests/${ben.id}`)).status).toBe(204)
    expect((await ana.delete(`/projects/${id}/access_requests/${ben.id}`)).status).toBe(404)
    expect((await ana.delete(`/projects/${id}/access_requests/${ana.id}`)).status).toBe(404)
  })

  test('can be switched off, and do not exist where nothing is seen', async () => {
    const closed = await group({ visibility: 'public', request_access_enabled: false })
    const hidden = await group()
    const ben = await person()
    expect((await ben.post(`/groups/${closed.id}/access_requests`)).status).toBe(403)
    expect((await ben.post(`/groups/${hidden.id}/access_requests`)).status).toBe(404)
    expect((await world.nobody.post(`/groups/${closed.id}/access_requests`)).status).toBe(401)
  })

  test('of a maintainer who approves an owner are refused', async () => {
    const { id } = await project({ visibility: 'public' })
    const [ben, cay] = [await person(), await person()]
    await ana.post(`/projects/${id}/members`, { user_id: cay.id, access_level: 40 })
    await ben.post(`/projects/${id}/access_requests`)
    const path = `/projects/${id}/access_requests/${ben.id}/approve`
    expect((await cay.put(path, { access_level: 50 })).status).toBe(403)
    expect((await cay.put(path, { access_level: 33 })).status).toBe(400)
    expect((await cay.put(path, { access_level: 20 })).status).toBe(201)
  })

  test('become the membership when somebody adds the user', async () => {
    const { id } = await group({ visibility: 'public' })
    const ben = await person()
    await ben.post(`/groups/${id}/access_requests`)
    expect((await add(id, ben, 20)).status).toBe(201)
    expect((await ana.get(`/groups/${id}/access_requests`)).body).toEqual([])
  })
})

describe('invitations', () => {
  test('of an unknown address wait, and are listed, changed and taken back', async () => {
    const { id } = await group()
    const path = `/groups/${id}/invitations`
    const sent = await ana.post(path, { email: 'new@example.org, broken', access_level: 30 })
    expect([sent.status, sent.body]).toEqual([
      201,
      { status: 'error', message: { broken: 'Invite email is invalid' } },
    ])
    const list = await ana.get(path)
    expect(list.body).toMatchObject([
      { invite_email: 'new@example.org', access_level: 30, created_by_name: 'ana' },
    ])
    const changed = await ana.put(`${path}/new%40example.org`, { access_level: 20 })
    expect([changed.status, changed.body.access_level]).toEqual([200, 20])
    expect((await ana.get(`/groups/${id}/members`)).body).toHaveLength(1)
    expect((await ana.delete(`${path}/new%40example.org`)).status).toBe(204)
    expect((await ana.delete(`${path}/new%40example.org`)).status).toBe(404)
  })

  test('of somebody with an account make a member at once', async () => {
    const { id } = await group()
    const ben = await person()
    const sent = await ana.post(`/groups/${id}/invitations`, {
      email: `${ben.username}@example.com`,
      access_level: 20,
    })
    expect(sent.body).toEqual({ status: 'success' })
    expect((await ana.get(`/groups/${id}/members/${ben.id}`)).body.access_level).toBe(20)
    const again = await ana.post(`/groups/${id}/invitations`, { user_id: ben.id, access_level: 20 })
    expect(again.body).toEqual({
      status: 'error',
      message: { [ben.username]: 'Member already exists' },
    })
  })
})

describe('billable members', () => {
  test('are counted once, shown with the first membership that fits, and removed by a task', async () => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const inside = await project({ namespace_id: sub.id })
    const invited = await group()
    const [ben, cay, dee, eve] = [await person(), await person(), await person(), await person()]
    await add(sub.id, ben, 30)
    await ana.post(`/projects/${inside.id}/members`, { user_id: cay.id, access_level: 20 })
    await add(invited.id, dee, 40)
    await ana.post(`/groups/${sub.id}/share`, { group_id: invited.id, group_access: 20 })
    await add(top.id, eve, 10)
    const { status, body } = await ana.get(`/groups/${top.id}/billable_members`)
    expect(status).toBe(200)
    const types = body.map((one: Record<string, unknown>) => [
      one.username,
      one.membership_type,
      one.removable,
      one.is_last_owner,
    ])
    expect(types).toEqual([
      ['ana', 'group_member', true, true],
      [ben.username, 'group_member', true, false],
      [cay.username, 'project_member', true, false],
      [dee.username, 'group_invite', false, false],
    ])
    const sorted = await ana.get(`/groups/${top.id}/billable_members?sort=name_desc&per_page=1`)
    expect([sorted.body[0].username, sorted.headers.get('x-total')]).toEqual([dee.username, '4'])
    const direct = await ana.get(`/groups/${top.id}/billable_members/${cay.id}/memberships`)
    expect(direct.body).toMatchObject([
      {
        source_id: inside.id,
        source_full_name: `${top.name} / ${sub.name} / ${inside.name}`,
        access_level: { string_value: 'Reporter', integer_value: 20 },
      },
    ])
    const indirect = await ana.get(`/groups/${top.id}/billable_members/${dee.id}/indirect`)
    expect(indirect.body).toMatchObject([{ source_id: invited.id }])
    const same = await ana.get(`/groups/${top.id}/members/${dee.id}/indirect`)
    expect(same.body).toEqual(indirect.body)
    expect((await ana.get(`/groups/${top.id}/provisioned_users`)).body).toEqual([])
    expect((await ana.delete(`/groups/${top.id}/billable_members/${ben.id}`)).status).toBe(204)
    await world.runTasks()
    expect((await ben.get(`/groups/${sub.id}`)).status).toBe(404)
    expect((await ana.delete(`/groups/${top.id}/billable_members/${ana.id}`)).status).toBe(400)
  })

  test('refusals are 400: subgroups and missing rights', async () => {
    const top = await group({ visibility: 'public' })
    const sub = await group({ parent_id: top.id })
    const stranger = await person()
    for (const [caller, id] of [
      [stranger, top.id],
      [ana, sub.id],
    ] as const) {
      for (const path of ['billable_members', 'pending_members']) {
        const reply = await caller.get(`/groups/${id}/${path}`)
        expect([reply.status, reply.body]).toEqual(
          caller === stranger || id === sub.id ? [400, { message: '400 Bad request' }] : [200, []],
        )
      }
    }
    const none = await ana.get(`/groups/${top.id}/billable_members/9999/memberships`)
    expect([none.status, none.body]).toEqual([404, { message: '404 Not found' }])
    const other = await ana.get(`/groups/${top.id}/billable_members/${stranger.id}/memberships`)
    expect([other.status, other.body]).toEqual([404, { message: '404 User Not Found' }])
    expect((await ana.get(`/groups/${top.id}/billable_members?sort=x`)).status).toBe(400)
  })

  test('a member who waits has no access until approved', async () => {
    const top = await group()
    const ben = await person()
    await add(top.id, ben, 30)
    const state = (user: Caller, value: string) =>
      ana.put(`/groups/${top.id}/members/${user.id}/state`, { state: value })
    expect((await state(ben, 'awaiting')).body).toEqual({ success: true })
    expect((await ben.get(`/groups/${top.id}`)).status).toBe(404)
    const pending = await ana.get(`/groups/${top.id}/pending_members`)
    expect(pending.body).toMatchObject([
      { username: ben.username, approved: false, invited: false },
    ])
    const own = await state(ana, 'awaiting')
    expect([own.status, own.body.message]).toEqual([422, 'You cannot set yourself to awaiting'])
    const member = pending.body[0].id
    expect((await ana.put(`/groups/${top.id}/members/${member}/approve`)).status).toBe(204)
    expect((await ben.get(`/groups/${top.id}`)).status).toBe(200)
    expect((await ana.put(`/groups/${top.id}/members/999999/approve`)).status).toBe(404)
    expect((await ana.post(`/groups/${top.id}/members/approve_all`)).status).toBe(204)
    expect((await ana.post(`/groups/${top.id}/members/${ben.id}/override`)).status).toBe(403)
  })
})
