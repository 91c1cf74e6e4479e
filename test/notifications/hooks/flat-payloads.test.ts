import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { ed25519 } from '../../support/keys.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let receiver: Receiver
const NOW = '2026-05-04T10:00:00.000Z'
const LATER = '2026-05-04T10:05:00.000Z'

beforeAll(async () => {
  receiver = await openReceiver()
  const hook = { url: receiver.url, repository_update_events: false }
  expect((await world.root.post('/hooks', hook)).status).toBe(201)
})
afterAll(() => receiver.close())
afterEach(async () => {
  world.setNow(NOW)
  await newDeliveries()
})

/** The one thing that arrived since the last look. */
async function newDeliveries() {
  await world.runTasks()
  const found = receiver.received.map(({ headers, body }) => {
    expect(headers['x-svc-event']).toBe('System Hook')
    return body
  })
  receiver.received.length = 0
  return found
}

describe('the hooks of the instance are called for a project', () => {
  const facts = (id: number, more: Record<string, unknown> = {}) => ({
    created_at: NOW,
    updated_at: NOW,
    name: 'Demo',
    path: 'demo',
    path_with_namespace: 'ana/demo',
    project_id: id,
    project_namespace_id: expect.any(Number),
    owner_name: 'ana',
    owner_email: 'ana@example.com',
    owners: [{ name: 'ana', email: 'ana@example.com' }],
    project_visibility: 'private',
    ...more,
  })

  test('that is made, changed, renamed, moved and deleted, each with all that is known', async () => {
    const project = await createProject(ana, 'Demo')
    const { id } = project
    expect(await newDeliveries()).toEqual([{ event_name: 'project_create', ...facts(id) }])
    world.setNow(LATER)
    await ana.put(`/projects/${id}`, { visibility: 'internal' })
    const after = { updated_at: LATER, project_visibility: 'internal' }
    expect(await newDeliveries()).toEqual([{ event_name: 'project_update', ...facts(id, after) }])
    await ana.put(`/projects/${id}`, { path: 'demo-2' })
    const renamed = { ...after, path: 'demo-2', path_with_namespace: 'ana/demo-2' }
    expect(await newDeliveries()).toEqual([
      {
        event_name: 'project_rename',
        ...facts(id, renamed),
        old_path_with_namespace: 'ana/demo',
      },
    ])
    const group = await createGroup(ana, 'home', { visibility: 'internal' })
    await ana.post(`/groups/${group.id}/members`, { user_id: bea.id, access_level: 50 })
    await newDeliveries()
    await ana.put(`/projects/${id}/transfer`, { namespace: group.id })
    const moved = {
      ...renamed,
      path_with_namespace: 'home/demo-2',
      owner_name: 'Home',
      owner_email: '',
      owners: [
        { name: 'ana', email: 'ana@example.com' },
        { name: 'bea', email: 'bea@example.com' },
      ],
      project_namespace_id: group.id,
    }
    expect(await newDeliveries()).toEqual([
      {
        event_name: 'project_transfer',
        ...facts(id, moved),
        old_path_with_namespace: 'ana/demo-2',
      },
    ])
    await ana.delete(`/projects/${id}`)
    expect(await newDeliveries()).toEqual([{ event_name: 'project_destroy', ...facts(id, moved) }])
  })

  test('that is forked', async () => {
    const source = await createProject(ana, 'Source', {
      visibility: 'public',
      initialize_with_readme: true,
    })
    await newDeliveries()
    const fork = await bea.post(`/projects/${source.id}/fork`)
    expect(fork.status).toBe(201)
    expect(
      (await newDeliveries()).filter((one) => one.event_name === 'project_create'),
    ).toMatchObject([
      { path_with_namespace: 'bea/source', owner_name: 'bea', project_id: fork.body.id },
    ])
  })
})

test('the hooks of the instance are called for a group that is made, renamed and deleted', async () => {
  const group = await createGroup(ana, 'team')
  const facts = {
    created_at: NOW,
    updated_at: NOW,
    name: 'Team',
    path: 'team',
    full_path: 'team',
    group_id: group.id,
  }
  const made = (await newDeliveries()).filter((one) => one.event_name === 'group_create')
  expect(made).toEqual([{ event_name: 'group_create', ...facts }])
  await ana.put(`/groups/${group.id}`, { description: 'No news' })
  expect(await newDeliveries()).toEqual([])
  world.setNow(LATER)
  await ana.put(`/groups/${group.id}`, { path: 'crew' })
  const after = { ...facts, updated_at: LATER, path: 'crew', full_path: 'crew' }
  expect(await newDeliveries()).toEqual([
    { event_name: 'group_rename', ...after, old_path: 'team', old_full_path: 'team' },
  ])
  const below = await createGroup(ana, 'below', { parent_id: group.id })
  expect((await newDeliveries()).map((one) => [one.event_name, one.full_path])).toContainEqual([
    'group_create',
    'crew/below',
  ])
  await ana.delete(`/groups/${below.id}`)
  expect((await newDeliveries()).map((one) => [one.event_name, one.full_path])).toEqual([
    ['group_destroy', 'crew/below'],
  ])
  await ana.delete(`/groups/${group.id}`)
  expect(await newDeliveries()).toEqual([{ event_name: 'group_destroy', ...after }])
})

test('the hooks of the instance are called for people and keys, with their addresses', async () => {
  const { body: user } = await world.root.post('/users', {
    username: 'cat',
    name: 'Cat',
    email: 'cat@example.com',
    password: 'a-long-and-good-one-7',
    skip_confirmation: true,
  })
  const facts = {
    created_at: NOW,
    updated_at: NOW,
    name: 'Cat',
    email: 'cat@example.com',
    username: 'cat',
    user_id: user.id,
  }
  expect(await newDeliveries()).toEqual([{ event_name: 'user_create', ...facts }])
  await world.root.put(`/users/${user.id}`, { name: 'Cat the Second' })
  expect(await newDeliveries()).toEqual([])
  world.setNow(LATER)
  await world.root.put(`/users/${user.id}`, { username: 'tom', name: 'Tom' })
  const after = { ...facts, updated_at: LATER, name: 'Tom', username: 'tom' }
  expect(await newDeliveries()).toEqual([
    { event_name: 'user_rename', ...after, old_username: 'cat' },
  ])
  const key = ed25519()
  const { body: added } = await world.root.post(`/users/${user.id}/keys`, { title: 'laptop', key })
  const keyFacts = {
    created_at: LATER,
    updated_at: LATER,
    username: 'tom',
    key: added.key,
    id: added.id,
  }
  expect(await newDeliveries()).toEqual([{ event_name: 'key_create', ...keyFacts }])
  await world.root.delete(`/users/${user.id}/keys/${added.id}`)
  expect(await newDeliveries()).toEqual([{ event_name: 'key_destroy', ...keyFacts }])
  await world.root.delete(`/users/${user.id}`)
  expect(await newDeliveries()).toEqual([{ event_name: 'user_destroy', ...after }])
})

describe('the hooks of the instance are called for a member', () => {
  const person = () => ({
    user_id: bea.id,
    user_name: 'bea',
    user_username: 'bea',
    user_email: 'bea@example.com',
  })

  test('of a project who asks, is let in, changed and removed', async () => {
    const { id } = await createProject(ana, 'Club house', { visibility: 'public' })
    await newDeliveries()
    const facts = (access_level: string, updated_at = NOW) => ({
      created_at: expect.any(String),
      updated_at,
      ...person(),
      access_level,
      project_id: id,
      project_name: 'Club house',
      project_path: 'club-house',
      project_path_with_namespace: 'ana/club-house',
      project_visibility: 'public',
    })
    await bea.post(`/projects/${id}/access_requests`)
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_access_request_to_project', ...facts('Developer') },
    ])
    await ana.delete(`/projects/${id}/access_requests/${bea.id}`)
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_access_request_revoked_for_project', ...facts('Developer') },
    ])
    await ana.post(`/projects/${id}/members`, { user_id: bea.id, access_level: 20 })
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_add_to_team', ...facts('Reporter') },
    ])
    world.setNow(LATER)
    await ana.put(`/projects/${id}/members/${bea.id}`, { access_level: 40 })
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_update_for_team', ...facts('Maintainer', LATER) },
    ])
    await ana.delete(`/projects/${id}/members/${bea.id}`)
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_remove_from_team', ...facts('Maintainer', LATER) },
    ])
  })

  test('of a group who asks, is let in, changed and removed', async () => {
    const group = await createGroup(ana, 'club', { visibility: 'public' })
    await newDeliveries()
    const facts = (group_access: string, expires_at: string | null = null) => ({
      created_at: NOW,
      updated_at: NOW,
      ...person(),
      group_access,
      group_id: group.id,
      group_name: 'Club',
      group_path: 'club',
      group_plan: null,
      expires_at,
    })
    await bea.post(`/groups/${group.id}/access_requests`)
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_access_request_to_group', ...facts('Developer') },
    ])
    await ana.put(`/groups/${group.id}/access_requests/${bea.id}/approve?access_level=10`)
    expect(await newDeliveries()).toEqual([{ event_name: 'user_add_to_group', ...facts('Guest') }])
    const change = { access_level: 50, expires_at: '2026-09-01' }
    await ana.put(`/groups/${group.id}/members/${bea.id}`, change)
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_update_for_group', ...facts('Owner', '2026-09-01') },
    ])
    await bea.delete(`/groups/${group.id}/members/${bea.id}`)
    expect(await newDeliveries()).toEqual([
      { event_name: 'user_remove_from_group', ...facts('Owner') },
    ])
  })
})

test('hooks of the instance are listed, read and removed by administrators alone', async () => {
  const url = receiver.url
  const made = await world.root.post('/hooks', { url, name: 'One', token: 'tok3n' })
  const path = `/hooks/${made.body.id}`
  expect(Object.keys(made.body).sort()).toEqual(
    [
      'alert_status',
      'branch_filter_strategy',
      'created_at',
      'custom_headers',
      'custom_webhook_template',
      'description',
      'disabled_until',
      'enable_ssl_verification',
      'id',
      'merge_requests_events',
      'name',
      'push_events',
      'push_events_branch_filter',
      'repository_update_events',
      'tag_push_events',
      'url',
      'url_variables',
    ].sort(),
  )
  for (const [who, status] of [
    [ana, 403],
    [world.nobody, 401],
  ] as const) {
    expect((await who.get('/hooks')).status).toBe(status)
    expect((await who.get(path)).status).toBe(status)
    expect((await who.post('/hooks', { url })).status).toBe(status)
    expect((await who.put(path, { name: 'x' })).status).toBe(status)
    expect((await who.post(path)).status).toBe(status)
    expect((await who.delete(path)).status).toBe(status)
  }
  const missing = await world.root.get('/hooks/999999')
  expect([missing.status, missing.body]).toEqual([404, { message: '404 Not found' }])
  const page = await world.root.get('/hooks?per_page=1&page=2')
  expect([page.body.map((one: { id: number }) => one.id), page.headers.get('x-total')]).toEqual([
    [made.body.id],
    '2',
  ])
  const tried = await world.root.post(path)
  expect([tried.status, tried.body]).toEqual([
    201,
    {
      event_name: 'project_create',
      name: 'Ruby',
      path: 'ruby',
      project_id: 1,
      owner_name: 'Someone',
      owner_email: 'example@example.com',
    },
  ])
  expect((await world.root.delete(path)).status).toBe(204)
})

test('a project has a hundred hooks at most, and a group fifty', async () => {
  const group = await createGroup(ana, 'full')
  const hooks = `/groups/${group.id}/hooks`
  const url = 'http://127.0.0.1:9/x'
  for (let n = 0; n < 50; n += 1) expect((await ana.post(hooks, { url })).status).toBe(201)
  const refused = await ana.post(hooks, { url })
  expect([refused.status, refused.body]).toEqual([
    400,
    { message: { base: ['Maximum number of group hooks (50) exceeded'] } },
  ])
  const [{ id }] = (await ana.get(hooks)).body
  await ana.delete(`${hooks}/${id}`)
  expect((await ana.post(hooks, { url })).status).toBe(201)
})
