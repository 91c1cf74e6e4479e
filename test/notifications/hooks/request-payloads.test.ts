import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
const bob = useCaller(world, 'bob')
let bench: Bench
let receiver: Receiver
let at: string
let count = 0

beforeAll(async () => {
  receiver = await openReceiver()
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, bob.id, 40)
  const flags = { push_events: false, merge_requests_events: true }
  expect((await ana.post(`${at}/hooks`, { url: receiver.url, ...flags })).status).toBe(201)
})
afterAll(() => receiver.close())
afterEach(() => {
  receiver.received.length = 0
})

/** What arrived since the last look, without what only says that the request can be merged now. */
async function newDeliveries() {
  await world.runTasks()
  const found = receiver.received.map(({ body }) => body)
  receiver.received.length = 0
  return found
}

/** A branch with a commit, and a request to take it; what hooks are sent for that is dropped. */
async function opened(more: Record<string, unknown> = {}) {
  count += 1
  const branch = `branch-${count}`
  const head = bench.commit(branch, { [`${branch}.txt`]: 'x\n' })
  const { body } = await bench.open(branch, more)
  await newDeliveries()
  return { branch, head, request: body, path: `${bench.api}/${body.iid}` }
}

const person = (caller: Caller) => ({
  id: caller.id,
  name: caller.username,
  username: caller.username,
  avatar_url: null,
  email: '[REDACTED]',
})

describe('a new merge request', () => {
  test('is sent with every field, and nothing else', async () => {
    const head = bench.commit('whole', { 'whole.txt': 'x\n' })
    const label = (await ana.post(`${at}/labels`, { name: 'bug', color: '#ff0000' })).body
    const milestone = (await ana.post(`${at}/milestones`, { title: 'v1' })).body
    const { body: request } = await bench.open('whole', {
      description: 'Takes it **all**',
      labels: 'bug',
      milestone_id: milestone.id,
      assignee_ids: [bob.id],
      reviewer_ids: [bob.id],
      remove_source_branch: true,
    })
    const [sent, ...others] = await newDeliveries()
    expect(others).toEqual([])
    const { externalUrl } = world.ctx.config
    const url = `${externalUrl}/${bench.project.fullPath}`
    const ssh = `git@${new URL(externalUrl).hostname}:${bench.project.fullPath}.git`
    const project = {
      id: bench.project.id,
      name: bench.project.fullPath.split('/')[1],
      description: '',
      web_url: url,
      avatar_url: null,
      git_ssh_url: ssh,
      git_http_url: `${url}.git`,
      namespace: 'ana',
      visibility_level: 0,
      path_with_namespace: bench.project.fullPath,
      default_branch: 'main',
      ci_config_path: '',
      homepage: url,
      url: ssh,
      ssh_url: ssh,
      http_url: `${url}.git`,
    }
    const labels = [
      {
        id: label.id,
        title: 'bug',
        color: '#ff0000',
        project_id: bench.project.id,
        description: null,
        type: 'ProjectLabel',
      },
    ]
    expect(sent).toEqual({
      object_kind: 'merge_request',
      event_type: 'merge_request',
      user: person(ana),
      project,
      repository: {
        name: project.name,
        url: ssh,
        description: '',
        homepage: url,
        git_http_url: `${url}.git`,
        git_ssh_url: ssh,
        visibility_level: 0,
      },
      object_attributes: {
        id: request.id,
        iid: request.iid,
        source_branch: 'whole',
        target_branch: 'main',
        source_project_id: bench.project.id,
        target_project_id: bench.project.id,
        author_id: ana.id,
        assignee_id: bob.id,
        assignee_ids: [bob.id],
        reviewer_ids: [bob.id],
        title: 'Take whole',
        description: 'Takes it **all**',
        state: 'opened',
        state_id: 1,
        merge_status: expect.any(String),
        detailed_merge_status: expect.any(String),
        blocking_discussions_resolved: true,
        draft: false,
        work_in_progress: false,
        merge_params: { force_remove_source_branch: true },
        merge_when_pipeline_succeeds: false,
        merge_commit_sha: null,
        merge_user_id: null,
        milestone_id: milestone.id,
        time_estimate: 0,
        total_time_spent: 0,
        human_time_estimate: null,
        human_total_time_spent: null,
        prepared_at: expect.toSatisfy((time: unknown) => time === null || typeof time === 'string'),
        created_at: request.created_at,
        updated_at: request.updated_at,
        last_commit: {
          id: head,
          message: 'Change whole\n',
          title: 'Change whole',
          timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/),
          url: `${url}/-/commit/${head}`,
          author: { name: 'Ana Author', email: 'ana@example.com' },
        },
        source: project,
        target: project,
        labels,
        url: request.web_url,
        action: 'open',
      },
      labels,
      changes: {},
      assignees: [person(bob)],
      reviewers: [person(bob)],
    })
  })
})

describe('a change of a merge request', () => {
  test.each([
    ['title', 'Another title', 'title'],
    ['description', 'Some words', 'description'],
    ['discussion_locked', true, 'discussion_locked'],
    ['squash', true, 'squash'],
    ['remove_source_branch', true, 'force_remove_source_branch'],
  ] as const)('of %s to %j shows the value before and after', async (field, value, key) => {
    const { path, request } = await opened()
    const before = request[key] ?? null
    world.setNow(new Date(Date.UTC(2026, 4, 4, 11, count)).toISOString())
    expect((await ana.put(path, { [field]: value })).status).toBe(200)
    const found = await newDeliveries()
    expect(found).toHaveLength(1)
    expect(found[0].object_attributes.action).toBe('update')
    expect(found[0].object_attributes).not.toHaveProperty('oldrev')
    expect(found[0].changes).toEqual({
      [key]: { previous: before, current: value },
      updated_at: { previous: request.updated_at, current: world.ctx.now() },
    })
  })

  test('of its draft state shows the title and the state', async () => {
    const { path } = await opened()
    await ana.put(path, { title: 'Draft: not yet' })
    const [sent] = await newDeliveries()
    expect(sent).toMatchObject({
      object_attributes: { action: 'update', draft: true, work_in_progress: true },
      changes: { draft: { previous: false, current: true }, title: { current: 'Draft: not yet' } },
    })
  })

  test('of people and labels shows all of them, before and after', async () => {
    const { path } = await opened()
    await ana.put(path, { assignee_ids: [bob.id], reviewer_ids: [ana.id], labels: 'bug' })
    const [sent] = await newDeliveries()
    expect(sent).toMatchObject({
      assignees: [{ id: bob.id }],
      reviewers: [{ id: ana.id }],
      labels: [{ title: 'bug' }],
      changes: {
        assignees: { previous: [], current: [person(bob)] },
        reviewers: { previous: [], current: [person(ana)] },
        labels: { previous: [], current: [{ title: 'bug' }] },
      },
    })
    await ana.put(path, { assignee_ids: [], reviewer_ids: [], labels: '' })
    const [freed] = await newDeliveries()
    expect(freed.changes).toMatchObject({
      assignees: { previous: [person(bob)], current: [] },
      reviewers: { current: [] },
      labels: { current: [] },
    })
  })

  test('of its target branch shows both', async () => {
    await ana.post(`${at}/repository/branches?branch=release&ref=main`)
    const { path } = await opened()
    await ana.put(path, { target_branch: 'release' })
    const [sent] = (await newDeliveries()).filter((body) => body.changes.target_branch)
    expect(sent).toMatchObject({
      object_attributes: { target_branch: 'release' },
      changes: { target_branch: { previous: 'main', current: 'release' } },
    })
  })

  test('of its state has an action of its own', async () => {
    const { path } = await opened()
    await ana.put(path, { state_event: 'close' })
    await bob.put(path, { state_event: 'reopen' })
    const found = await newDeliveries()
    expect(
      found.map(({ object_attributes: { action, state, state_id }, user }) => [
        action,
        // The payload shows the request as it is when it is made.
        ['opened', 'closed'].includes(state),
        [1, 2].includes(state_id),
        user.username,
      ]),
    ).toEqual([
      ['close', true, true, 'ana'],
      ['reopen', true, true, 'bob'],
    ])
  })
})

describe('a push to a merge request', () => {
  test('is an update that shows the head before it', async () => {
    const { branch, head, request } = await opened()
    const made = await bob.post(`${at}/repository/commits`, {
      branch,
      commit_message: 'More',
      actions: [{ action: 'create', file_path: `more-${count}`, content: 'x' }],
    })
    const found = await newDeliveries()
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      user: { username: 'bob' },
      object_attributes: {
        action: 'update',
        iid: request.iid,
        oldrev: head,
        last_commit: { id: made.body.id, title: 'More' },
      },
    })
  })
})

describe('a review', () => {
  test('that approves and takes it back is sent, one by one', async () => {
    const { path } = await opened()
    expect((await bob.post(`${path}/approve`)).status).toBe(201)
    const [approved] = await newDeliveries()
    expect(approved.object_attributes.action).toMatch(/^(approved|approval)$/)
    expect(approved.user.username).toBe('bob')
    expect((await bob.post(`${path}/unapprove`)).status).toBe(201)
    const [unapproved] = await newDeliveries()
    expect(unapproved.object_attributes.action).toMatch(/^(unapproved|unapproval)$/)
  })

  test('that is one of two which are needed is an approval, and the second approves', async () => {
    const cid = await world.user('cid')
    await addMember(world, bench.project.id, cid.id, 40)
    const { path } = await opened()
    const rule = { name: 'Two', approvals_required: 2, user_ids: [bob.id, cid.id] }
    expect((await ana.post(`${path}/approval_rules`, rule)).status).toBe(201)
    expect((await ana.get(`${path}/approvals`)).body.approvals_required).toBe(2)
    await newDeliveries()
    const action = async (act: () => Promise<{ status: number }>) => {
      expect((await act()).status).toBe(201)
      return (await newDeliveries()).map((body) => body.object_attributes.action)
    }
    expect(await action(() => bob.post(`${path}/approve`))).toEqual(['approval'])
    expect(await action(() => cid.post(`${path}/approve`))).toEqual(['approved'])
    expect(await action(() => bob.post(`${path}/unapprove`))).toEqual(['unapproved'])
    expect(await action(() => cid.post(`${path}/unapprove`))).toEqual(['unapproval'])
  })
})

describe('a merge', () => {
  test('is sent once, with its commit and who merged', async () => {
    const { path, request } = await opened()
    const merged = await bob.put(`${path}/merge`)
    expect(merged.status).toBe(200)
    const found = await newDeliveries()
    const { body: after } = await ana.get(path)
    expect(after.state).toBe('merged')
    const merges = found.filter((body) => body.object_attributes.action === 'merge')
    expect(merges).toMatchObject([
      {
        user: { username: 'bob' },
        object_attributes: {
          iid: request.iid,
          state: 'merged',
          state_id: 3,
          merge_commit_sha: after.merge_commit_sha,
          merge_user_id: bob.id,
        },
      },
    ])
  })
})

test('a request from a fork shows both projects', async () => {
  await ana.put(at, { visibility: 'public' })
  const forked = await bob.post(`${at}/fork`, { path: 'forked' })
  expect(forked.status).toBe(201)
  await world.runTasks()
  const there = `/projects/${forked.body.id}`
  const commit = await bob.post(`${there}/repository/commits`, {
    branch: 'theirs',
    start_branch: 'main',
    commit_message: 'Theirs',
    actions: [{ action: 'create', file_path: 'theirs', content: 'x' }],
  })
  expect(commit.status).toBe(201)
  const made = await bob.post(`${there}/merge_requests`, {
    source_branch: 'theirs',
    target_branch: 'main',
    target_project_id: bench.project.id,
    title: 'From a fork',
  })
  expect(made.status).toBe(201)
  const [sent] = await newDeliveries()
  expect(sent).toMatchObject({
    project: { id: bench.project.id },
    object_attributes: {
      source_project_id: forked.body.id,
      target_project_id: bench.project.id,
      source: { id: forked.body.id, path_with_namespace: 'bob/forked' },
      target: { id: bench.project.id },
      last_commit: { id: commit.body.id },
    },
  })
})

test('hooks of the instance are called for merge requests when these are on', async () => {
  const url = `${receiver.url}/all`
  const given = { url, merge_requests_events: true, repository_update_events: false }
  const { body } = await world.root.post('/hooks', given)
  const { path } = await opened()
  await ana.put(path, { title: 'For all' })
  await world.runTasks()
  const sent = receiver.received.filter((one) => one.url === '/all')
  expect(sent.map(({ headers, body }) => [headers['x-svc-event'], body.object_kind])).toEqual([
    ['System Hook', 'merge_request'],
  ])
  await world.root.delete(`/hooks/${body.id}`)
})

test('an edit that changes nothing is not sent', async () => {
  const { path } = await opened({ labels: 'bug' })
  const { body } = await ana.get(path)
  world.setNow('2026-05-04T20:00:00.000Z')
  expect((await ana.put(path, { title: body.title, labels: 'bug' })).status).toBe(200)
  expect(await newDeliveries()).toEqual([])
})

test('the time of a merge request is sent as a change of it', async () => {
  const { path } = await opened()
  const sent = async (action: string, body?: Record<string, unknown>) => {
    expect((await ana.post(`${path}/${action}`, body)).status).toBeLessThan(300)
    return (await newDeliveries()).map((body) => {
      const { updated_at: _, ...changes } = body.changes
      return [body.object_attributes.action, changes]
    })
  }
  const estimated = { time_estimate: { previous: 0, current: 7200 } }
  expect(await sent('time_estimate', { duration: '2h' })).toEqual([['update', estimated]])
  const spent = { total_time_spent: { previous: 0, current: 3600 } }
  expect(await sent('add_spent_time', { duration: '1h' })).toEqual([['update', spent]])
  const reset = { total_time_spent: { previous: 3600, current: 0 } }
  expect(await sent('reset_spent_time')).toEqual([['update', reset]])
})
