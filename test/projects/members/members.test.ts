import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

async function person(name = 'user') {
  count += 1
  return await world.user(`${name}-${count}`)
}

async function group(owner: Caller, more: Record<string, unknown> = {}) {
  count += 1
  const path = `g${count}`
  return createGroup(owner, path, more)
}

async function project(owner: Caller, more: Record<string, unknown> = {}) {
  count += 1
  return createProject(owner, `p${count}`, more)
}

async function add(by: Caller, source: string, user: Caller, access_level: number) {
  const reply = await by.post(`${source}/members`, { user_id: user.id, access_level })
  expect([reply.status, reply.body.message]).toEqual([201, undefined])
  return reply.body
}

const levels = (reply: { body: { username: string; access_level: number }[] }) =>
  Object.fromEntries(reply.body.map((one) => [one.username, one.access_level]))

describe('adding a member', () => {
  test('answers the member with who added it', async () => {
    const ben = await person('ben')
    const { id } = await group(ana)
    const body = await add(ana, `/groups/${id}`, ben, 30)
    expect(body).toMatchObject({
      id: ben.id,
      username: ben.username,
      access_level: 30,
      created_by: { username: 'ana' },
      expires_at: null,
      membership_state: 'active',
      state: 'active',
    })
    expect((await ben.get(`/groups/${id}`)).status).toBe(200)
  })

  test('asks for a level and for exactly one kind of user', async () => {
    const { id } = await group(ana)
    const path = `/groups/${id}/members`
    expect((await ana.post(path, { user_id: 1 })).body).toEqual({
      error: 'access_level is missing',
    })
    expect((await ana.post(path, { access_level: 10 })).body).toEqual({
      error: 'user_id, username are missing, at least one parameter must be provided',
    })
    expect((await ana.post(path, { access_level: 10, user_id: 1, username: 'x' })).body).toEqual({
      error: 'user_id, username are mutually exclusive',
    })
  })

  test('nobody is 401, also on a public source; a hidden one is 404', async () => {
    const { id } = await group(ana, { visibility: 'public' })
    expect((await world.nobody.get(`/groups/${id}/members`)).status).toBe(401)
    expect((await world.nobody.post(`/groups/${id}/members`, {})).status).toBe(401)
    const secret = await group(ana)
    const stranger = await person()
    expect((await stranger.get(`/groups/${secret.id}/members`)).body).toEqual({
      message: '404 Group Not Found',
    })
  })

  test('an unknown user is 404 and a member 409 even for a caller without rights', async () => {
    const { id } = await group(ana, { visibility: 'public' })
    const stranger = await person()
    const unknown = await stranger.post(`/groups/${id}/members`, {
      user_id: 9999,
      access_level: 10,
    })
    expect([unknown.status, unknown.body]).toEqual([404, { message: '404 User Not Found' }])
    const member = await stranger.post(`/groups/${id}/members`, {
      user_id: ana.id,
      access_level: 10,
    })
    expect([member.status, member.body]).toEqual([409, { message: 'Member already exists' }])
    const own = await stranger.post(`/groups/${id}/members`, {
      username: stranger.username,
      access_level: 10,
    })
    expect([own.status, own.body]).toEqual([403, { message: '403 Forbidden' }])
  })

  test('a level must be known, no lower than the inherited one, and end in the future', async () => {
    const top = await group(ana)
    const sub = await group(ana, { parent_id: top.id })
    const ben = await person('ben')
    await add(ana, `/groups/${top.id}`, ben, 30)
    const path = `/groups/${sub.id}/members`
    const give = async (access_level: number, more = {}) =>
      (await ana.post(path, { user_id: ben.id, access_level, ...more })).body.message
    expect(await give(35)).toEqual({ access_level: ['is not included in the list'] })
    expect(await give(20)).toEqual({
      access_level: [
        `should be greater than or equal to Developer inherited membership from group ${top.name}`,
      ],
    })
    expect(await give(40, { expires_at: '2026-05-04' })).toEqual({
      expires_at: ['cannot be a date in the past'],
    })
    expect(await give(30)).toBeUndefined()
  })

  test('a maintainer of a project gives no owner, and touches none', async () => {
    const { id } = await project(ana)
    const [ben, cay] = [await person('ben'), await person('cay')]
    await add(ana, `/projects/${id}`, ben, 40)
    const path = `/projects/${id}/members`
    expect((await ben.post(path, { user_id: cay.id, access_level: 50 })).status).toBe(403)
    expect((await ben.put(`${path}/${ana.id}`, { access_level: 30 })).status).toBe(403)
    expect((await ben.delete(`${path}/${ana.id}`)).status).toBe(403)
    expect((await ben.post(path, { user_id: cay.id, access_level: 40 })).status).toBe(201)
  })

  test('several at once is 201 in every case, and the good ones are added', async () => {
    const { id } = await group(ana)
    const [ben, cay] = [await person(), await person()]
    const path = `/groups/${id}/members`
    const good = await ana.post(path, { user_id: `${ben.id},${cay.id}`, access_level: 20 })
    expect([good.status, good.body]).toEqual([201, { status: 'success' }])
    const dee = await person()
    const mixed = await ana.post(path, { user_id: [ben.id, dee.id], access_level: 20 })
    expect([mixed.status, mixed.body]).toEqual([
      201,
      { status: 'error', message: { [ben.username]: 'Member already exists' } },
    ])
    expect(levels(await ana.get(path))).toMatchObject({ [dee.username]: 20, [cay.username]: 20 })
    const many = await ana.post(path, {
      user_id: Array.from({ length: 101 }, (_, index) => index + 1).join(','),
      access_level: 20,
    })
    expect(many.body).toEqual({
      status: 'error',
      message: 'Too many users specified (limit is 100)',
    })
  })

  test('bots of tokens cannot be added elsewhere', async () => {
    const bot = await person('bot')
    await world.ctx.db
      .updateTable('users')
      .set({ kind: 'project_bot' })
      .where('id', '=', bot.id)
      .execute()
    const { id } = await group(ana)
    const reply = await ana.post(`/groups/${id}/members`, { user_id: bot.id, access_level: 20 })
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: { user_id: ['project bots cannot be added to other groups / projects'] } },
    ])
  })
})

describe('listing members', () => {
  test('all holds each user once with the highest level: own, inherited, invited', async () => {
    const top = await group(ana)
    const sub = await group(ana, { parent_id: top.id })
    const { id } = await project(ana, { namespace_id: sub.id })
    const invited = await group(ana)
    const [ben, cay, dee] = [await person(), await person(), await person()]
    await add(ana, `/groups/${top.id}`, ben, 20)
    await add(ana, `/projects/${id}`, ben, 30)
    await add(ana, `/groups/${invited.id}`, cay, 40)
    await add(ana, `/groups/${top.id}`, dee, 10)
    const now = world.ctx.now()
    await world.ctx.db
      .insertInto('group_links')
      .values({
        source_type: 'group',
        source_id: sub.id,
        group_id: invited.id,
        access_level: 20,
        created_at: now,
      })
      .execute()
    expect(levels(await ana.get(`/projects/${id}/members`))).toEqual({ [ben.username]: 30 })
    expect(levels(await ana.get(`/projects/${id}/members/all`))).toEqual({
      ana: 50,
      [ben.username]: 30,
      [cay.username]: 20,
      [dee.username]: 10,
    })
    expect((await ana.get(`/projects/${id}/members/all/${cay.id}`)).body.access_level).toBe(20)
    expect((await ana.get(`/projects/${id}/members/${cay.id}`)).status).toBe(404)
    const one = await ana.get(`/projects/${id}/members/all?query=${cay.username}&per_page=1`)
    expect([one.body.length, one.headers.get('x-total')]).toEqual([1, '1'])
    const some = await ana.get(`/groups/${top.id}/members?user_ids=${ben.id}&skip_users=${dee.id}`)
    expect(levels(some)).toEqual({ [ben.username]: 20 })
  })

  test('members of an invited private group are hidden from who is in neither group', async () => {
    const shown = await group(ana, { visibility: 'public' })
    const hidden = await group(ana)
    const ben = await person()
    await add(ana, `/groups/${hidden.id}`, ben, 30)
    await world.ctx.db
      .insertInto('group_links')
      .values({
        source_type: 'group',
        source_id: shown.id,
        group_id: hidden.id,
        access_level: 30,
        created_at: world.ctx.now(),
      })
      .execute()
    const stranger = await person()
    expect(levels(await stranger.get(`/groups/${shown.id}/members/all`))).toEqual({ ana: 50 })
    expect(levels(await ana.get(`/groups/${shown.id}/members/all`))).toEqual({
      ana: 50,
      [ben.username]: 30,
    })
  })

  test('a membership that ends today has ended at once, and can be given anew', async () => {
    const { id } = await group(ana)
    const ben = await person()
    const path = `/groups/${id}/members`
    await ana.post(path, { user_id: ben.id, access_level: 30, expires_at: '2026-05-06' })
    expect((await ben.get(`/groups/${id}`)).status).toBe(200)
    world.setNow('2026-05-06T00:00:00.000Z')
    expect((await ben.get(`/groups/${id}`)).status).toBe(404)
    expect((await ana.get(`${path}/${ben.id}`)).status).toBe(404)
    expect(levels(await ana.get(path))).toEqual({ ana: 50 })
    await add(ana, `/groups/${id}`, ben, 20)
    expect((await ana.get(`${path}/${ben.id}`)).body).toMatchObject({
      access_level: 20,
      expires_at: null,
    })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('seats are shown when asked, and guests take none', async () => {
    const { id } = await group(ana)
    const ben = await person()
    await add(ana, `/groups/${id}`, ben, 10)
    const { body } = await ana.get(`/groups/${id}/members?show_seat_info=true`)
    const seats = body.map((one: { is_using_seat: boolean }) => one.is_using_seat)
    expect(seats).toEqual([true, false])
    expect((await ana.get(`/groups/${id}/members`)).body[0].is_using_seat).toBeUndefined()
  })
})

describe('changing and removing members', () => {
  test('a level is changed, 404 comes before 403', async () => {
    const { id } = await group(ana, { visibility: 'public' })
    const [ben, stranger] = [await person(), await person()]
    await add(ana, `/groups/${id}`, ben, 20)
    const path = `/groups/${id}/members`
    const changed = await ana.put(`${path}/${ben.id}`, {
      access_level: 30,
      expires_at: '2027-01-01',
      member_role_id: null,
    })
    expect([changed.status, changed.body.access_level, changed.body.expires_at]).toEqual([
      200,
      30,
      '2027-01-01',
    ])
    const kept = await ana.put(`${path}/${ben.id}`, { access_level: 20 })
    expect(kept.body.expires_at).toBe('2027-01-01')
    const cleared = await ana.put(`${path}/${ben.id}`, { access_level: 20, expires_at: '' })
    expect(cleared.body.expires_at).toBeNull()
    const unknown = await stranger.put(`${path}/${stranger.id}`, { access_level: 20 })
    expect([unknown.status, unknown.body]).toEqual([404, { message: '404 Not found' }])
    expect((await stranger.put(`${path}/${ben.id}`, { access_level: 10 })).status).toBe(403)
  })

  test('the last owner neither leaves nor steps down', async () => {
    const { id } = await group(ana)
    const path = `/groups/${id}/members/${ana.id}`
    expect((await ana.put(path, { access_level: 40 })).status).toBe(403)
    expect((await ana.delete(path)).status).toBe(403)
    const ending = { access_level: 50, expires_at: '2027-01-01' }
    expect((await ana.put(path, ending)).status).toBe(403)
    expect((await ana.get(path)).body.expires_at).toBeNull()
    const ben = await person()
    await add(ana, `/groups/${id}`, ben, 50)
    expect((await ana.delete(path)).status).toBe(204)
  })

  test('two owners who are deleted at once leave one', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [ben, cay] = [await person(), await person()]
      const { id } = await group(ben)
      await add(ben, `/groups/${id}`, cay, 50)
      const replies = await Promise.all([
        world.root.delete(`/users/${ben.id}`),
        world.root.delete(`/users/${cay.id}`),
      ])
      expect(replies.map((reply) => reply.status).toSorted()).toEqual([204, 409])
    }
  })

  test('two owners who leave at once leave one', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await group(ana)
      const ben = await person()
      await add(ana, `/groups/${id}`, ben, 50)
      const replies = await Promise.all([
        ana.delete(`/groups/${id}/members/${ben.id}`),
        ben.delete(`/groups/${id}/members/${ana.id}`),
      ])
      expect(replies.map((reply) => reply.status).toSorted()).not.toEqual([204, 204])
      const left = await world.root.get(`/groups/${id}/members`)
      expect(
        left.body.filter((one: { access_level: number }) => one.access_level === 50),
      ).toHaveLength(1)
    }
  })

  test('the owner of a personal namespace stays in its projects', async () => {
    const { id } = await project(ana)
    expect((await ana.delete(`/projects/${id}/members/${ana.id}`)).status).toBe(403)
  })

  test('leaving a group ends memberships below it, unless the request says otherwise', async () => {
    const top = await group(ana)
    const sub = await group(ana, { parent_id: top.id })
    const { id } = await project(ana, { namespace_id: sub.id })
    const [ben, cay] = [await person(), await person()]
    for (const one of [ben, cay]) {
      await add(ana, `/groups/${top.id}`, one, 20)
      await add(ana, `/groups/${sub.id}`, one, 30)
      await add(ana, `/projects/${id}`, one, 40)
    }
    expect((await ben.delete(`/groups/${top.id}/members/${ben.id}`)).status).toBe(204)
    const kept = `/groups/${top.id}/members/${cay.id}?skip_subresources=true`
    expect((await ana.delete(kept)).status).toBe(204)
    expect(levels(await ana.get(`/projects/${id}/members/all`))).toEqual({
      ana: 50,
      [cay.username]: 40,
    })
  })

  test('a stale If-Unmodified-Since is 412 and changes nothing; a broken one is ignored', async () => {
    const { id } = await group(ana)
    const ben = await person()
    await add(ana, `/groups/${id}`, ben, 20)
    const cay = await person()
    await add(ana, `/groups/${id}`, cay, 20)
    const remove = (by: Caller, date: string) =>
      by.delete(`/groups/${id}/members/${ben.id}`, undefined, {
        headers: { 'If-Unmodified-Since': date },
      })
    const stale = await remove(ana, 'Mon, 04 May 2026 09:00:00 GMT')
    expect([stale.status, stale.body]).toEqual([412, { message: '412 Precondition Failed' }])
    // Also who may not remove others gets this answer first.
    expect((await remove(cay, 'Mon, 04 May 2026 09:00:00 GMT')).status).toBe(412)
    expect((await remove(cay, 'yesterday')).status).toBe(403)
    expect((await remove(ana, 'yesterday')).status).toBe(204)
  })
})

describe('what follows from membership', () => {
  test('who leaves is taken off what they were responsible for, when asked', async () => {
    const top = await group(ana)
    const { id } = await project(ana, { namespace_id: top.id })
    const ben = await person()
    await add(ana, `/groups/${top.id}`, ben, 30)
    const body = { title: 'to do', assignee_ids: [ben.id] }
    const issue = await ana.post(`/projects/${id}/issues`, body)
    expect(issue.body.assignees).toHaveLength(1)
    await ana.delete(`/groups/${top.id}/members/${ben.id}?unassign_issuables=true`)
    await world.runTasks()
    const after = await ana.get(`/projects/${id}/issues/${issue.body.iid}`)
    expect(after.body.assignees).toEqual([])
  })

  test('coming and going stand in the audit trail and in the feed', async () => {
    const { id } = await project(ana)
    const ben = await person()
    await add(ana, `/projects/${id}`, ben, 30)
    await ana.put(`/projects/${id}/members/${ben.id}`, { access_level: 40 })
    await ana.delete(`/projects/${id}/members/${ben.id}`)
    const trail = await world.ctx.db
      .selectFrom('audit_events')
      .select(['action', 'author_id'])
      .where('entity_type', '=', 'Project')
      .where('entity_id', '=', id)
      .orderBy('id')
      .execute()
    expect(trail.map((row) => row.action)).toEqual([
      'project_created',
      'member_added',
      'member_changed',
      'member_removed',
    ])
    expect(new Set(trail.map((row) => row.author_id))).toEqual(new Set([ana.id]))
    const feed = await world.ctx.db
      .selectFrom('events')
      .select(['action_name', 'author_id'])
      .where('project_id', '=', id)
      .orderBy('id')
      .execute()
    expect(feed).toEqual([
      { action_name: 'created', author_id: ana.id },
      { action_name: 'joined', author_id: ben.id },
      { action_name: 'left', author_id: ben.id },
    ])
  })
})
