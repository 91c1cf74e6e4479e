import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let receiver: Receiver
let hooks: string

beforeAll(async () => {
  receiver = await openReceiver()
  project = await addProject(world, ana, 'basic')
  await addMember(world, project.id, dev.id, 30)
  hooks = `/projects/${project.id}/hooks`
})
afterAll(() => receiver.close())
afterEach(async () => {
  world.setNow('2026-05-04T10:00:00.000Z')
  receiver.answer((response) => void response.end('ok'))
  receiver.received.length = 0
  for (const hook of (await ana.get(hooks)).body) await ana.delete(`${hooks}/${hook.id}`)
})

async function hook(more: Record<string, unknown> = {}) {
  const made = await ana.post(hooks, { url: `${receiver.url}/in`, push_events: false, ...more })
  expect(made.status).toBe(201)
  return made.body
}

async function commit(message: string, branch = 'main') {
  const made = await ana.post(`/projects/${project.id}/repository/commits`, {
    branch,
    commit_message: message,
    actions: [{ action: 'create', file_path: `f-${message}-${branch}`, content: 'x' }],
  })
  expect(made.status).toBe(201)
  await world.runTasks()
  return made.body
}

describe('webhooks', () => {
  test('take no token or header value that would break out of a header', async () => {
    const url = `${receiver.url}/in`
    for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\rb', 'a\0b', '\u20ac']) {
      const token = await ana.post(hooks, { url, token: value })
      expect(token.status).toBe(400)
      const header = await ana.post(hooks, { url, custom_headers: [{ key: 'X-A', value }] })
      expect(header.status).toBe(400)
    }
    const { id } = await hook({ token: 'gr\u00fcn\tund gut' })
    expect((await ana.put(`${hooks}/${id}`, { token: 'a\nb' })).status).toBe(400)
    expect((await ana.post(`${hooks}/${id}/test/push_events`)).status).toBe(201)
  })

  test('that go while they are changed or sent to are not there, and nothing fails', async () => {
    for (let round = 0; round < 5; round += 1) {
      const at = `${hooks}/${(await hook()).id}`
      const calls = [
        ana.put(`${at}/url_variables/a`, { value: '1' }),
        ana.put(at, { name: 'n' }),
        ana.delete(at),
        ana.put(`${at}/url_variables/b`, { value: '1' }),
        ana.put(at, { url: `${receiver.url}/other` }),
        ana.delete(`${at}/custom_headers/c`),
        ana.delete(at),
      ]
      for (const { status } of await Promise.all(calls)) expect([200, 204, 404]).toContain(status)
    }
    const { id } = await hook()
    receiver.answer((response) => {
      void ana.delete(`${hooks}/${id}`).then(() => response.end('ok'))
    })
    expect((await ana.post(`${hooks}/${id}/test/push_events`)).status).toBe(201)
    expect((await ana.get(`${hooks}/${id}`)).status).toBe(404)
  })

  test('keep every variable that is set at once with others', async () => {
    const { id } = await hook()
    const keys = ['a', 'b', 'c', 'd', 'e']
    await Promise.all(
      keys.map((key) => ana.put(`${hooks}/${id}/url_variables/${key}`, { value: key })),
    )
    const { body } = await ana.get(`${hooks}/${id}`)
    expect(body.url_variables.map((one: { key: string }) => one.key).sort()).toEqual(keys)
  })

  test('are kept without showing their secrets', async () => {
    const made = await hook({
      token: 's3cret',
      custom_headers: [{ key: 'X-Mine', value: 'v4lue' }],
      issues_events: true,
    })
    expect(made).toMatchObject({
      url: `${receiver.url}/in`,
      project_id: project.id,
      push_events: false,
      issues_events: true,
      enable_ssl_verification: true,
      alert_status: 'executable',
      disabled_until: null,
      custom_headers: [{ key: 'X-Mine' }],
      url_variables: [],
    })
    expect(JSON.stringify(made)).not.toMatch(/s3cret|v4lue/)
    const row = await world.ctx.db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toMatch(/s3cret|v4lue|127\.0\.0\.1/)
    const changed = await ana.put(`${hooks}/${made.id}`, { issues_events: false, name: 'n' })
    expect(changed.body).toMatchObject({ issues_events: false, name: 'n' })
    expect((await ana.get(`${hooks}/${made.id}`)).body.name).toBe('n')
    expect((await dev.get(hooks)).status).toBe(403)
    expect((await world.nobody.get(hooks)).status).toBe(404)
    expect((await ana.delete(`${hooks}/${made.id}`)).status).toBe(204)
    expect((await ana.get(`${hooks}/${made.id}`)).status).toBe(404)
  })

  test.each([
    'http://169.254.169.254/latest',
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://2130706434/',
    'http://metadata.google.internal/',
  ])('may not point at %s', async (url) => {
    const made = await ana.post(hooks, { url })
    expect([made.status, made.body]).toEqual([
      422,
      {
        error: expect.stringMatching(
          /^Invalid url given: requests to \S+ are not allowed: .*GITSTEAD_OUTBOUND_ALLOW/,
        ),
      },
    ])
  })

  test.each(['ftp://example.com/', 'file:///etc/passwd', 'nothing'])(
    'may not have the address %s',
    async (url) => {
      const made = await ana.post(hooks, { url })
      expect([made.status, made.body]).toEqual([
        422,
        { error: 'Invalid url given: the URL must begin with http:// or https://' },
      ])
    },
  )

  test('are called for pushes, with what was pushed and by whom', async () => {
    await hook({
      push_events: true,
      token: 's3cret',
      custom_headers: [{ key: 'X-Mine', value: 'v' }],
    })
    const made = await commit('Add one thing')
    expect(receiver.received).toHaveLength(1)
    const [{ headers, body } = { headers: {}, body: null }] = receiver.received
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-svc-event': 'Push Hook',
      'x-gitlab-event': 'Push Hook',
      'x-svc-token': 's3cret',
      'x-mine': 'v',
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-svc-event-uuid': expect.any(String),
      'x-svc-webhook-uuid': expect.any(String),
    })
    expect(body).toMatchObject({
      object_kind: 'push',
      event_name: 'push',
      before: made.parent_ids[0],
      after: made.id,
      ref: 'refs/heads/main',
      checkout_sha: made.id,
      user_username: 'ana',
      project_id: project.id,
      project: { path_with_namespace: 'ana/basic', visibility_level: 0, default_branch: 'main' },
      commits: [{ id: made.id, title: 'Add one thing', modified: [], removed: [] }],
      total_commits_count: 1,
    })
    expect(body.commits[0].added).toHaveLength(1)
  })

  test('are called for the branches of their filter', async () => {
    await hook({ push_events: true, push_events_branch_filter: 'rel/*' })
    await commit('No')
    expect(receiver.received).toHaveLength(0)
    const from = `/projects/${project.id}/repository/branches`
    await ana.post(`${from}?branch=rel/1&ref=main`)
    await world.runTasks()
    expect(receiver.received[0]?.body).toMatchObject({
      ref: 'refs/heads/rel/1',
      before: '0'.repeat(40),
    })
    await ana.delete(`${from}/rel%2F1`)
    await world.runTasks()
    expect(receiver.received[1]?.body).toMatchObject({
      after: '0'.repeat(40),
      checkout_sha: null,
      commits: [],
    })
  })

  test('are called for tags, issues, comments and releases', async () => {
    const events = ['tag_push_events', 'issues_events', 'note_events', 'releases_events']
    await hook(Object.fromEntries(events.map((name) => [name, true])))
    const issues = `/projects/${project.id}/issues`
    const { body: issue } = await ana.post(issues, { title: 'Broken', labels: 'bug' })
    await ana.put(`${issues}/${issue.iid}`, { title: 'Repaired', state_event: 'close' })
    await ana.post(`${issues}/${issue.iid}/notes`, { body: 'Done' })
    await ana.post(issues, { title: 'Hidden', confidential: true })
    const release = { tag_name: 'hook-1', ref: 'main', tag_message: 'First' }
    expect((await ana.post(`/projects/${project.id}/releases`, release)).status).toBe(201)
    await world.runTasks()
    const kinds = receiver.received.map(({ headers, body }) => [
      headers['x-svc-event'],
      body.object_kind,
      body.object_attributes?.action ?? body.action ?? body.ref,
    ])
    expect(kinds).toHaveLength(5)
    expect(kinds).toEqual(
      expect.arrayContaining([
        ['Issue Hook', 'issue', 'open'],
        ['Issue Hook', 'issue', 'close'],
        ['Note Hook', 'note', 'create'],
        ['Release Hook', 'release', 'create'],
        ['Tag Push Hook', 'tag_push', 'refs/tags/hook-1'],
      ]),
    )
    const bodies = receiver.received.map((one) => one.body)
    const closed = bodies.find((body) => body.object_attributes?.action === 'close')
    expect(closed.changes).toMatchObject({
      title: { previous: 'Broken', current: 'Repaired' },
      state_id: { previous: 1, current: 2 },
    })
    expect(closed.labels).toMatchObject([{ title: 'bug' }])
    const note = bodies.find((body) => body.object_kind === 'note')
    expect(note).toMatchObject({
      object_attributes: { note: 'Done', noteable_type: 'Issue' },
      issue: { iid: issue.iid, title: 'Repaired' },
    })
    expect(bodies.find((body) => body.object_kind === 'tag_push').message).toBe('First')
  })

  test('send what their template says to the address that their variables make', async () => {
    await hook({
      url: `${receiver.url}/{room}`,
      url_variables: [{ key: 'room', value: 'hidden-room' }],
      issues_events: true,
      custom_webhook_template: '{"text":"{{object_attributes.title}}","id":{{project.id}}}',
    })
    await ana.post(`/projects/${project.id}/issues`, { title: 'A "quoted" one' })
    await world.runTasks()
    expect(receiver.received[0]?.url).toBe('/hidden-room')
    expect(receiver.received[0]?.body).toEqual({ text: 'A "quoted" one', id: project.id })
    const [one] = (await ana.get(hooks)).body
    expect(one.url).toBe(`${receiver.url}/{room}`)
    const log = await ana.get(`${hooks}/${one.id}/events`)
    expect(JSON.stringify(log.body)).not.toContain('hidden-room')
  })

  test('change one header or variable at a time', async () => {
    const { id } = await hook()
    const at = `${hooks}/${id}`
    expect((await ana.put(`${at}/custom_headers/X-One`, { value: 'a' })).status).toBe(204)
    expect((await ana.put(`${at}/url_variables/one`, { value: 'a' })).status).toBe(204)
    expect((await ana.put(`${at}/custom_headers/Host`, { value: 'a' })).status).toBe(400)
    expect((await ana.put(`${at}/custom_headers/X-Svc-Token`, { value: 'a' })).status).toBe(400)
    expect((await ana.put(`${at}/custom_headers/X-Two`, { value: 'a\r\nb: c' })).status).toBe(400)
    expect((await ana.get(at)).body).toMatchObject({
      custom_headers: [{ key: 'X-One' }],
      url_variables: [{ key: 'one' }],
    })
    expect((await ana.delete(`${at}/custom_headers/X-One`)).status).toBe(204)
    expect((await ana.delete(`${at}/url_variables/one`)).status).toBe(204)
    expect((await ana.delete(`${at}/url_variables/one`)).status).toBe(404)
  })

  test('are tried out with an example, and the answer says when that failed', async () => {
    // Five tries a minute: the ones before were another minute's.
    world.setNow('2026-05-04T10:05:00.000Z')
    const { id } = await hook({ token: 't' })
    const tried = await ana.post(`${hooks}/${id}/test/push_events`)
    expect([tried.status, tried.body]).toEqual([201, { message: '201 Created' }])
    expect(receiver.received[0]?.body.object_kind).toBe('push')
    expect((await ana.post(`${hooks}/${id}/test/pipeline_events`)).status).toBe(422)
    expect((await ana.post(`${hooks}/${id}/test/nothing`)).status).toBe(400)
    receiver.answer((response) => void response.writeHead(418).end('no'))
    const failed = await ana.post(`${hooks}/${id}/test/tag_push_events`)
    expect(failed.status).toBe(422)
    const log = await ana.get(`${hooks}/${id}/events?status=client_failure`)
    expect(log.body).toMatchObject([
      { trigger: 'tag_push_events', response_status: '418', response_body: 'no' },
    ])
    expect(log.body[0].request_headers['X-Svc-Token']).toBe('[REDACTED]')
    receiver.answer((response) => void response.end('now'))
    const again = await ana.post(`${hooks}/${id}/events/${log.body[0].id}/resend`)
    expect([again.status, again.body]).toEqual([201, { response_status: 200 }])
    expect((await ana.get(`${hooks}/${id}/events`)).body).toHaveLength(3)
  })
})

describe('a receiver', () => {
  const issue = () => ana.post(`/projects/${project.id}/issues`, { title: 'x' })

  test('that fails is asked again later, then rests, and is given up in the end', async () => {
    const { id } = await hook({ issues_events: true })
    receiver.answer((response) => void response.writeHead(500).end())
    await issue()
    const times = ['10:00:00', '10:00:11', '10:00:32', '10:01:13']
    for (const [at, time] of times.entries()) {
      world.setNow(`2026-05-04T${time}.000Z`)
      await world.runTasks()
      expect(receiver.received).toHaveLength(at + 1)
    }
    const keys = new Set(receiver.received.map((one) => one.headers['idempotency-key']))
    expect(keys.size).toBe(1)
    expect((await ana.get(`${hooks}/${id}`)).body).toMatchObject({
      alert_status: 'temporarily_disabled',
      disabled_until: '2026-05-04T10:02:13.000Z',
    })
    await issue()
    await world.runTasks()
    expect(receiver.received).toHaveLength(4)
    await world.ctx.db.updateTable('webhooks').set({ failures: 39 }).execute()
    world.setNow('2026-05-04T11:00:00.000Z')
    await issue()
    await world.runTasks()
    expect((await ana.get(`${hooks}/${id}`)).body.alert_status).toBe('disabled')
    world.setNow('2026-05-09T11:00:00.000Z')
    await issue()
    await world.runTasks()
    expect(receiver.received).toHaveLength(5)
    receiver.answer((response) => void response.end())
    expect((await ana.post(`${hooks}/${id}/test/issues_events`)).status).toBe(201)
    expect((await ana.get(`${hooks}/${id}`)).body.alert_status).toBe('executable')
  })

  test('that redirects to a private address is not followed', async () => {
    const { id } = await hook({ issues_events: true })
    receiver.answer(
      (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    )
    await issue()
    await world.runTasks()
    const log = await ana.get(`${hooks}/${id}/events`)
    expect(log.body).toMatchObject([
      { response_status: 'internal error', response_body: 'too many redirects' },
    ])
  })

  test('that answers without end is left after its first bytes', async () => {
    const { id } = await hook({ issues_events: true })
    receiver.answer((response) => {
      const chunk = Buffer.alloc(65_536, 'x')
      const more = () => {
        while (response.write(chunk)) {
          // until the socket is full
        }
      }
      response.on('drain', more)
      more()
    })
    await issue()
    await world.runTasks()
    const log = await ana.get(`${hooks}/${id}/events`)
    expect(log.body[0].response_status).toBe('200')
    expect(log.body[0].response_body).toHaveLength(8192)
  })

  test('that hangs holds up no other work', { timeout: 25_000 }, async () => {
    const { id } = await hook({ issues_events: true })
    receiver.answer(() => {})
    await issue()
    const begun = performance.now()
    const running = world.runTasks()
    await issue()
    expect(performance.now() - begun).toBeLessThan(5000)
    await running
    const log = await ana.get(`${hooks}/${id}/events`)
    expect(log.body[0]).toMatchObject({
      response_status: 'internal error',
      response_body: 'the answer took too long',
    })
  })
})

describe('hooks of groups and of the instance', () => {
  test('are called for all projects below', async () => {
    const group = await createGroup(ana, 'g')
    const made = await createProject(ana, 'in', { namespace_id: group.id })
    const groupHooks = `/groups/${group.id}/hooks`
    const { status, body } = await ana.post(groupHooks, {
      url: receiver.url,
      issues_events: true,
    })
    expect([status, body.group_id, body.subgroup_events]).toEqual([201, group.id, false])
    expect((await ana.get(groupHooks)).body).toHaveLength(1)
    expect((await ana.get(`${groupHooks}/${body.id}`)).status).toBe(200)
    const renamed = await ana.put(`${groupHooks}/${body.id}`, { name: 'all' })
    expect(renamed.body).toMatchObject({ name: 'all', issues_events: true })
    await ana.post(`/projects/${made.id}/issues`, { title: 'x' })
    await world.runTasks()
    expect(receiver.received).toHaveLength(1)
    const events = `${groupHooks}/${body.id}/events`
    const log = (await ana.get(events)).body
    expect(log).toHaveLength(1)
    const again = await ana.post(`${events}/${log[0].id}/resend`)
    expect([again.status, again.body]).toEqual([201, { response_status: 200 }])
    expect(receiver.received).toHaveLength(2)
    expect((await dev.get(groupHooks)).status).toBe(404)
    expect((await ana.delete(`${groupHooks}/${body.id}`)).status).toBe(204)
  })

  test('of the instance are for administrators, and are called for every repository', async () => {
    expect((await ana.get('/hooks')).status).toBe(403)
    const made = await world.root.post('/hooks', { url: receiver.url })
    expect(made.body).toMatchObject({ push_events: false, repository_update_events: true })
    const { id } = made.body
    await commit('Call the instance')
    expect(receiver.received[0]).toMatchObject({
      headers: { 'x-svc-event': 'System Hook' },
      body: { event_name: 'repository_update', refs: ['refs/heads/main'] },
    })
    const tried = await world.root.post(`/hooks/${id}`)
    expect([tried.status, tried.body.event_name]).toEqual([201, 'project_create'])
    expect((await world.root.put(`/hooks/${id}`, { push_events: true })).status).toBe(200)
    expect((await world.root.get(`/hooks/${id}`)).body.push_events).toBe(true)
    expect((await world.root.get('/hooks')).body).toHaveLength(1)
    expect((await world.root.delete(`/hooks/${id}`)).status).toBe(204)
  })
})
