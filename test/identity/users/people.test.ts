import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let ben: Caller
let cleo: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  world.setNow('2026-05-05T10:00:00.000Z')
  ben = await world.user('ben', { external: true })
  world.setNow('2026-05-06T10:00:00.000Z')
  cleo = await world.user('cleo')
  await root.put(`/users/${cleo.id}`, { name: 'A Cleo' })
})

async function names(caller: Caller, query: string, path = '/users'): Promise<string[]> {
  const { status, body } = await caller.get(`${path}?${query}`)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return body.map((one: { username: string }) => one.username)
}

describe('administrators list people', () => {
  test.each([
    ['', ['cleo', 'ben', 'ana', 'root']],
    ['sort=asc', ['root', 'ana', 'ben', 'cleo']],
    ['order_by=name&sort=asc', ['cleo', 'ana', 'ben', 'root']],
    ['order_by=username&sort=asc', ['ana', 'ben', 'cleo', 'root']],
    ['order_by=created_at&sort=desc', ['cleo', 'ben', 'ana', 'root']],
    ['order_by=updated_at&sort=desc&per_page=1', ['cleo']],
    ['external=true', ['ben']],
    ['exclude_external=true', ['cleo', 'ana', 'root']],
    ['admins=true', ['root']],
    ['auditors=true', []],
    ['two_factor=enabled', []],
    ['two_factor=disabled', ['cleo', 'ben', 'ana', 'root']],
    ['created_after=2026-05-05T10:00:00Z', ['cleo']],
    ['created_before=2026-05-05T10:00:00Z', ['ana', 'root']],
    ['search=CLE', ['cleo']],
    ['search=ben@example.com', ['ben']],
    ['username=ANA', ['ana']],
    ['username=an', []],
  ])('by %j', async (query, expected) => {
    expect(await names(root, query)).toEqual(expected)
  })

  test('by their state, without bots, and without those who have projects', async () => {
    const made = await createProject(ana, 'p')
    const token = { name: 'bot', scopes: ['api'], access_level: 30 }
    await ana.post(`/projects/${made.id}/access_tokens`, token)
    await root.post('/service_accounts', { username: 'service' })
    await root.post(`/users/${cleo.id}/block`)
    expect(await names(root, 'blocked=true')).toEqual(['cleo'])
    expect(await names(root, 'exclude_active=true')).toEqual(['cleo'])
    expect(await names(root, 'active=true&humans=true')).toEqual(['ben', 'ana', 'root'])
    expect(await names(root, 'humans=true')).toEqual(['cleo', 'ben', 'ana', 'root'])
    const others = await names(root, 'exclude_humans=true')
    expect(others).toHaveLength(2)
    expect(await names(root, 'exclude_humans=true&without_project_bots=true')).toEqual(['service'])
    expect(await names(root, 'without_projects=true&humans=true')).toEqual(['cleo', 'ben', 'root'])
    await root.post(`/users/${cleo.id}/unblock`)
    expect(await names(root, 'blocked=true')).toEqual([])
  })

  test.each([
    ['order_by=age', 'order_by does not have a valid value'],
    ['sort=up', 'sort does not have a valid value'],
    ['active=maybe', 'active is invalid'],
    ['two_factor=on', 'two_factor does not have a valid value'],
    ['created_after=then', 'created_after is invalid'],
  ])('not with %s', async (query, error) => {
    expect((await root.get(`/users?${query}`)).body).toEqual({ error })
  })

  test('by when they were last there', async () => {
    await ana.get('/user')
    const { body } = await root.get('/user/activities?from=2026-05-01')
    expect(body).toContainEqual({
      username: 'ana',
      last_activity_on: '2026-05-06',
      last_activity_at: '2026-05-06',
    })
    expect((await root.get('/user/activities?from=2026-05-07')).body).toEqual([])
    expect((await ana.get('/user/activities')).status).toBe(403)
  })
})

describe('everybody else', () => {
  test('sees the basics, in the order of ids, whatever is asked', async () => {
    const { body } = await ana.get('/users?username=ben')
    expect(body).toEqual([
      {
        id: ben.id,
        username: 'ben',
        name: 'ben',
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `${world.app.config.externalUrl}/ben`,
        public_email: '',
      },
    ])
    const order = 'order_by=name&sort=asc&admins=true&humans=true'
    expect(await names(ana, order)).toEqual(['cleo', 'ben', 'ana', 'root'])
    expect(await names(ana, 'search=ben@example.com')).toEqual([])
  })

  test('who is not signed in must name one', async () => {
    expect((await world.nobody.get('/users')).status).toBe(403)
    expect(await names(world.nobody, 'username=ana')).toEqual(['ana'])
  })
})

describe('following', () => {
  test('is counted and listed on both sides, once', async () => {
    const followed = await ana.post(`/users/${cleo.id}/follow`)
    expect([followed.status, followed.body]).toMatchObject([201, { username: 'cleo' }])
    expect((await ana.post(`/users/${cleo.id}/follow`)).status).toBe(304)
    expect((await ana.post(`/users/${ana.id}/follow`)).status).toBe(400)
    expect((await ana.post('/users/999999/follow')).status).toBe(404)
    expect((await world.nobody.post(`/users/${cleo.id}/follow`)).status).toBe(401)
    expect(await names(ben, '', `/users/${cleo.id}/followers`)).toEqual(['ana'])
    expect(await names(ben, '', '/users/ana/following')).toEqual(['cleo'])
    const seen = (await ana.get(`/users/${cleo.id}`)).body
    expect([seen.followers, seen.is_followed]).toEqual([1, true])
    expect((await ana.post(`/users/${cleo.id}/unfollow`)).status).toBe(201)
    expect((await ana.post(`/users/${cleo.id}/unfollow`)).status).toBe(304)
    expect(await names(ben, '', `/users/${cleo.id}/followers`)).toEqual([])
  })
})

describe('a status', () => {
  const plain = {
    emoji: null,
    message: null,
    availability: 'not_set',
    message_html: '',
    clear_status_at: null,
  }

  test('is set whole, or in part, and seen by anybody', async () => {
    expect((await ana.get('/user/status')).body).toEqual(plain)
    const set = await ana.put('/user/status', {
      emoji: 'coffee',
      message: '**out** :tea:',
      availability: 'busy',
    })
    expect([set.status, set.body]).toMatchObject([
      200,
      { emoji: 'coffee', message: '**out** :tea:', availability: 'busy' },
    ])
    expect((await world.nobody.get('/users/ana/status')).body).toEqual(set.body)
    const changed = await ana.patch('/user/status', { message: 'back' })
    expect(changed.body).toMatchObject({ emoji: 'coffee', message: 'back', availability: 'busy' })
    const whole = await ana.put('/user/status', { message: 'alone' })
    expect(whole.body).toMatchObject({ message: 'alone', availability: 'not_set' })
    expect((await world.nobody.get('/users/nobody-here/status')).status).toBe(404)
    expect((await world.nobody.get('/user/status')).status).toBe(401)
  })

  test.each([
    [{ availability: 'away' }, { error: 'availability does not have a valid value' }],
    [{ clear_status_after: '2_days' }, { error: 'clear_status_after does not have a valid value' }],
    [
      { message: 'x'.repeat(101) },
      { message: { message: ['is too long (maximum is 100 characters)'] } },
    ],
  ])('is not %j', async (body, answer) => {
    const reply = await ana.put('/user/status', body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test.each([
    ['30_minutes', '2026-05-06T10:30:00.000Z'],
    ['3_hours', '2026-05-06T13:00:00.000Z'],
    ['8_hours', '2026-05-06T18:00:00.000Z'],
    ['1_day', '2026-05-07T10:00:00.000Z'],
    ['3_days', '2026-05-09T10:00:00.000Z'],
    ['7_days', '2026-05-13T10:00:00.000Z'],
    ['30_days', '2026-06-05T10:00:00.000Z'],
  ])('clears itself after %s', async (clear_status_after, at) => {
    const body = { message: 'soon gone', clear_status_after }
    expect((await ana.put('/user/status', body)).body.clear_status_at).toBe(at)
    expect((await ana.patch('/user/status', { emoji: 'tea' })).body.clear_status_at).toBe(at)
    world.setNow(at)
    expect((await ben.get('/users/ana/status')).body).toEqual(plain)
    world.setNow('2026-05-06T10:00:00.000Z')
    const kept = await ana.patch('/user/status', { clear_status_after: null })
    expect(kept.body).toMatchObject({ message: 'soon gone', clear_status_at: null })
  })
})

describe('preferences', () => {
  test('are kept for each person', async () => {
    const before = (await ana.get('/user/preferences')).body
    expect(before).toMatchObject({
      user_id: ana.id,
      view_diffs_file_by_file: false,
      show_whitespace_in_diffs: true,
      pass_user_identities_to_ci_jwt: false,
    })
    const none = await ana.put('/user/preferences', {})
    expect([none.status, none.body.error]).toEqual([
      400,
      'view_diffs_file_by_file, show_whitespace_in_diffs, pass_user_identities_to_ci_jwt are missing, at least one parameter must be provided',
    ])
    const changed = await ana.put('/user/preferences', { view_diffs_file_by_file: true })
    expect(changed.body).toEqual({ ...before, view_diffs_file_by_file: true })
    expect((await ana.get('/user/preferences')).body).toEqual(changed.body)
    expect((await cleo.get('/user/preferences')).body.view_diffs_file_by_file).toBe(false)
    const wrong = await ana.put('/user/preferences', { show_whitespace_in_diffs: 'x' })
    expect(wrong.body).toEqual({ error: 'show_whitespace_in_diffs is invalid' })
  })
})

describe('what a person belongs to', () => {
  test('is shown to administrators, by kind', async () => {
    const group = await createGroup(ana, 'club')
    const project = await createProject(ana, 'board')
    await ana.post(`/groups/${group.id}/members`, { user_id: cleo.id, access_level: 20 })
    await ana.post(`/projects/${project.id}/members`, { user_id: cleo.id, access_level: 30 })
    const path = `/users/${cleo.id}/memberships`
    const inGroup = {
      source_id: group.id,
      source_name: 'Club',
      source_type: 'Namespace',
      access_level: 20,
    }
    const inProject = {
      source_id: project.id,
      source_name: 'board',
      source_type: 'Project',
      access_level: 30,
    }
    expect((await root.get(path)).body).toEqual([inGroup, inProject])
    expect((await root.get(`${path}?type=Namespace`)).body).toEqual([inGroup])
    expect((await root.get(`${path}?type=Project`)).body).toEqual([inProject])
    expect((await root.get(`${path}?type=Group`)).body).toEqual({
      error: 'type does not have a valid value',
    })
    expect((await cleo.get(path)).status).toBe(403)
  })

  test('is counted for oneself and administrators', async () => {
    const [project] = (await ana.get('/projects?search=board')).body
    await cleo.post(`/projects/${project.id}/issues`, { title: 'one' })
    const path = `/users/${cleo.id}/associations_count`
    const counts = { groups_count: 1, projects_count: 1, issues_count: 1, merge_requests_count: 0 }
    expect((await cleo.get(path)).body).toEqual(counts)
    expect((await root.get(path)).body).toEqual(counts)
    expect((await ana.get(path)).status).toBe(403)
  })

  test('and what waits for one is counted', async () => {
    const [project] = (await ana.get('/projects?search=board')).body
    const none = (await cleo.get('/user_counts')).body
    await ana.post(`/projects/${project.id}/issues`, { title: 'yours', assignee_ids: [cleo.id] })
    const counts = (await cleo.get('/user_counts')).body
    expect(counts).toEqual({
      ...none,
      assigned_issues: none.assigned_issues + 1,
      todos: none.todos + 1,
    })
    expect((await world.nobody.get('/user_counts')).status).toBe(401)
  })
})

describe('the state of a person', () => {
  async function fresh(name: string) {
    const caller = await world.user(name)
    const move = async (action: string) => {
      const reply = await root.post(`/users/${caller.id}/${action}`)
      return [reply.status, reply.body]
    }
    const state = async () => (await root.get(`/users/${caller.id}`)).body.state
    return { caller, move, state }
  }

  test('goes from active to blocked and back', async () => {
    const { caller, move, state } = await fresh('blocked')
    expect(await move('block')).toEqual([201, true])
    expect(await move('block')).toEqual([201, null])
    expect(await state()).toBe('blocked')
    const shut = await caller.get('/user')
    expect([shut.status, shut.body.message]).toMatchObject([403, expect.stringContaining('403')])
    expect((await move('activate'))[0]).toBe(403)
    expect((await move('deactivate'))[0]).toBe(403)
    expect((await move('ban'))[0]).toBe(403)
    expect(await move('unblock')).toEqual([201, true])
    expect(await move('unblock')).toEqual([201, false])
    expect((await caller.get('/user')).status).toBe(200)
  })

  test('goes from active to banned and back', async () => {
    const { caller, move, state } = await fresh('banned')
    expect(await move('ban')).toEqual([201, true])
    expect(await state()).toBe('banned')
    expect((await caller.get('/user')).status).toBe(403)
    expect((await move('ban'))[0]).toBe(403)
    expect(await move('unban')).toEqual([201, true])
    expect(await state()).toBe('active')
    expect((await move('unban'))[0]).toBe(403)
  })

  test('goes to deactivated after a long time away, and back', async () => {
    const { caller, move, state } = await fresh('away')
    await caller.get('/user')
    const busy = await move('deactivate')
    expect(busy).toEqual([
      403,
      {
        message:
          '403 Forbidden - The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated',
      },
    ])
    world.setNow('2026-09-06T10:00:00.000Z')
    expect(await move('deactivate')).toEqual([201, true])
    expect(await move('deactivate')).toEqual([201, false])
    expect(await state()).toBe('deactivated')
    expect((await caller.get('/user')).status).toBe(403)
    expect(await move('activate')).toEqual([201, true])
    expect(await move('activate')).toEqual([201, false])
    world.setNow('2026-05-06T10:00:00.000Z')
  })

  test('is not changed by others, nor of somebody who is not there', async () => {
    for (const action of ['block', 'unblock', 'ban', 'unban', 'activate', 'deactivate']) {
      expect((await ana.post(`/users/${ben.id}/${action}`)).status).toBe(403)
      const gone = await root.post(`/users/999999/${action}`)
      expect([gone.status, gone.body]).toEqual([404, { message: '404 User Not Found' }])
    }
  })
})
