import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { atOnce } from '../support/at-once.ts'
import { type MailServer, openMailServer } from '../support/mail-server.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'
import { type Monitored, metric, metrics, monitoredProject } from './alerts.ts'

let smtp: MailServer
let world: World
let ana: Caller
let bob: Caller
let dev: Caller
let guest: Caller
beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' }, { background: false })
  ana = await world.user('ana')
  bob = await world.user('bob')
  dev = await world.user('dev')
  guest = await world.user('guest')
})
beforeEach(async () => {
  await world.runTasks()
  smtp.clear()
})
afterAll(async () => {
  await world?.close()
  await smtp?.close()
})

let count = 0
async function project(settings: Record<string, unknown>): Promise<Monitored> {
  count += 1
  const one = await monitoredProject(world, ana, `incidents-${count}`)
  for (const [user, level] of [
    [bob, 40],
    [dev, 30],
    [guest, 10],
  ] as const)
    await ana.post(`${one.api}/members`, { user_id: user.id, access_level: level })
  await ana.put(`${one.api}/incident_management_settings`, settings)
  return one
}
const get = async (one: Monitored, path: string, by = ana) => (await by.get(one.api + path)).body
const subjects = (who: string) =>
  smtp
    .to(`${who}@example.com`)
    .map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1] ?? '')
    .filter((subject) => /Alert|Resolved/.test(subject))

describe('with create_issue', () => {
  test('an incident opens and closes with its alert, and says what the alert says', async () => {
    const one = await project({ create_issue: true, on_call_user_id: dev.id })
    await one.send(
      metrics([
        metric('db down', {
          annotations: { description: 'No answer', svc_incident_markdown: '**Call** the DBA' },
        }),
      ]),
    )
    await world.runTasks()
    const alert = await get(one, '/alert_management_alerts/1')
    const issue = await get(one, `/issues/${alert.issue.iid}`)
    expect(issue).toMatchObject({
      title: 'db down',
      issue_type: 'incident',
      state: 'opened',
      severity: 'LOW',
      author: { username: 'alert-bot' },
      assignees: [{ username: 'dev' }],
    })
    // The bot is the server's own: no service account to list or change.
    const listed = await world.root.get('/service_accounts?per_page=100')
    expect([listed.status, JSON.stringify(listed.body)]).toEqual([
      200,
      expect.not.stringContaining('alert-bot'),
    ])
    const renamed = await world.root.call('PATCH', `/service_accounts/${issue.author.id}`, {
      name: 'x',
    })
    expect([renamed.status, renamed.body]).toEqual([
      400,
      { message: '400 Bad request - User is not a service account' },
    ])
    expect(issue.description).toMatch(/\*\*full_query:\*\* `up == 0`[\s\S]*---[\s\S]*\*\*Call\*\*/)
    expect(await get(one, `/issues/${issue.iid}/incident`)).toMatchObject({
      severity: 'low',
      escalation_status: 'triggered',
    })
    await one.send(metrics([metric('db down', { status: 'resolved' })]))
    await world.runTasks()
    expect(await get(one, `/issues/${issue.iid}`)).toMatchObject({ state: 'closed' })
    expect(await get(one, `/issues/${issue.iid}/incident`)).toMatchObject({
      escalation_status: 'resolved',
    })
    const notes = await get(one, '/alert_management_alerts/1/notes?sort=asc')
    expect(notes.map((note: { body: string }) => note.body)).toEqual([
      'logged an alert from **Prometheus**',
      `created incident #${issue.iid} for this alert`,
      'changed the status to **Resolved**',
    ])
    expect((await get(one, `/issues/${issue.iid}/timeline_events`)).length).toBe(2)
  })

  test('an alert without a title names its incident by number, and one alert has one incident', async () => {
    const one = await project({ create_issue: true })
    await one.send({})
    await one.send({ title: 'same' })
    await one.send({ title: 'same' })
    await world.runTasks()
    await one.send({ title: 'same' })
    await world.runTasks()
    const issues = await get(one, '/issues?sort=asc')
    expect(issues.map((issue: { title: string }) => issue.title)).toEqual([
      'New: Incident 1',
      'same',
    ])
  })

  test('closing the incident by hand resolves the alert in the name of who closed it', async () => {
    const one = await project({ create_issue: true })
    await one.send({ title: 'a' })
    await world.runTasks()
    await bob.put(`${one.api}/issues/1`, { state_event: 'close' })
    expect(await get(one, '/alert_management_alerts/1')).toMatchObject({ status: 'resolved' })
    const [note] = await get(one, '/alert_management_alerts/1/notes')
    expect(note).toMatchObject({ system: true, author: { username: 'bob' } })
  })

  test('without auto_close_incident the incident stays open', async () => {
    const one = await project({ create_issue: true, auto_close_incident: false })
    await one.send({ title: 'a', fingerprint: 'f' })
    await world.runTasks()
    await one.send({ fingerprint: 'f', end_time: '2026-05-04T10:00:00Z' })
    await world.runTasks()
    expect(await get(one, '/issues/1')).toMatchObject({ state: 'opened' })
  })
})

test('an incident is opened by hand once, by whoever may', async () => {
  const one = await project({})
  await one.send({ title: 'a', severity: 'medium' })
  const path = `${one.api}/alert_management_alerts/1/incident`
  expect((await guest.post(path)).status).toBe(404)
  const made = await dev.post(path)
  expect(made.body).toMatchObject({ issue_type: 'incident', severity: 'MEDIUM' })
  expect((await dev.post(path)).body.message).toMatch('An issue already exists')
})

test('an incident shows the images of metrics that its alert has', async () => {
  const one = await project({})
  await one.send({ title: 'a' })
  const form = new FormData()
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  form.set('file', new Blob([new Uint8Array(png)]), 'graph.png')
  form.set('url', 'https://graph.example/1')
  form.set('url_text', 'load [1]')
  const alert = `${one.api}/alert_management_alerts/1`
  const image = (await dev.post(`${alert}/metric_images`, undefined, { raw: form })).body
  const { description } = (await dev.post(`${alert}/incident`)).body
  const address = world.ctx.config.externalUrl + image.file_path
  expect(description).toContain(`![load  1 ](${address}) [load  1 ](<https://graph.example/1>)`)
})

test('severity, escalation and the timeline of an incident change with notes', async () => {
  const one = await project({ create_issue: true })
  await one.send({ title: 'a' })
  await world.runTasks()
  const incident = `${one.api}/issues/1`
  const changed = await dev.put(`${incident}/incident`, {
    severity: 'high',
    escalation_status: 'acknowledged',
  })
  expect(changed.body).toEqual({
    issue_iid: 1,
    severity: 'high',
    escalation_status: 'acknowledged',
  })
  expect((await guest.put(`${incident}/incident`, { severity: 'low' })).status).toBe(403)
  const at = '2026-05-04T08:00:00.000Z'
  const event = (await dev.post(`${incident}/timeline_events`, { note: 'seen', occurred_at: at }))
    .body
  expect(event).toMatchObject({ action: 'comment', occurred_at: at, author: { username: 'dev' } })
  const future = { note: 'x', occurred_at: '2030-01-01T00:00:00Z' }
  expect((await dev.post(`${incident}/timeline_events`, future)).status).toBe(400)
  const events = await get(one, '/issues/1/timeline_events')
  expect(events[0].id).toBe(event.id)
  await dev.put(`${incident}/timeline_events/${event.id}`, { note: 'noticed' })
  expect((await dev.delete(`${incident}/timeline_events/${event.id}`)).status).toBe(204)
  expect((await get(one, '/issues/1/timeline_events')).length).toBe(events.length - 1)
})

describe('mail', () => {
  test('a storm is one mail and one summary for owners and maintainers, and nothing for others', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const one = await project({ send_email: true })
    await world.runTasks()
    smtp.clear()
    for (let n = 0; n < 30; n += 1) await one.send(metrics([metric(`alert ${n}`)]))
    await one.send(metrics([metric('alert 0', { status: 'resolved' })]))
    await world.runTasks()
    const first = [`incidents-${count} | Alert: alert 0`]
    expect([subjects('ana'), subjects('bob'), subjects('dev')]).toEqual([first, first, []])
    world.setNow('2026-05-04T10:11:00.000Z')
    await world.runTasks()
    expect(subjects('ana')).toEqual([
      ...first,
      `incidents-${count} | Alerts: 29 opened, 1 resolved`,
    ])
    world.setNow('2026-05-04T10:30:00.000Z')
    await world.runTasks()
    await one.send(metrics([metric('later')]))
    await world.runTasks()
    expect(subjects('bob')).toHaveLength(3)
  })

  test('nothing is sent without send_email, or for what people change by hand', async () => {
    const one = await project({})
    await one.send({ title: 'quiet' })
    await world.runTasks()
    const loud = await project({ send_email: true })
    await loud.send({ title: 'loud' })
    await world.runTasks()
    await ana.put(`${loud.api}/alert_management_alerts/1`, { status: 'acknowledged' })
    await world.runTasks()
    expect(subjects('ana')).toEqual([`incidents-${count} | Alert: loud`])
  })
})

describe('an alert in the hands of people', () => {
  test('is listed, counted, searched and sorted for developers, and hidden from others', async () => {
    const one = await project({})
    const tools = ['low', 'critical', 'info', 'high'].map((severity, n) => ({
      title: `alert ${n}`,
      severity,
      service: n === 2 ? 'Billing' : 'web',
    }))
    for (const payload of tools) await one.send(payload)
    const list = async (query: string) =>
      (await get(one, `/alert_management_alerts?${query}`, dev)).map(
        (alert: { iid: number }) => alert.iid,
      )
    expect(await list('sort=severity_desc')).toEqual([2, 4, 1, 3])
    expect(await list('sort=severity_asc')).toEqual([3, 1, 4, 2])
    expect(await list('search=bILL')).toEqual([3])
    expect(await list('search=%25')).toEqual([])
    await dev.put(`${one.api}/alert_management_alerts/2`, {
      status: 'acknowledged',
      assignee_ids: [dev.id],
    })
    expect(await list('assignee_username=dev')).toEqual([2])
    expect(await list('status[]=acknowledged&status[]=resolved')).toEqual([2])
    expect(await list('iid=4')).toEqual([4])
    expect(await get(one, '/alert_management_alerts/status_counts', dev)).toEqual({
      triggered: 3,
      acknowledged: 1,
      resolved: 0,
      ignored: 0,
      open: 4,
      all: 4,
    })
    const path = `${one.api}/alert_management_alerts`
    expect((await dev.get(`${path}?sort=odd_asc`)).status).toBe(400)
    expect((await dev.get(`${path}?status[]=odd`)).status).toBe(400)
    expect((await guest.get(path)).status).toBe(403)
    expect((await guest.get(`${path}/1`)).status).toBe(404)
    expect((await world.nobody.get(`${path}/1`)).status).toBe(404)
  })

  test('gives its assignee a to-do, which is done when the alert is', async () => {
    const one = await project({})
    await one.send({ title: 'fix me' })
    const path = `${one.api}/alert_management_alerts/1`
    expect((await ana.put(path, {})).body.message).toMatch('Please provide attributes to update')
    expect((await ana.put(path, { assignee_ids: [guest.id] })).body.message).toMatch(
      'Assignee has no permissions',
    )
    expect((await ana.put(path, { assignee_ids: [dev.id, bob.id] })).body.assignees).toHaveLength(1)
    const [todo] = (await dev.get('/todos?type=AlertManagement::Alert')).body
    expect(todo).toMatchObject({
      target_type: 'AlertManagement::Alert',
      action_name: 'assigned',
      body: 'fix me',
    })
    await ana.put(path, { status: 'resolved' })
    expect((await dev.get('/todos?type=Alert')).body).toEqual([])
    expect((await ana.put(path, { status: 'triggered' })).body.ended_at).toBeNull()
  })

  test('cannot leave resolved while another alert of its fingerprint is open', async () => {
    const one = await project({})
    await one.send({ title: 'a' })
    await ana.put(`${one.api}/alert_management_alerts/1`, { status: 'resolved' })
    await one.send({ title: 'a' })
    const reopened = await ana.put(`${one.api}/alert_management_alerts/1`, { status: 'triggered' })
    expect(reopened.status).toBe(400)
  })

  test('takes notes of people beside its own', async () => {
    const one = await project({})
    await one.send({ title: 'a' })
    await world.runTasks()
    const notes = `${one.api}/alert_management_alerts/1/notes`
    const note = await dev.post(notes, { body: 'I look at it' })
    expect(note.body).toMatchObject({ noteable_type: 'Alert', noteable_iid: 1 })
    expect((await guest.post(notes, { body: 'me too' })).status).toBe(403)
    expect((await dev.get(notes)).body).toHaveLength(2)
  })

  test('has images, of the kinds and sizes that are allowed', async () => {
    const one = await project({})
    await one.send({ title: 'a' })
    const path = `${one.api}/alert_management_alerts/1/metric_images`
    const png = Buffer.concat([
      Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      Buffer.alloc(100),
    ])
    const post = (bytes: Buffer, name: string, more: Record<string, string> = {}) => {
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(bytes)]), name)
      for (const [key, value] of Object.entries(more)) form.set(key, value)
      return dev.post(path, undefined, { raw: form })
    }
    const made = await post(png, 'graph.png', { url: 'https://graph.example/1', url_text: 'load' })
    expect(made.status).toBe(201)
    const shown = await fetch(`${world.url}${made.body.file_path}`, {
      headers: { 'PRIVATE-TOKEN': dev.token ?? '' },
    })
    expect(shown.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(png)
    expect((await fetch(`${world.url}${made.body.file_path}`)).status).toBe(404)
    expect((await post(Buffer.from('<svg/>'), 'a.png')).status).toBe(400)
    expect((await post(Buffer.concat([png, Buffer.alloc(1_048_576)]), 'b.png')).status).toBe(400)
    expect((await post(png, 'c.png', { url: 'http://127.0.0.1/x' })).status).toBe(400)
    expect((await dev.get(path)).body).toHaveLength(1)
    const image = `${path}/${made.body.id}`
    expect((await dev.put(image, { url_text: 'new' })).body.url_text).toBe('new')
    expect((await dev.put(image, { url: 'javascript:1' })).status).toBe(422)
    const remove = () => dev.delete(image)
    const gone = (await atOnce(world, [remove, remove])).map(({ status }) => status)
    expect(gone.sort()).toEqual([204, 404])
    expect((await dev.delete(image)).body.message).toBe('Metric image not found')
  })
})

test('settings are for maintainers, and an unknown template or person is refused', async () => {
  const one = await project({})
  const path = `${one.api}/incident_management_settings`
  expect((await bob.get(path)).body).toEqual({
    create_issue: false,
    send_email: false,
    auto_close_incident: true,
    issue_template_key: null,
    on_call_user_id: null,
  })
  expect((await dev.get(path)).status).toBe(403)
  expect((await bob.put(path, { issue_template_key: 'none' })).status).toBe(400)
  expect((await bob.put(path, { on_call_user_id: guest.id })).status).toBe(400)
})
