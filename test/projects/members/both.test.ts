import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')
const dan = useCaller(world, 'dan')
let count = 0
/** `/projects/7` or `/groups/7`, made anew for each test. */
let place: string
beforeAll(async () => {
  await world.root.put(`/users/${cleo.id}`, { name: 'Benita', public_email: 'cleo@example.com' })
})

const namesOf = (reply: { body: { username: string }[] }) => reply.body.map((one) => one.username)

describe.each(['projects', 'groups'] as const)('members of %s', (kind) => {
  const noun = kind === 'projects' ? 'project' : 'group'
  beforeEach(async () => {
    count += 1
    const made = { name: `x${count}`, path: `x${count}`, visibility: 'public' }
    place = `/${kind}/${(await ana.post(`/${kind}`, made)).body.id}`
  })

  const add = (user: Caller, access_level: number, more = {}) =>
    ana.post(`${place}/members`, { user_id: user.id, access_level, ...more })

  test('are listed by id, narrowed and paged', async () => {
    for (const user of [dan, cleo, ben]) expect((await add(user, 20)).status).toBe(201)
    const list = async (query: string, form = '') =>
      namesOf(await ana.get(`${place}/members${form}?${query}`))
    for (const form of ['', '/all']) {
      expect(await list('', form)).toEqual(['ana', 'ben', 'cleo', 'dan'])
      expect(await list('query=BEN', form)).toEqual(['ben', 'cleo'])
      expect(await list('query=cleo@example.com', form)).toEqual(['cleo'])
      expect(await list('query=dan@example.com', form)).toEqual([])
      expect(await list('query=%25', form)).toEqual([])
      expect(await list(`user_ids[]=${ben.id}&user_ids[]=${dan.id}`, form)).toEqual(['ben', 'dan'])
      expect(await list(`user_ids=${ben.id},999999`, form)).toEqual(['ben'])
      expect(await list('per_page=2&page=2', form)).toEqual(['cleo', 'dan'])
    }
    expect(await list(`skip_users=${ana.id},${dan.id}`)).toEqual(['ben', 'cleo'])
    expect(await list('state=active', '/all')).toEqual(['ana', 'ben', 'cleo', 'dan'])
    expect(await list('state=awaiting', '/all')).toEqual([])
    const asked = await world.root.get(`${place}/members?query=dan@example.com`)
    expect(namesOf(asked)).toEqual(['dan'])
  })

  test.each([
    ['members?user_ids=x', 'user_ids is invalid'],
    ['members?skip_users[]=x', 'skip_users is invalid'],
    ['members?show_seat_info=x', 'show_seat_info is invalid'],
    ['members/all?state=x', 'state does not have a valid value'],
    ['members/x', 'user_id is invalid'],
  ])('are not found by %s', async (path, error) => {
    const reply = await ana.get(`${place}/${path}`)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('have one record of their own, the same in each answer', async () => {
    const made = await add(ben, 30, { expires_at: '2026-06-01' })
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        id: ben.id,
        username: 'ben',
        access_level: 30,
        expires_at: '2026-06-01',
        created_at: '2026-05-04T10:00:00.000Z',
        created_by: { id: ana.id, username: 'ana' },
        membership_state: 'active',
      },
    ])
    expect((await ana.get(`${place}/members/${ben.id}`)).body).toEqual(made.body)
    expect((await ana.get(`${place}/members/all/${ben.id}`)).body).toEqual(made.body)
    expect((await dan.get(`${place}/members?user_ids=${ben.id}`)).body).toEqual([made.body])
    const none = await ana.get(`${place}/members/${dan.id}`)
    expect([none.status, none.body]).toEqual([404, { message: '404 Not found' }])
  })

  test('are changed in level and end', async () => {
    await add(ben, 30, { expires_at: '2026-06-01' })
    const put = async (body: object) => await ana.put(`${place}/members/${ben.id}`, body)
    const raised = await put({ access_level: 40 })
    expect([raised.body.access_level, raised.body.expires_at]).toEqual([40, '2026-06-01'])
    const open = await put({ access_level: 40, expires_at: null })
    expect(open.body.expires_at).toBeNull()
    const ended = await put({ access_level: 20, expires_at: '2026-05-10' })
    expect(ended.body).toMatchObject({ access_level: 20, expires_at: '2026-05-10' })
    expect((await put({})).body).toEqual({ error: 'access_level is missing' })
    expect((await put({ access_level: 33 })).body).toEqual({
      message: { access_level: ['is not included in the list'] },
    })
    expect((await put({ access_level: 20, expires_at: '2026-05-03' })).body).toEqual({
      message: { expires_at: ['cannot be a date in the past'] },
    })
    expect((await ana.get(`${place}/members/${ben.id}`)).body).toEqual(ended.body)
    const stranger = await ana.put(`${place}/members/${dan.id}`, { access_level: 20 })
    expect(stranger.status).toBe(404)
  })

  test('have the role at once, and lose it at once', async () => {
    const may = async () => (await ben.put(place, { description: 'by ben' })).status === 200
    expect(await may()).toBe(false)
    await add(ben, kind === 'projects' ? 40 : 50)
    expect(await may()).toBe(true)
    await ana.put(`${place}/members/${ben.id}`, { access_level: 30 })
    expect(await may()).toBe(false)
    await ana.put(`${place}/members/${ben.id}`, { access_level: 50 })
    expect(await may()).toBe(true)
    expect((await ana.delete(`${place}/members/${ben.id}`)).status).toBe(204)
    expect(await may()).toBe(false)
    expect((await ana.delete(`${place}/members/${ben.id}`)).status).toBe(404)
  })

  test('may leave by themselves, and are not sent away by equals below owners', async () => {
    await add(ben, 30)
    await add(cleo, 30)
    const sent = await ben.delete(`${place}/members/${cleo.id}`)
    expect([sent.status, sent.body]).toEqual([403, { message: '403 Forbidden' }])
    expect((await ben.delete(`${place}/members/${ben.id}`)).status).toBe(204)
    expect(namesOf(await ana.get(`${place}/members`))).toEqual(['ana', 'cleo'])
  })

  test('are invited by address, several at once, and by id', async () => {
    const path = `${place}/invitations`
    const sent = await ana.post(path, {
      email: ['one@example.org', 'two@example.org'],
      user_id: `${ben.id}`,
      access_level: 20,
      expires_at: '2026-06-01',
    })
    expect([sent.status, sent.body]).toEqual([201, { status: 'success' }])
    expect((await ana.get(`${place}/members/${ben.id}`)).body).toMatchObject({
      access_level: 20,
      expires_at: '2026-06-01',
    })
    const emails = async (query: string) =>
      (await ana.get(`${path}?${query}`)).body.map(
        (one: { invite_email: string }) => one.invite_email,
      )
    expect(await emails('')).toEqual(['one@example.org', 'two@example.org'])
    expect(await emails('query=TWO')).toEqual(['two@example.org'])
    expect(await emails('query=none')).toEqual([])
    expect(await emails('per_page=1&page=2')).toEqual(['two@example.org'])
    const again = await ana.post(path, { email: 'one@example.org', access_level: 20 })
    expect([again.status, again.body.status]).toEqual([201, 'error'])
    expect(Object.keys(again.body.message)).toEqual(['one@example.org'])
    const one = `${path}/${encodeURIComponent('one@example.org')}`
    const changed = await ana.put(one, { access_level: 30, expires_at: null })
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { invite_email: 'one@example.org', access_level: 30, expires_at: null },
    ])
    expect((await ana.put(one, { access_level: 7 })).status).toBe(400)
    expect((await ana.put(one, { expires_at: '2026-05-01' })).status).toBe(400)
    expect((await ana.put(one, { expires_at: '2026-07-01' })).body).toMatchObject({
      access_level: 30,
      expires_at: '2026-07-01',
    })
    expect((await ben.get(path)).status).toBe(403)
    expect((await world.nobody.get(path)).status).toBe(401)
    const newcomer = await world.root.post('/users', {
      email: 'one@example.org',
      name: 'One',
      username: `one-${noun}`,
      force_random_password: true,
      skip_confirmation: true,
    })
    expect((await ana.get(`${place}/members/${newcomer.body.id}`)).body).toMatchObject({
      access_level: 30,
      expires_at: '2026-07-01',
    })
    expect(await emails('')).toEqual(['two@example.org'])
    await world.root.delete(`/users/${newcomer.body.id}`)
    await world.runTasks()
  })

  test('are not invited without an address, or with a wrong level', async () => {
    const path = `${place}/invitations`
    expect((await ana.post(path, { access_level: 30 })).body).toEqual({
      error: 'email, user_id are missing, at least one parameter must be provided',
    })
    expect((await ana.post(path, { email: 'a@example.org' })).body).toEqual({
      error: 'access_level is missing',
    })
    const wrong = await ana.post(path, { email: 'a@example.org', access_level: 33 })
    expect([wrong.status, wrong.body.status]).toEqual([201, 'error'])
    const past = { email: 'a@example.org', access_level: 30, expires_at: '2026-05-01' }
    expect((await ana.post(path, past)).body.status).toBe('error')
    expect((await ana.get(path)).body).toEqual([])
  })

  test('ask to come in, and are listed with when they asked', async () => {
    const path = `${place}/access_requests`
    const asked = await dan.post(path)
    expect([asked.status, asked.body]).toMatchObject([
      201,
      { id: dan.id, username: 'dan', requested_at: '2026-05-04T10:00:00.000Z' },
    ])
    const twice = await dan.post(path)
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { user_id: ['already exists in source'] } },
    ])
    expect((await dan.get(path)).status).toBe(403)
    expect((await ana.get(path)).body).toMatchObject([{ id: dan.id, locked: false }])
    expect((await ana.get(`${place}/members/${dan.id}`)).status).toBe(404)
    expect((await ana.delete(`${place}/members/${dan.id}`)).status).toBe(404)
    const odd = await ana.put(`${path}/${dan.id}/approve`, { access_level: 'x' })
    expect(odd.body).toEqual({ error: 'access_level is invalid' })
    const done = await ana.put(`${path}/${dan.id}/approve`, { access_level: 20 })
    expect([done.status, done.body]).toMatchObject([201, { id: dan.id, access_level: 20 }])
    expect((await ana.get(path)).body).toEqual([])
    expect((await dan.post(path)).status).toBe(403)
  })

  test('that are many are added one by one', async () => {
    const many = await ana.post(`${place}/members`, {
      user_id: [ben.id, cleo.id, 999_999],
      access_level: 30,
    })
    expect([many.status, many.body.status]).toEqual([201, 'error'])
    expect(Object.keys(many.body.message)).toEqual(['999999'])
    expect(namesOf(await ana.get(`${place}/members`))).toEqual(['ana', 'ben', 'cleo'])
    const byName = await ana.post(`${place}/members`, { username: 'dan,ben', access_level: 30 })
    expect(byName.body).toEqual({ status: 'error', message: { ben: 'Member already exists' } })
    expect(namesOf(await ana.get(`${place}/members`))).toContain('dan')
    const crowd = Array.from({ length: 101 }, (_, at) => at + 1).join(',')
    expect((await ana.post(`${place}/members`, { user_id: crowd, access_level: 30 })).body).toEqual(
      {
        status: 'error',
        message: 'Too many users specified (limit is 100)',
      },
    )
  })

  test('come with a group that is invited, at the lower of both levels', async () => {
    const team = await createGroup(ana, `team${count}`, { name: `team ${place}` })
    await ana.post(`/groups/${team.id}/members`, { user_id: dan.id, access_level: 40 })
    const share = { group_id: team.id, group_access: 30, expires_at: '2026-06-01' }
    expect((await ana.post(`${place}/share`, share)).status).toBe(201)
    expect((await ana.get(`${place}/members/all/${dan.id}`)).body.access_level).toBe(30)
    expect((await ana.get(`${place}/members/${dan.id}`)).status).toBe(404)
    const [link] = (await ana.get(place)).body.shared_with_groups
    expect(link).toMatchObject({
      group_id: team.id,
      group_access_level: 30,
      expires_at: '2026-06-01',
    })
    // The group is private: who is in neither does not see its people.
    expect((await cleo.get(`${place}/members/all/${dan.id}`)).status).toBe(404)
    world.setNow('2026-06-01T00:00:00.000Z')
    expect((await ana.get(`${place}/members/all/${dan.id}`)).status).toBe(404)
    expect((await ana.get(place)).body.shared_with_groups).toEqual([])
    world.setNow('2026-05-04T10:00:00.000Z')
    const past = { ...share, expires_at: '2026-05-01' }
    expect((await ana.post(`${place}/share`, past)).status).toBe(400)
    expect((await ana.delete(`${place}/share/${team.id}`)).status).toBe(204)
    expect((await ana.get(`${place}/members/all/${dan.id}`)).status).toBe(404)
  })
})
