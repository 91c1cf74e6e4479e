import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { notifyOfExpiringTokens } from '../../../src/notifications/hooks/payloads/expiring-tokens.ts'
import { removeExpiredMembers } from '../../../src/projects/members/tasks.ts'
import { Browser } from '../../support/browser.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { ed25519 } from '../../support/keys.ts'
import { type Caller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
let receiver: Receiver
let ana: Caller
let bea: Caller
let root: Caller

/** A caller whose calls are delivered each before the next: deliveries to one address run side by side, in no order. */
function withDeliveries(caller: Caller): Caller {
  const call: Caller['call'] = async (...request) => {
    const reply = await caller.call(...request)
    await world.runTasks()
    return reply
  }
  return Object.assign(Object.create(caller), { call })
}

beforeAll(async () => {
  receiver = await openReceiver()
  ana = withDeliveries(await world.user('ana'))
  bea = withDeliveries(await world.user('bea'))
  root = withDeliveries(world.root)
  const made = await root.post('/hooks', {
    url: `${receiver.url}/system`,
    repository_update_events: false,
  })
  expect(made.status).toBe(201)
})
afterAll(() => receiver.close())
afterEach(() => {
  receiver.received.length = 0
})

/** What arrived since the last look, at the hooks of this path. */
async function eventsAt(path = '/system') {
  await world.runTasks()
  const found = receiver.received.filter((one) => one.url === path)
  receiver.received.length = 0
  return found.map((one) => ({ header: one.headers['x-svc-event'], ...one.body }))
}

describe('hooks of the instance are called', () => {
  test('of projects that are made, changed, renamed, moved and deleted', async () => {
    const project = await createProject(ana, 'Demo')
    expect(await eventsAt()).toMatchObject([
      {
        header: 'System Hook',
        event_name: 'project_create',
        name: 'Demo',
        path: 'demo',
        path_with_namespace: 'ana/demo',
        project_id: project.id,
        owner_name: 'ana',
        owner_email: 'ana@example.com',
        owners: [{ name: 'ana', email: 'ana@example.com' }],
        project_visibility: 'private',
      },
    ])
    const path = `/projects/${project.id}`
    await ana.put(path, { description: 'x' })
    await ana.put(path, { path: 'demo-2' })
    expect(await eventsAt()).toMatchObject([
      { event_name: 'project_update', path: 'demo' },
      {
        event_name: 'project_rename',
        path_with_namespace: 'ana/demo-2',
        old_path_with_namespace: 'ana/demo',
      },
    ])
    const group = await createGroup(ana, 'home')
    await eventsAt()
    await ana.put(`${path}/transfer`, { namespace: group.id })
    expect(await eventsAt()).toMatchObject([
      {
        event_name: 'project_transfer',
        path_with_namespace: 'home/demo-2',
        old_path_with_namespace: 'ana/demo-2',
      },
    ])
    await ana.delete(path)
    expect(await eventsAt()).toMatchObject([
      { event_name: 'project_destroy', path_with_namespace: 'home/demo-2' },
    ])
  })

  test('of groups, and of the projects that go with them', async () => {
    const group = await createGroup(ana, 'team')
    await createProject(ana, 'inside', { namespace_id: group.id })
    await ana.put(`/groups/${group.id}`, { path: 'crew' })
    const sent = async () =>
      (await eventsAt()).map((one) => [one.event_name, one.full_path ?? one.path_with_namespace])
    expect(await sent()).toEqual([
      ['group_create', 'team'],
      ['project_create', 'team/inside'],
      ['group_rename', 'crew'],
    ])
    await ana.delete(`/groups/${group.id}`)
    expect((await sent()).sort()).toEqual([
      ['group_destroy', 'crew'],
      ['project_destroy', 'crew/inside'],
    ])
  })

  test('of people and their keys', async () => {
    const { body: user } = await root.post('/users', {
      username: 'cat',
      name: 'Cat',
      email: 'cat@example.com',
      password: 'a-long-and-good-one-7',
      skip_confirmation: true,
    })
    await root.put(`/users/${user.id}`, { username: 'tom' })
    const { body: key } = await root.post(`/users/${user.id}/keys`, {
      title: 'laptop',
      key: ed25519(),
    })
    await root.delete(`/users/${user.id}/keys/${key.id}`)
    await root.delete(`/users/${user.id}`)
    expect(await eventsAt()).toMatchObject([
      { event_name: 'user_create', username: 'cat', email: 'cat@example.com', user_id: user.id },
      { event_name: 'user_rename', username: 'tom', old_username: 'cat' },
      { event_name: 'key_create', username: 'tom', id: key.id },
      { event_name: 'key_destroy', id: key.id },
      { event_name: 'user_destroy', username: 'tom' },
    ])
  })

  test('of people who are blocked and know their password', async () => {
    const password = 'a-long-and-good-one-7'
    const { id } = await world.user('dan')
    await root.put(`/users/${id}`, { password })
    await root.post(`/users/${id}/block`)
    await eventsAt()
    const browser = new Browser(world.url)
    expect((await browser.signIn('dan', 'another password')).status).toBe(401)
    expect(await eventsAt()).toEqual([])
    expect((await browser.signIn('dan', password)).status).toBe(403)
    expect(await eventsAt()).toMatchObject([
      { event_name: 'user_failed_login', user_id: id, username: 'dan', state: 'blocked' },
    ])
  })

  test('of members of projects and groups', async () => {
    const group = await createGroup(ana, 'club')
    const project = await createProject(ana, 'pub', { visibility: 'public' })
    await eventsAt()
    await ana.post(`/groups/${group.id}/members`, { user_id: bea.id, access_level: 30 })
    await ana.put(`/groups/${group.id}/members/${bea.id}`, { access_level: 40 })
    await ana.delete(`/groups/${group.id}/members/${bea.id}`)
    expect(await eventsAt()).toMatchObject([
      {
        event_name: 'user_add_to_group',
        group_access: 'Developer',
        group_path: 'club',
        user_username: 'bea',
      },
      { event_name: 'user_update_for_group', group_access: 'Maintainer' },
      { event_name: 'user_remove_from_group' },
    ])
    const members = `/projects/${project.id}/members`
    await bea.post(`/projects/${project.id}/access_requests`)
    await ana.put(`/projects/${project.id}/access_requests/${bea.id}/approve`)
    await ana.put(`${members}/${bea.id}`, { access_level: 20, expires_at: '2026-05-05' })
    expect(await eventsAt()).toMatchObject([
      { event_name: 'user_access_request_to_project', user_username: 'bea' },
      { event_name: 'user_add_to_team', access_level: 'Developer', project_visibility: 'public' },
      { event_name: 'user_update_for_team', access_level: 'Reporter' },
    ])
    world.setNow('2026-05-06T10:00:00.000Z')
    await removeExpiredMembers.handler(world.ctx, {}, new AbortController().signal)
    expect(await eventsAt()).toMatchObject([{ event_name: 'user_remove_from_team' }])
    const { body: feed } = await ana.get(`/projects/${project.id}/events?action=expired`)
    expect(feed).toMatchObject([{ author_username: 'bea' }])
    world.setNow('2026-05-04T10:00:00.000Z')
    await bea.post(`/projects/${project.id}/access_requests`)
    await bea.delete(`/projects/${project.id}/access_requests/${bea.id}`)
    expect((await eventsAt()).map((one) => one.event_name)).toEqual([
      'user_access_request_to_project',
      'user_access_request_revoked_for_project',
    ])
  })
})

describe('hooks of a group are called', () => {
  test('of its members, subgroups and projects when they ask', async () => {
    const group = await createGroup(ana, 'roots', { name: 'root' })
    await ana.post(`/groups/${group.id}/hooks`, {
      url: `${receiver.url}/group`,
      push_events: false,
      member_events: true,
      subgroup_events: true,
      project_events: true,
      milestone_events: true,
    })
    await ana.post(`/groups/${group.id}/members`, { user_id: bea.id, access_level: 30 })
    const below = await createGroup(ana, 'below', { parent_id: group.id })
    const project = await createProject(ana, 'p', { namespace_id: below.id })
    await ana.post(`/groups/${group.id}/milestones`, { title: 'v1' })
    await ana.delete(`/projects/${project.id}`)
    await ana.delete(`/groups/${below.id}`)
    expect(await eventsAt('/group')).toMatchObject([
      {
        header: 'Member Hook',
        event_name: 'user_add_to_group',
        group_id: group.id,
        // Whoever owns a group may add anybody, and learns no address by it that is not public.
        user_email: '[REDACTED]',
      },
      {
        header: 'Subgroup Hook',
        event_name: 'subgroup_create',
        full_path: 'roots/below',
        parent_full_path: 'roots',
      },
      {
        header: 'Project Hook',
        event_name: 'project_create',
        path_with_namespace: 'roots/below/p',
        owners: [{ name: 'ana', email: '[REDACTED]' }],
      },
      {
        header: 'Milestone Hook',
        object_kind: 'milestone',
        group: { group_id: group.id },
        object_attributes: { title: 'v1' },
        action: 'create',
      },
      { header: 'Project Hook', event_name: 'project_destroy' },
      { header: 'Subgroup Hook', event_name: 'subgroup_destroy' },
    ])
  })
})

describe('hooks of a project are called', () => {
  let path: string
  let id: number

  beforeAll(async () => {
    id = (await createProject(ana, 'talk')).id
    path = `/projects/${id}`
    await ana.post(`${path}/hooks`, {
      url: `${receiver.url}/project`,
      push_events: false,
      milestone_events: true,
      emoji_events: true,
      resource_access_token_events: true,
    })
  })

  test('of milestones that are made, closed, opened again and deleted', async () => {
    const { body } = await ana.post(`${path}/milestones`, { title: 'v1' })
    const one = `${path}/milestones/${body.id}`
    await ana.put(one, { state_event: 'close' })
    await ana.put(one, { title: 'v2' })
    await ana.put(one, { state_event: 'activate' })
    await ana.delete(one)
    const sent = await eventsAt('/project')
    expect(sent.map((event) => [event.action, event.object_attributes.state])).toEqual([
      ['create', 'active'],
      ['close', 'closed'],
      ['reopen', 'active'],
      ['delete', 'active'],
    ])
    expect(sent[0]).toMatchObject({ header: 'Milestone Hook', project: { id } })
    const { body: feed } = await ana.get(`${path}/events?target_type=milestone&sort=asc`)
    expect(feed.map((event: { action_name: string }) => event.action_name)).toEqual([
      'opened',
      'closed',
      'reopened',
      'destroyed',
    ])
  })

  test('of reactions that are given and taken back', async () => {
    const { body: issue } = await ana.post(`${path}/issues`, { title: 'nice' })
    const reactions = `${path}/issues/${issue.iid}/award_emoji`
    const { body: award } = await ana.post(reactions, { name: 'rocket' })
    await ana.delete(`${reactions}/${award.id}`)
    const { body: note } = await ana.post(`${path}/issues/${issue.iid}/notes`, { body: 'x' })
    await ana.post(`${path}/issues/${issue.iid}/notes/${note.id}/award_emoji`, { name: 'tada' })
    expect(await eventsAt('/project')).toMatchObject([
      {
        header: 'Emoji Hook',
        object_kind: 'emoji',
        event_type: 'award',
        user: { username: 'ana' },
        project_id: id,
        object_attributes: { name: 'rocket', awardable_type: 'Issue', awardable_id: issue.id },
        issue: { title: 'nice' },
      },
      { event_type: 'revoke', object_attributes: { name: 'rocket', action: 'revoke' } },
      {
        object_attributes: { awardable_type: 'Note', awardable_id: note.id },
        note: { id: note.id },
        issue: { id: issue.id },
      },
    ])
  })

  test('of access tokens that end in a week', async () => {
    const { body: token } = await ana.post(`${path}/access_tokens`, {
      name: 'robot',
      scopes: ['api'],
      expires_at: '2026-05-11',
    })
    await ana.post(`${path}/access_tokens`, {
      name: 'later',
      scopes: ['api'],
      expires_at: '2026-05-12',
    })
    await notifyOfExpiringTokens.handler(world.ctx, {}, new AbortController().signal)
    expect(await eventsAt('/project')).toMatchObject([
      {
        header: 'Resource Access Token Hook',
        object_kind: 'access_token',
        event_name: 'expiring_access_token',
        project: { id },
        object_attributes: { id: token.id, name: 'robot', expires_at: '2026-05-11' },
      },
    ])
  })
})
