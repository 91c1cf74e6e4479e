import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openReceiver, type Receiver } from '../../notifications/hooks/receiver.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')
let receiver: Receiver
let count = 0
beforeAll(async () => {
  receiver = await openReceiver()
  expect((await world.root.post('/hooks', { url: receiver.url })).status).toBe(201)
})
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.received.length = 0
})

async function person() {
  count += 1
  return await world.user(`user-${count}`)
}

async function made(kind: 'groups' | 'projects', more: Record<string, unknown> = {}) {
  count += 1
  const named = { name: `x${count}`, path: `x${count}`, ...more }
  const { status, body } = await ana.post(`/${kind}`, named)
  expect([status, body.message]).toEqual([201, undefined])
  return body as { id: number; full_path: string }
}

const add = async (source: string, user: Caller, access_level: number, more = {}) => {
  const reply = await ana.post(`${source}/members`, { user_id: user.id, access_level, ...more })
  expect([reply.status, reply.body.message]).toEqual([201, undefined])
}

/** Which of these events of members the hooks of the instance were sent, with the places they name. */
async function eventsNamed(...names: string[]) {
  await world.runTasks()
  const found = receiver.received
    .map(({ body }) => body)
    .filter((one) => names.includes(one.event_name))
    .map((one) => [one.event_name, one.user_username, one.project_id ?? one.group_id])
  receiver.received.length = 0
  return found.toSorted((a, b) => String(a).localeCompare(String(b)))
}

async function audited(source: string, action: string) {
  const { body } = await ana.get(`${source}/audit_events?per_page=100`)
  return body
    .filter((one: { event_name: string }) => one.event_name === action)
    .map((one: { author_id: number; details: Record<string, unknown> }) => ({
      author_id: one.author_id,
      user_id: one.details.user_id,
      access_level: one.details.access_level,
    }))
}

async function feed(projectId: number, action: string) {
  const { body } = await ana.get(`/projects/${projectId}/events?action=${action}`)
  return body.map((one: { author_username: string }) => one.author_username)
}

/** A group with a subgroup and a project in it, and one person who is a member of all three. */
async function hierarchy() {
  const top = await made('groups')
  const sub = await made('groups', { parent_id: top.id })
  const project = await made('projects', { namespace_id: sub.id })
  const ben = await person()
  for (const source of [`/groups/${top.id}`, `/groups/${sub.id}`, `/projects/${project.id}`])
    await add(source, ben, 30)
  await eventsNamed()
  return { top, sub, project, ben }
}

describe('who leaves a group', () => {
  test('leaves everything below it, on the record of each place', async () => {
    const { top, sub, project, ben } = await hierarchy()
    expect((await ana.delete(`/groups/${top.id}/members/${ben.id}`)).status).toBe(204)
    const entry = [{ author_id: ana.id, user_id: ben.id, access_level: 30 }]
    for (const source of [`/groups/${top.id}`, `/groups/${sub.id}`, `/projects/${project.id}`])
      expect(await audited(source, 'member_removed')).toEqual(entry)
    expect(await feed(project.id, 'left')).toEqual([ben.username])
    expect(await eventsNamed('user_remove_from_group', 'user_remove_from_team')).toEqual([
      ['user_remove_from_group', ben.username, top.id],
      ['user_remove_from_group', ben.username, sub.id],
      ['user_remove_from_team', ben.username, project.id],
    ])
  })

  test('leaves nothing else when what lies below is to be kept', async () => {
    const { top, sub, project, ben } = await hierarchy()
    const reply = await ana.delete(`/groups/${top.id}/members/${ben.id}?skip_subresources=true`)
    expect(reply.status).toBe(204)
    expect(await audited(`/groups/${sub.id}`, 'member_removed')).toEqual([])
    expect(await feed(project.id, 'left')).toEqual([])
    expect(await eventsNamed('user_remove_from_group', 'user_remove_from_team')).toEqual([
      ['user_remove_from_group', ben.username, top.id],
    ])
    expect((await ben.get(`/projects/${project.id}`)).status).toBe(200)
  })

  test('takes pending requests and sent invitations along, which were no memberships', async () => {
    const top = await made('groups', { visibility: 'public' })
    const sub = await made('groups', { parent_id: top.id, visibility: 'public' })
    const ben = await person()
    expect((await ben.post(`/groups/${sub.id}/access_requests`)).status).toBe(201)
    await add(`/groups/${top.id}`, ben, 50)
    const invited = { email: 'friend@example.org', access_level: 30 }
    for (const { id } of [top, sub])
      expect((await ben.post(`/groups/${id}/invitations`, invited)).body).toEqual({
        status: 'success',
      })
    const byAna = { email: 'other@example.org', access_level: 30 }
    await ana.post(`/groups/${sub.id}/invitations`, byAna)
    expect((await ana.delete(`/groups/${top.id}/members/${ben.id}`)).status).toBe(204)
    expect((await ana.get(`/groups/${sub.id}/access_requests`)).body).toEqual([])
    expect((await ana.get(`/groups/${top.id}/invitations`)).body).toEqual([])
    expect((await ana.get(`/groups/${sub.id}/invitations`)).body).toMatchObject([
      { invite_email: 'other@example.org' },
    ])
    expect(await audited(`/groups/${sub.id}`, 'member_removed')).toEqual([])
  })
})

test('who is removed as billable is on the record of each place that was left', async () => {
  const { top, sub, project, ben } = await hierarchy()
  expect((await ana.delete(`/groups/${top.id}/billable_members/${ben.id}`)).status).toBe(204)
  await world.runTasks()
  for (const source of [`/groups/${top.id}`, `/groups/${sub.id}`, `/projects/${project.id}`])
    expect(await audited(source, 'member_removed')).toMatchObject([{ user_id: ben.id }])
  expect(await feed(project.id, 'left')).toEqual([ben.username])
  expect(await eventsNamed('user_remove_from_group', 'user_remove_from_team')).toHaveLength(3)
})

describe('an invitation', () => {
  const join = async (email: string) => {
    count += 1
    const { status, body } = await world.root.post('/users', {
      email,
      name: 'New',
      username: `new-${count}`,
      force_random_password: true,
      skip_confirmation: true,
    })
    expect(status).toBe(201)
    return body as { id: number; username: string }
  }

  test('that is accepted is a joining like any other', async () => {
    const project = await made('projects')
    const group = await made('groups')
    const email = `late-${count}@example.org`
    for (const source of [`/projects/${project.id}`, `/groups/${group.id}`])
      await ana.post(`${source}/invitations`, { email, access_level: 20 })
    const user = await join(email)
    for (const source of [`/projects/${project.id}`, `/groups/${group.id}`])
      expect(await audited(source, 'member_added')).toContainEqual(
        expect.objectContaining({ user_id: user.id, access_level: 20 }),
      )
    expect(await feed(project.id, 'joined')).toEqual([user.username])
    expect(await eventsNamed('user_add_to_group', 'user_add_to_team')).toEqual(
      expect.arrayContaining([
        ['user_add_to_group', user.username, group.id],
        ['user_add_to_team', user.username, project.id],
      ]),
    )
  })

  test('that has ended before anybody came makes no member', async () => {
    const project = await made('projects')
    const email = `too-late-${count}@example.org`
    const invited = { email, access_level: 20, expires_at: '2026-05-06' }
    await ana.post(`/projects/${project.id}/invitations`, invited)
    world.setNow('2026-05-06T00:00:00.000Z')
    const user = await join(email)
    expect(await feed(project.id, 'joined')).toEqual([])
    world.setNow('2026-05-04T10:00:00.000Z')
    expect((await ana.get(`/projects/${project.id}/members/${user.id}`)).status).toBe(404)
  })

  test('does not count as membership in the place that it is to', async () => {
    const group = await made('groups')
    await ana.post(`/groups/${group.id}/invitations`, {
      email: 'nobody-yet@example.org',
      access_level: 50,
    })
    for (const list of ['members', 'members/all'])
      expect((await ana.get(`/groups/${group.id}/${list}`)).body).toHaveLength(1)
    // The only owner stays, whoever else may come.
    expect((await ana.delete(`/groups/${group.id}/members/${ana.id}`)).status).toBe(403)
  })

  test('to an address that somebody has not confirmed waits until that is done', async () => {
    const group = await made('groups')
    await world.root.put('/application/settings', { email_confirmation_setting: 'hard' })
    count += 1
    const email = `unsure-${count}@example.org`
    const { body: user } = await world.root.post('/users', {
      email,
      name: 'Unsure',
      username: `unsure-${count}`,
      force_random_password: true,
    })
    expect(user.confirmed_at).toBeNull()
    const sent = await ana.post(`/groups/${group.id}/invitations`, { email, access_level: 30 })
    expect(sent.body).toEqual({ status: 'success' })
    const one = `/groups/${group.id}/members/${user.id}`
    expect((await ana.get(one)).status).toBe(404)
    const waiting = await ana.get(`/groups/${group.id}/invitations`)
    expect(waiting.body).toMatchObject([{ invite_email: email }])
    await world.root.put('/application/settings', { email_confirmation_setting: 'off' })
  })

  test.each(['projects', 'groups'] as const)(
    'is not for a service account of %s, which has any address that it is given',
    async (kind) => {
      const group = await made('groups')
      const email = `guest-of-${kind}@example.org`
      await ana.post(`/groups/${group.id}/invitations`, { email, access_level: 50 })
      const stranger = await world.user(`stranger-of-${kind}`)
      const own = (await stranger.post(`/${kind}`, { name: 'own', path: `own-${kind}` })).body
      const accounts = `/${kind}/${own.id}/service_accounts`
      const { status, body: account } = await stranger.post(accounts, { email })
      expect([status, account.email]).toEqual([201, email])
      expect((await ana.get(`/groups/${group.id}/members/${account.id}`)).status).toBe(404)
      const waiting = await ana.get(`/groups/${group.id}/invitations`)
      expect(waiting.body).toMatchObject([{ invite_email: email }])
    },
  )

  test('goes to one address once, however it is spelled', async () => {
    const group = await made('groups')
    const path = `/groups/${group.id}/invitations`
    const sent = await ana.post(path, { email: 'Who@Example.org', access_level: 30 })
    expect(sent.body).toEqual({ status: 'success' })
    const again = await ana.post(path, { email: 'who@example.org', access_level: 30 })
    expect(again.body).toEqual({
      status: 'error',
      message: { 'who@example.org': 'The member invite has already been sent' },
    })
    const one = `${path}/${encodeURIComponent('WHO@example.ORG')}`
    expect((await ana.put(one, { access_level: 20 })).body.access_level).toBe(20)
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(path)).body).toEqual([])
  })

  test('is above no one who changes it', async () => {
    const project = await made('projects')
    const cay = await person()
    await add(`/projects/${project.id}`, cay, 40)
    const path = `/projects/${project.id}/invitations`
    await ana.post(path, { email: 'boss@example.org', access_level: 50 })
    const one = `${path}/${encodeURIComponent('boss@example.org')}`
    expect((await cay.put(one, { expires_at: '2026-08-01' })).status).toBe(403)
    expect((await cay.put(one, { access_level: 30 })).body.access_level).toBe(30)
    expect((await cay.put(one, { access_level: 50 })).status).toBe(403)
    expect((await cay.delete(one)).status).toBe(204)
  })
})

describe('a request for access', () => {
  const pending = async () =>
    (await ana.get('/todos')).body
      .filter((one: { action_name: string }) => one.action_name === 'member_access_requested')
      .map((one: { author: { id: number } }) => one.author.id)

  test.each(['projects', 'groups'] as const)(
    'of %s that somebody answers by adding the user needs no other answer',
    async (kind) => {
      const { id } = await made(kind, { visibility: 'public' })
      const ben = await person()
      await ben.post(`/${kind}/${id}/access_requests`)
      expect(await pending()).toContain(ben.id)
      await add(`/${kind}/${id}`, ben, 20)
      expect(await pending()).not.toContain(ben.id)
    },
  )

  test('that is withdrawn, denied or approved needs no answer either', async () => {
    const { id } = await made('groups', { visibility: 'public' })
    const path = `/groups/${id}/access_requests`
    const ben = await person()
    const ends: (() => ReturnType<Caller['get']>)[] = [
      () => ben.delete(`${path}/${ben.id}`),
      () => ana.delete(`${path}/${ben.id}`),
      () => ana.put(`${path}/${ben.id}/approve`),
    ]
    for (const end of ends) {
      await ben.post(path)
      expect(await pending()).toContain(ben.id)
      expect((await end()).status).toBeLessThan(300)
      expect(await pending()).not.toContain(ben.id)
    }
  })

  test('of the bot of a token is refused, as bots stay where they are', async () => {
    const home = await made('projects')
    const { id } = await made('groups', { visibility: 'public' })
    const token = await ana.post(`/projects/${home.id}/access_tokens`, {
      name: 'bot',
      scopes: ['api'],
    })
    const reply = await world.as(token.body.token).post(`/groups/${id}/access_requests`)
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: { user_id: ['project bots cannot be added to other groups / projects'] } },
    ])
    expect((await ana.get(`/groups/${id}/access_requests`)).body).toEqual([])
  })

  test('that is approved and denied at once ends in one of both', async () => {
    for (const round of [1, 2, 3, 4]) {
      const { id } = await made('groups', { visibility: 'public' })
      const ben = await person()
      const path = `/groups/${id}/access_requests`
      await ben.post(path)
      const calls = [
        () => ana.put(`${path}/${ben.id}/approve`),
        () => world.root.delete(`${path}/${ben.id}`),
      ]
      if (round % 2 === 0) calls.reverse()
      const statuses = (await Promise.all(calls.map((call) => call()))).map((one) => one.status)
      const approved = statuses.includes(201)
      expect(statuses.toSorted()).toEqual(approved ? [201, 404] : [204, 404])
      const member = await ana.get(`/groups/${id}/members/${ben.id}`)
      expect(member.status).toBe(approved ? 200 : 404)
    }
  })

  test('that is approved is a joining, by who approved it', async () => {
    const { id } = await made('projects', { visibility: 'public' })
    const ben = await person()
    await ben.post(`/projects/${id}/access_requests`)
    await ana.put(`/projects/${id}/access_requests/${ben.id}/approve`, { access_level: 20 })
    expect(await audited(`/projects/${id}`, 'member_added')).toEqual([
      { author_id: ana.id, user_id: ben.id, access_level: 20 },
    ])
    const member = (await ana.get(`/projects/${id}/members/${ben.id}`)).body
    expect(member.created_by).toMatchObject({ username: 'ana' })
    expect(await feed(id, 'joined')).toEqual([ben.username])
  })
})
