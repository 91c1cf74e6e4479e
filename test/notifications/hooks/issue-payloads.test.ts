import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
const bob = useCaller(world, 'bob')
let receiver: Receiver
let groupId: number
let projectId: number
let at: string
let minute = 0

beforeAll(async () => {
  receiver = await openReceiver()
  groupId = (await createGroup(ana, 'team')).id
  projectId = (await createProject(ana, 'hooked', { namespace_id: groupId })).id
  at = `/projects/${projectId}`
  await addMember(world, projectId, bob.id, 30)
  const flags = { push_events: false, issues_events: true, milestone_events: true }
  expect((await ana.post(`${at}/hooks`, { url: receiver.url, ...flags })).status).toBe(201)
  await world.runTasks()
})
afterAll(() => receiver.close())
afterEach(() => {
  receiver.received.length = 0
})

/** What arrived since the last look. */
async function newDeliveries() {
  await world.runTasks()
  const found = receiver.received.map(({ headers, body }) => ({
    header: headers['x-svc-event'],
    body,
  }))
  receiver.received.length = 0
  return found
}

async function change(path: string, body: Record<string, unknown>, by = ana) {
  minute += 1
  world.setNow(new Date(Date.UTC(2026, 4, 4, 10, minute)).toISOString())
  const reply = await by.put(path, body)
  expect(reply.status).toBe(200)
  const found = await newDeliveries()
  return { reply: reply.body, found, payload: found[0]?.body }
}

async function issue(more: Record<string, unknown> = {}): Promise<string> {
  const made = await ana.post(`${at}/issues`, { title: 'Broken', ...more })
  expect(made.status).toBe(201)
  await newDeliveries()
  return `${at}/issues/${made.body.iid}`
}

const person = (caller: Caller) => ({
  id: caller.id,
  name: caller.username,
  username: caller.username,
  avatar_url: expect.toSatisfy((url: unknown) => url === null || typeof url === 'string'),
  email: '[REDACTED]',
})

describe('a new issue', () => {
  test('is sent with every field, and nothing else', async () => {
    const label = (await ana.post(`${at}/labels`, { name: 'bug', color: '#ff0000' })).body
    const wide = (await ana.post(`/groups/${groupId}/labels`, { name: 'wide', color: '#00ff00' }))
      .body
    const milestone = (await ana.post(`${at}/milestones`, { title: 'v1' })).body
    await newDeliveries()
    const made = await ana.post(`${at}/issues`, {
      title: 'It breaks',
      description: 'When one **looks**.',
      labels: 'bug,wide',
      milestone_id: milestone.id,
      assignee_ids: [bob.id],
      start_date: '2026-05-20',
      due_date: '2026-06-01',
      weight: 3,
    })
    const [sent, ...others] = await newDeliveries()
    expect(others).toEqual([])
    expect(sent?.header).toBe('Issue Hook')
    const labels = [
      {
        id: label.id,
        title: 'bug',
        color: '#ff0000',
        project_id: projectId,
        description: null,
        type: 'ProjectLabel',
      },
      {
        id: wide.id,
        title: 'wide',
        color: '#00ff00',
        project_id: null,
        description: null,
        type: 'GroupLabel',
      },
    ]
    const { externalUrl } = world.ctx.config
    const url = `${externalUrl}/team/hooked`
    const ssh = `git@${new URL(externalUrl).hostname}:team/hooked.git`
    expect(sent?.body).toEqual({
      object_kind: 'issue',
      event_type: 'issue',
      user: person(ana),
      project: {
        id: projectId,
        name: 'hooked',
        description: '',
        web_url: url,
        avatar_url: null,
        git_ssh_url: ssh,
        git_http_url: `${url}.git`,
        namespace: 'Team',
        visibility_level: 0,
        path_with_namespace: 'team/hooked',
        default_branch: 'main',
        ci_config_path: '',
        homepage: url,
        url: ssh,
        ssh_url: ssh,
        http_url: `${url}.git`,
      },
      object_attributes: {
        id: made.body.id,
        iid: made.body.iid,
        title: 'It breaks',
        description: 'When one **looks**.',
        state: 'opened',
        state_id: 1,
        type: 'issue',
        author_id: ana.id,
        project_id: projectId,
        milestone_id: milestone.id,
        assignee_id: bob.id,
        assignee_ids: [bob.id],
        confidential: false,
        discussion_locked: null,
        start_date: '2026-05-20',
        due_date: '2026-06-01',
        weight: 3,
        severity: 'UNKNOWN',
        time_estimate: 0,
        total_time_spent: 0,
        human_time_estimate: null,
        human_total_time_spent: null,
        moved_to_id: null,
        duplicated_to_id: null,
        relative_position: expect.toSatisfy((n: unknown) => n === null || Number.isInteger(n)),
        closed_at: null,
        created_at: made.body.created_at,
        updated_at: made.body.updated_at,
        url: made.body.web_url,
        labels,
        action: 'open',
      },
      labels,
      assignees: [person(bob)],
      assignee: person(bob),
      changes: {},
      repository: {
        name: 'hooked',
        url: ssh,
        description: '',
        homepage: url,
        git_http_url: `${url}.git`,
        git_ssh_url: ssh,
        visibility_level: 0,
      },
    })
  })
})

describe('a change of an issue', () => {
  test.each([
    ['title', 'Broken', 'Repaired'],
    ['description', null, 'Some words'],
    ['start_date', null, '2026-05-02'],
    ['due_date', null, '2026-07-01'],
    ['weight', null, 5],
    ['discussion_locked', null, true],
  ] as const)('of %s shows the value before and after', async (field, previous, current) => {
    const path = await issue()
    const { found, payload } = await change(path, { [field]: current })
    expect(found).toHaveLength(1)
    expect(payload).toMatchObject({
      object_attributes: { action: 'update', [field]: current },
      changes: { [field]: { previous, current }, updated_at: { previous: expect.any(String) } },
    })
    expect(Object.keys(payload.changes).sort()).toEqual([field, 'updated_at'].sort())
  })

  test('of labels and people shows all of them, before and after', async () => {
    const path = await issue({ labels: 'bug' })
    const labelled = await change(path, { labels: 'bug,other' })
    expect(labelled.payload.changes.labels).toMatchObject({
      previous: [{ title: 'bug' }],
      current: [{ title: 'bug' }, { title: 'other' }],
    })
    const assigned = await change(path, { assignee_ids: [bob.id] })
    expect(assigned.payload.changes.assignees).toEqual({ previous: [], current: [person(bob)] })
    expect(assigned.payload.assignee).toEqual(person(bob))
    const freed = await change(path, { assignee_ids: [0] })
    expect(freed.payload.changes.assignees).toEqual({ previous: [person(bob)], current: [] })
    expect(freed.payload).toMatchObject({ assignees: [], assignee: null })
  })

  test('of several fields is sent once, with all of them', async () => {
    const path = await issue()
    const milestone = (await ana.post(`${at}/milestones`, { title: 'v2' })).body
    await newDeliveries()
    const { found, payload } = await change(path, {
      title: 'Two',
      milestone_id: milestone.id,
      add_labels: 'bug',
    })
    expect(found).toHaveLength(1)
    expect(payload.changes).toMatchObject({
      title: { previous: 'Broken', current: 'Two' },
      milestone_id: { previous: null, current: milestone.id },
      labels: { previous: [], current: [{ title: 'bug' }] },
    })
  })

  test('that changes nothing is not sent', async () => {
    const path = await issue({ labels: 'bug' })
    expect((await change(path, { title: 'Broken', labels: 'bug' })).found).toEqual([])
  })

  test('of its state has an action of its own, and the state before', async () => {
    const path = await issue()
    const closed = await change(path, { state_event: 'close', title: 'Done' })
    expect(closed.payload).toMatchObject({
      object_attributes: { action: 'close', state: 'closed', state_id: 2 },
      changes: {
        state_id: { previous: 1, current: 2 },
        closed_at: { previous: null, current: closed.reply.closed_at },
        title: { previous: 'Broken', current: 'Done' },
      },
    })
    const reopened = await change(path, { state_event: 'reopen' }, bob)
    expect(reopened.payload).toMatchObject({
      user: person(bob),
      object_attributes: { action: 'reopen', state: 'opened', closed_at: null },
      changes: { state_id: { previous: 2, current: 1 } },
    })
  })

  test('by the quick actions of a comment is sent as any other', async () => {
    const path = await issue()
    const body = `/title Renamed\n/assign @bob\n/label ~bug\n/close`
    expect((await ana.post(`${path}/notes`, { body })).status).toBeLessThan(300)
    const found = await newDeliveries()
    const [last] = found.slice(-1)
    expect(last?.body.object_attributes).toMatchObject({ title: 'Renamed', state: 'closed' })
    expect(last?.body.assignees).toEqual([person(bob)])
    expect(found.filter(({ body }) => body.object_attributes.action === 'close')).toHaveLength(1)
  })
})

describe('an issue that not everybody may read', () => {
  test('is sent to hooks that have it on, under a header of its own', async () => {
    const quiet = { url: `${receiver.url}/quiet`, push_events: false }
    const made = await ana.post(`${at}/hooks`, { ...quiet, confidential_issues_events: true })
    const issue = await ana.post(`${at}/issues`, { title: 'Secret', confidential: true })
    await world.runTasks()
    expect(receiver.received.map(({ url }) => url)).toEqual(['/quiet'])
    const [sent] = await newDeliveries()
    expect(sent).toMatchObject({
      header: 'Confidential Issue Hook',
      body: {
        object_kind: 'issue',
        event_type: 'confidential_issue',
        object_attributes: { title: 'Secret', confidential: true, action: 'open' },
      },
    })
    const path = `${at}/issues/${issue.body.iid}`
    const opened = await change(path, { confidential: false })
    expect(opened.found).toMatchObject([
      {
        header: 'Issue Hook',
        body: { changes: { confidential: { previous: true, current: false } } },
      },
    ])
    await ana.delete(`${at}/hooks/${made.body.id}`)
  })
})

describe('a milestone', () => {
  test('of a project is sent with every field when it is made, closed, opened and deleted', async () => {
    const made = await ana.post(`${at}/milestones`, {
      title: 'v9',
      description: 'The last',
      start_date: '2026-05-01',
      due_date: '2026-06-01',
    })
    const [sent] = await newDeliveries()
    expect(sent).toEqual({
      header: 'Milestone Hook',
      body: {
        object_kind: 'milestone',
        event_type: 'milestone',
        project: expect.objectContaining({ id: projectId, path_with_namespace: 'team/hooked' }),
        object_attributes: {
          id: made.body.id,
          iid: made.body.iid,
          title: 'v9',
          description: 'The last',
          state: 'active',
          created_at: made.body.created_at,
          updated_at: made.body.updated_at,
          due_date: '2026-06-01',
          start_date: '2026-05-01',
          project_id: projectId,
          group_id: null,
        },
        action: 'create',
      },
    })
    const path = `${at}/milestones/${made.body.id}`
    const closed = await change(path, { state_event: 'close' })
    expect(closed.payload).toMatchObject({
      action: 'close',
      object_attributes: { state: 'closed' },
    })
    expect((await change(path, { state_event: 'activate' })).payload).toMatchObject({
      action: 'reopen',
    })
    await ana.delete(path)
    expect((await newDeliveries()).map(({ body }) => body.action)).toEqual(['delete'])
  })

  test('of a group is sent to the hooks of the group', async () => {
    const url = `${receiver.url}/group`
    const hook = { url, push_events: false, milestone_events: true }
    const { body } = await ana.post(`/groups/${groupId}/hooks`, hook)
    const made = await ana.post(`/groups/${groupId}/milestones`, { title: 'Of all' })
    await world.runTasks()
    expect(receiver.received.map(({ url }) => url)).toEqual(['/group'])
    const [sent] = await newDeliveries()
    expect(sent?.body).toMatchObject({
      object_kind: 'milestone',
      group: { group_id: groupId, group_name: 'Team', group_path: 'team', full_path: 'team' },
      object_attributes: { id: made.body.id, group_id: groupId, project_id: null },
      action: 'create',
    })
    expect(sent?.body).not.toHaveProperty('project')
    await ana.delete(`/groups/${groupId}/hooks/${body.id}`)
  })
})

describe('a comment on an issue', () => {
  test('is sent with every field, when it is made and when it is changed', async () => {
    const path = await issue()
    const hook = { url: receiver.url, push_events: false, note_events: true }
    const made = await ana.post(`${at}/hooks`, hook)
    const note = (await ana.post(`${path}/notes`, { body: 'Look at **this**' })).body
    const [sent] = await newDeliveries()
    const { body: about } = await ana.get(path)
    expect(sent).toEqual({
      header: 'Note Hook',
      body: {
        object_kind: 'note',
        event_type: 'note',
        user: person(ana),
        project_id: projectId,
        project: expect.objectContaining({ id: projectId }),
        object_attributes: {
          id: note.id,
          note: 'Look at **this**',
          description: 'Look at **this**',
          noteable_type: 'Issue',
          noteable_id: about.id,
          commit_id: null,
          discussion_id: expect.stringMatching(/^[0-9a-f]{40}$/),
          type: null,
          author_id: ana.id,
          project_id: projectId,
          system: false,
          internal: false,
          line_code: null,
          position: null,
          original_position: null,
          resolved_at: null,
          resolved_by_id: null,
          updated_by_id: null,
          created_at: note.created_at,
          updated_at: note.updated_at,
          url: `${about.web_url}#note_${note.id}`,
          action: 'create',
        },
        repository: expect.objectContaining({ name: 'hooked' }),
        issue: expect.objectContaining({ id: about.id, title: 'Broken', url: about.web_url }),
      },
    })
    const changed = await change(`${path}/notes/${note.id}`, { body: 'Look again' })
    expect(changed.payload.object_attributes).toMatchObject({
      action: 'update',
      note: 'Look again',
      updated_at: changed.reply.updated_at,
    })
    await ana.delete(`${path}/notes/${note.id}`)
    expect(await newDeliveries()).toEqual([])
    await ana.delete(`${at}/hooks/${made.body.id}`)
  })

  test('that is internal, or on a confidential issue, is sent only to hooks that have these on', async () => {
    const hook = (path: string, flag: string) =>
      ana.post(`${at}/hooks`, { url: receiver.url + path, push_events: false, [flag]: true })
    const hooks = [
      await hook('/open', 'note_events'),
      await hook('/hidden', 'confidential_note_events'),
    ]
    const path = await issue()
    const secret = await ana.post(`${at}/issues`, { title: 'Secret', confidential: true })
    await newDeliveries()
    await ana.post(`${path}/notes`, { body: 'Among us', internal: true })
    await ana.post(`${at}/issues/${secret.body.iid}/notes`, { body: 'About the secret' })
    await ana.post(`${path}/notes`, { body: 'For all' })
    await world.runTasks()
    const sent = receiver.received.map(({ url, headers, body }) =>
      [url, headers['x-svc-event'], body.event_type, body.object_attributes.note].join(', '),
    )
    expect(sent.sort()).toEqual([
      '/hidden, Confidential Note Hook, confidential_note, About the secret',
      '/hidden, Confidential Note Hook, confidential_note, Among us',
      '/open, Note Hook, note, For all',
    ])
    for (const { body } of hooks) await ana.delete(`${at}/hooks/${body.id}`)
  })
})

describe('a reaction', () => {
  test('to an issue and to a comment is sent with what it is on, given and taken back', async () => {
    const path = await issue()
    const { body: about } = await ana.get(path)
    const note = (await ana.post(`${path}/notes`, { body: 'Nice' })).body
    const hook = { url: receiver.url, push_events: false, emoji_events: true }
    const made = await ana.post(`${at}/hooks`, hook)
    const award = (await bob.post(`${path}/award_emoji`, { name: 'heart' })).body
    const [sent] = await newDeliveries()
    expect(sent).toEqual({
      header: 'Emoji Hook',
      body: {
        object_kind: 'emoji',
        event_type: 'award',
        user: person(bob),
        project_id: projectId,
        project: expect.objectContaining({ id: projectId }),
        object_attributes: {
          id: award.id,
          user_id: bob.id,
          name: 'heart',
          awardable_type: 'Issue',
          awardable_id: about.id,
          created_at: award.created_at,
          updated_at: award.updated_at,
          action: 'award',
          awarded_on_url: about.web_url,
        },
        issue: expect.objectContaining({ id: about.id }),
      },
    })
    await bob.delete(`${path}/award_emoji/${award.id}`)
    expect((await newDeliveries())[0]?.body).toMatchObject({
      event_type: 'revoke',
      object_attributes: { id: award.id, name: 'heart', action: 'revoke' },
    })
    await bob.post(`${path}/notes/${note.id}/award_emoji`, { name: 'tada' })
    expect((await newDeliveries())[0]?.body).toMatchObject({
      object_attributes: {
        awardable_type: 'Note',
        awardable_id: note.id,
        awarded_on_url: `${about.web_url}#note_${note.id}`,
      },
      note: { id: note.id, note: 'Nice' },
      issue: { id: about.id },
    })
    await ana.delete(`${at}/hooks/${made.body.id}`)
  })
})

test('an issue is sent once to the hooks of each group above, and to none beside it', async () => {
  const below = await createGroup(ana, 'below', { parent_id: groupId })
  const beside = await createGroup(ana, 'beside')
  const inside = await createProject(ana, 'inside', { namespace_id: below.id })
  const hooks: string[] = []
  for (const [path, id] of [
    ['/top', groupId],
    ['/below', below.id],
    ['/beside', beside.id],
  ]) {
    const hook = { url: receiver.url + path, push_events: false, issues_events: true }
    const made = await ana.post(`/groups/${id}/hooks`, hook)
    hooks.push(`/groups/${id}/hooks/${made.body.id}`)
  }
  await ana.post(`/projects/${inside.id}/issues`, { title: 'Deep' })
  await world.runTasks()
  expect(receiver.received.map(({ url }) => url).sort()).toEqual(['/below', '/top'])
  for (const path of hooks) await ana.delete(path)
})

test('an issue that is put elsewhere among the others, or saved as it was, is no news', async () => {
  const [one, other] = [await issue(), await issue()]
  const { body: last } = await ana.get(other)
  expect((await ana.put(`${one}/reorder`, { move_after_id: last.id })).status).toBe(200)
  expect(await newDeliveries()).toEqual([])
  expect((await change(one, { title: 'Broken', state_event: 'reopen' })).found).toEqual([])
})

test('an issue that is closed for another shows which', async () => {
  const [one, other] = [await issue(), await issue()]
  const { body: same } = await ana.get(other)
  await ana.post(`${one}/notes`, { body: `/duplicate #${same.iid}` })
  expect((await newDeliveries()).map(({ body }) => body)).toMatchObject([
    {
      object_attributes: { action: 'close', duplicated_to_id: same.id },
      changes: { duplicated_to_id: { previous: null, current: same.id } },
    },
  ])
})

test('an issue that moves to another project is sent there as new, and here as closed', async () => {
  const target = await createProject(ana, 'target', { namespace_id: groupId })
  const hook = { url: `${receiver.url}/target`, push_events: false, issues_events: true }
  await ana.post(`/projects/${target.id}/hooks`, hook)
  const path = await issue({ title: 'Moving' })
  const moved = await ana.post(`${path}/move`, { to_project_id: target.id })
  expect(moved.status).toBe(201)
  await world.runTasks()
  const sent = receiver.received.map(({ url, body }) => ({
    url,
    action: body.object_attributes.action,
    project: body.project.id,
    moved_to: body.object_attributes.moved_to_id,
  }))
  expect(sent).toEqual(
    expect.arrayContaining([
      { url: '/target', action: 'open', project: target.id, moved_to: null },
      { url: '/', action: 'close', project: projectId, moved_to: moved.body.id },
    ]),
  )
})

test('the time of an issue is sent as a change of it, unless it stays as it was', async () => {
  const one = await issue()
  const sent = async (path: string, body?: Record<string, unknown>) => {
    expect((await ana.post(`${one}/${path}`, body)).status).toBeLessThan(300)
    return (await newDeliveries()).map(({ body }) => {
      const { updated_at: _, ...changes } = body.changes
      return [body.object_attributes.action, changes]
    })
  }
  const estimated = { time_estimate: { previous: 0, current: 7200 } }
  expect(await sent('time_estimate', { duration: '2h' })).toEqual([['update', estimated]])
  expect(await sent('time_estimate', { duration: '2h' })).toEqual([])
  const spent = { total_time_spent: { previous: 0, current: 3600 } }
  expect(await sent('add_spent_time', { duration: '1h' })).toEqual([['update', spent]])
  const reset = { total_time_spent: { previous: 3600, current: 0 } }
  expect(await sent('reset_spent_time')).toEqual([['update', reset]])
  const gone = { time_estimate: { previous: 7200, current: 0 } }
  expect(await sent('reset_time_estimate')).toEqual([['update', gone]])
  expect(await sent('notes', { body: '/spend 30m' })).toEqual([
    ['update', { total_time_spent: { previous: 0, current: 1800 } }],
  ])
})
