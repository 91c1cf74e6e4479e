import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleText } from '../../src/monitoring/integrations/params.ts'
import { openReceiver, type Receiver } from '../notifications/hooks/receiver.ts'
import { addMember } from '../support/members.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { deliver, type Monitored, monitoredProject } from './alerts.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
const maintainer = useCaller(world, 'maintainer')
const developer = useCaller(world, 'developer')
const reporter = useCaller(world, 'reporter')
let receiver: Receiver
let count = 0

beforeAll(async () => {
  receiver = await openReceiver()
})
afterAll(() => receiver.close())

async function addPeople(projectId: number) {
  await addMember(world, projectId, maintainer.id, 40)
  await addMember(world, projectId, developer.id, 30)
  await addMember(world, projectId, reporter.id, 20)
}

/** A project with people of each role, whose integration takes alerts. */
async function project(): Promise<Monitored> {
  count += 1
  const one = await monitoredProject(world, ana, `alerts-${count}`)
  await addPeople(one.id)
  return one
}

const noValue = (name: string) => ({ error: `${name} does not have a valid value` })

test('an example of a payload may have as many values as a body', () => {
  const example = { numbers: Array(190_000).fill(1) }
  expect(JSON.parse(exampleText(example))).toEqual(example)
})

describe('an alert integration', () => {
  test('is made, listed, changed in each of its fields, and deleted', async () => {
    const { api, path } = await project()
    const root = `${api}/alert_management/http_integrations`
    const mapping = { field_name: 'title', path: ['what', 0], type: 'String', label: 'what[0]' }
    const made = await maintainer.post(root, {
      name: 'Our Tool (2)',
      active: false,
      type: 'prometheus',
      token: 'mine',
      endpoint_identifier: 'mine',
      payload_example: { what: ['x'] },
      payload_attribute_mappings: [mapping],
    })
    const now = world.ctx.now()
    const { endpoint_identifier: identifier } = made.body
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        name: 'Our Tool (2)',
        type: 'prometheus',
        active: false,
        endpoint_identifier: expect.stringMatching(/^[0-9a-f]{16}$/),
        url: `${world.ctx.config.externalUrl}/${path}/alerts/notify/our-tool-2/${identifier}.json`,
        token: expect.stringMatching(/^[0-9a-f]{32}$/),
        payload_example: { what: ['x'] },
        payload_attribute_mappings: [{ ...mapping, type: 'string' }],
        created_at: now,
        updated_at: now,
      },
    ])
    const names = async (query: string) =>
      (await maintainer.get(root + query)).body.map((one: { name: string }) => one.name)
    expect(await names('')).toEqual(['My tool', 'Our Tool (2)'])
    expect(await names('?type=prometheus')).toEqual(['Our Tool (2)'])
    expect(await names('?type=http&active=true')).toEqual(['My tool'])
    expect(await names('?active=false')).toEqual(['Our Tool (2)'])
    expect(await names('?type=http&active=false')).toEqual([])
    const page = await maintainer.get(`${root}?per_page=1&page=2`)
    expect([page.body, page.headers.get('x-total')]).toEqual([[made.body], '2'])
    expect((await maintainer.get(`${root}?type=email`)).body).toEqual(noValue('type'))

    const one = `${root}/${made.body.id}`
    world.setNow('2026-05-04T11:00:00.000Z')
    const changed = await maintainer.put(one, {
      name: 'Renamed',
      active: true,
      type: 'http',
      token: 'mine',
    })
    const url = made.body.url.replace('our-tool-2', 'renamed')
    const after = { ...made.body, name: 'Renamed', active: true, url }
    expect(changed.body).toEqual({ ...after, updated_at: '2026-05-04T11:00:00.000Z' })
    await maintainer.put(one, { payload_example: {} })
    expect((await maintainer.get(one)).body).toMatchObject({
      payload_example: {},
      payload_attribute_mappings: [{ field_name: 'title' }],
    })
    await maintainer.put(one, { payload_attribute_mappings: [] })
    expect((await maintainer.get(one)).body.payload_attribute_mappings).toEqual([])

    const address = world.url + new URL(made.body.url).pathname
    const headers = { Authorization: `Bearer ${made.body.token}` }
    expect((await deliver(address, { title: 'a' }, headers)).status).toBe(200)
    const stale = { headers: { 'If-Unmodified-Since': 'Mon, 04 May 2026 10:00:00 GMT' } }
    expect((await maintainer.delete(one, undefined, stale)).status).toBe(412)
    expect((await maintainer.delete(one)).status).toBe(204)
    expect((await deliver(address, { title: 'b' }, headers)).status).toBe(403)
    const gone = await maintainer.get(one)
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Not found' }])
    const { body } = await developer.get(`${api}/alert_management_alerts`)
    expect(body.map((alert: { title: string }) => alert.title)).toEqual(['a'])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('refuses what is missing, too long, too large or no mapping', async () => {
    const { api, integration } = await project()
    const root = `${api}/alert_management/http_integrations`
    const sent = async (values: object) => {
      const reply = await maintainer.post(root, { name: 'x', active: true, ...values })
      expect(reply.status, JSON.stringify(values).slice(0, 100)).toBe(400)
      return reply.body
    }
    expect(await sent({ name: null, active: undefined })).toEqual({
      error: 'name is missing, active is missing',
    })
    expect(await sent({ name: '' })).toEqual({ error: 'name is empty' })
    expect(await sent({ name: 'x'.repeat(256) })).toEqual({
      error: 'name is too long (maximum is 255 characters)',
    })
    expect(await sent({ active: 'sometimes' })).toEqual({ error: 'active is invalid' })
    expect(await sent({ type: 'email' })).toEqual(noValue('type'))
    for (const example of ['text', [1], 7]) {
      expect(await sent({ payload_example: example })).toEqual({
        error: 'payload_example is invalid',
      })
    }
    expect(await sent({ payload_example: { text: 'x'.repeat(1024 * 1024) } })).toEqual({
      message: '400 Bad request - payload_example is too large',
    })
    const deep = JSON.parse(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`)
    expect(await sent({ payload_example: deep })).toEqual({
      error: 'message body is nested too deeply',
    })
    const good = { field_name: 'title', path: ['a'], type: 'string' }
    for (const mappings of [
      [{ ...good, field_name: 'colour' }],
      [{ ...good, type: 'datetime' }],
      [{ ...good, path: [] }],
      [{ ...good, path: 'a' }],
      [{ ...good, path: [-1] }],
      [{ ...good, label: 7 }],
      [good, good],
      [null],
      'title',
    ]) {
      expect(await sent({ payload_attribute_mappings: mappings })).toEqual({
        error: 'payload_attribute_mappings is invalid',
      })
    }
    for (const [field_name, type] of [
      ['description', 'string'],
      ['start_time', 'datetime'],
      ['end_time', 'number'],
      ['hosts', 'array'],
      ['fingerprint', 'array'],
      ['svc_environment_name', 'string'],
    ]) {
      const values = { payload_attribute_mappings: [{ ...good, field_name, type }] }
      const kept = await maintainer.put(`${root}/${integration.id}`, values)
      expect(kept.body.payload_attribute_mappings).toMatchObject([{ field_name, type }])
    }
  })

  test('is the maintainers’; developers may try it, and no project lends another its own', async () => {
    const [one, other] = [await project(), await project()]
    const root = `${one.api}/alert_management/http_integrations`
    const path = `${root}/${one.integration.id}`
    for (const who of [developer, reporter]) {
      expect((await who.get(root)).status).toBe(403)
      expect((await who.get(path)).status).toBe(403)
      expect((await who.put(path, { active: false })).status).toBe(403)
      expect((await who.post(`${path}/reset_token`)).status).toBe(403)
      expect((await who.delete(path)).status).toBe(403)
    }
    expect((await developer.post(`${path}/test`, { title: 'try' })).status).toBe(200)
    expect((await reporter.post(`${path}/test`, { title: 'try' })).status).toBe(403)
    const elsewhere = `${other.api}/alert_management/http_integrations/${one.integration.id}`
    expect((await maintainer.get(elsewhere)).status).toBe(404)
    expect((await maintainer.delete(elsewhere)).status).toBe(404)
    expect((await maintainer.get(path)).status).toBe(200)
  })
})

describe('the list of alerts', () => {
  test('is put in each order, the newer of two equal ones first when it falls', async () => {
    const one = await project()
    for (const [title, severity, start] of [
      ['a', 'low', '2026-05-04T09:03:00Z'],
      ['b', 'critical', '2026-05-04T09:01:00Z'],
      ['c', 'unknown', '2026-05-04T09:02:00Z'],
    ]) {
      world.setNow(`2026-05-04T10:0${title === 'a' ? 1 : title === 'b' ? 2 : 3}:00.000Z`)
      await one.send({ title, severity, start_time: start })
    }
    await one.send({ title: 'c', severity: 'unknown' })
    const path = `${one.api}/alert_management_alerts`
    world.setNow('2026-05-04T10:10:00.000Z')
    await developer.put(`${path}/2`, { status: 'resolved' })
    world.setNow('2026-05-04T10:11:00.000Z')
    await developer.put(`${path}/1`, { status: 'ignored' })
    const order = async (sort: string) =>
      (await developer.get(`${path}?sort=${sort}`)).body
        .map((alert: { title: string }) => alert.title)
        .join('')
    expect((await developer.get(path)).body.map((alert: { title: string }) => alert.title)).toEqual(
      ['a', 'c', 'b'],
    )
    const orders = {
      started_at: 'bca',
      created_at: 'abc',
      updated_at: 'cba',
      severity: 'cab',
    }
    for (const [name, rising] of Object.entries(orders)) {
      expect([name, await order(`${name}_asc`)]).toEqual([name, rising])
      expect([name, await order(`${name}_desc`)]).toEqual([name, [...rising].reverse().join('')])
    }
    expect(await order('event_count_desc')).toBe('cba')
    expect(await order('status_desc')).toBe('cba')
    expect(await order('status_asc')).toBe('abc')
    expect((await order('ended_at_desc')).startsWith('b')).toBe(true)
    for (const sort of ['severity', 'title_asc', 'started_at_up'])
      expect((await developer.get(`${path}?sort=${sort}`)).body).toEqual(noValue('sort'))
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is filtered by each of its filters, in the list and in the counts alike', async () => {
    const one = await project()
    const payloads = [
      { title: 'Disk_full', description: 'on the mirror', monitoring_tool: 'Nagios' },
      { title: 'DiskXfull', service: 'billing' },
      { title: 'Quiet', service: 'mirror' },
    ]
    for (const payload of payloads) await one.send(payload)
    const path = `${one.api}/alert_management_alerts`
    await developer.put(`${path}/1`, { assignee_ids: [developer.id] })
    await developer.put(`${path}/3`, { status: 'acknowledged' })
    const found = async (query: string) => {
      const list = await developer.get(`${path}?sort=created_at_asc&${query}`)
      const counts = await developer.get(`${path}/status_counts?${query}`)
      expect([query, String(counts.body.all)]).toEqual([query, list.headers.get('x-total')])
      return list.body.map((alert: { iid: number }) => alert.iid)
    }
    expect(await found('search=disk_')).toEqual([1])
    expect(await found('search=MIRROR')).toEqual([1, 3])
    expect(await found('search=nagios')).toEqual([1])
    expect(await found('search=billing')).toEqual([2])
    expect(await found('assignee_username=developer')).toEqual([1])
    expect(await found('assignee_username=nobody-here')).toEqual([])
    expect(await found('iid=2')).toEqual([2])
    expect(await found('status[]=acknowledged')).toEqual([3])
    expect(await found('status[]=acknowledged&status[]=triggered')).toEqual([1, 2, 3])
    expect(await found('status[]=triggered&search=mirror')).toEqual([1])
    expect((await developer.get(`${path}?iid=one`)).body).toEqual({ error: 'iid is invalid' })
    expect((await developer.get(`${path}/status_counts?status[]=gone`)).body).toEqual(
      noValue('status'),
    )
    const page = await developer.get(`${path}?per_page=2&page=2`)
    expect([page.body.length, page.headers.get('x-total-pages')]).toEqual([1, '2'])
  })
})

describe('an alert', () => {
  test('goes from any status to any other, and is over only while it is resolved', async () => {
    const one = await project()
    await one.send({ title: 'moving' })
    const path = `${one.api}/alert_management_alerts/1`
    const statuses = ['triggered', 'acknowledged', 'resolved', 'ignored']
    for (const from of statuses) {
      for (const to of statuses) {
        await developer.put(path, { status: from })
        const { status, body } = await developer.put(path, { status: to })
        const ended = to === 'resolved' ? world.ctx.now() : null
        expect([from, status, body.status, body.ended_at]).toEqual([from, 200, to, ended])
      }
    }
    expect((await developer.put(path, { status: 'done' })).body).toEqual(noValue('status'))
    const refused = await reporter.put(path, { status: 'ignored' })
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Alert Not Found' }])
  })

  test('is given to one person, taken away, and says so in its notes', async () => {
    const one = await project()
    await one.send({ title: 'mine' })
    const path = `${one.api}/alert_management_alerts/1`
    const assigned = async (assignee_ids: unknown) => {
      const { status, body } = await developer.put(path, { assignee_ids })
      return status === 200
        ? body.assignees.map((user: { username: string }) => user.username)
        : [status, body.message ?? body.error]
    }
    expect(await assigned([developer.id, maintainer.id])).toEqual(['developer'])
    expect(await assigned(String(maintainer.id))).toEqual(['maintainer'])
    const none = [400, '400 Bad request - Assignee has no permissions']
    expect(await assigned([0])).toEqual(none)
    expect(await assigned([reporter.id])).toEqual(none)
    expect(await assigned([999_999])).toEqual(none)
    expect(await assigned(['somebody'])).toEqual([400, 'assignee_ids is invalid'])
    expect((await developer.get(path)).body.assignees).toMatchObject([{ id: maintainer.id }])
    expect(await assigned([])).toEqual([])
    const notes = (await developer.get(`${path}/notes?sort=asc`)).body
    expect(notes.map((note: { body: string }) => note.body)).toEqual([
      'assigned to @developer',
      'assigned to @maintainer and unassigned @developer',
      'unassigned @maintainer',
    ])
  })

  test('keeps its images in order, with links of theirs, and loses them one by one', async () => {
    const one = await project()
    await one.send({ title: 'pictured' })
    const images = `${one.api}/alert_management_alerts/1/metric_images`
    const png = new Blob([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')])
    const add = (more: Record<string, string>, who = developer, path = images) => {
      const form = new FormData()
      form.set('file', png, 'a graph.png')
      for (const [name, value] of Object.entries(more)) form.set(name, value)
      return who.post(path, undefined, { raw: form })
    }
    const first = await add({})
    expect([first.status, first.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        created_at: world.ctx.now(),
        filename: expect.stringMatching(/^a.graph\.png$/),
        file_path: expect.stringMatching(/^\/-\/project\/\d+\/alert_metric_images\/[0-9a-f]+\//),
        url: null,
        url_text: null,
      },
    ])
    const second = (await add({ url: 'https://a.example/', url_text: 'load' })).body
    expect((await developer.get(images)).body).toEqual([first.body, second])
    const long = `https://a.example/${'x'.repeat(240)}`
    expect((await add({ url: long })).body).toEqual({
      message: { url: ['is too long (maximum is 255 characters)'] },
    })
    expect((await add({ url: 'ftp://a.example' })).status).toBe(400)
    expect((await add({ url_text: 'x'.repeat(129) })).body).toEqual({
      error: 'url_text is too long (maximum is 128 characters)',
    })
    expect((await developer.post(images, {})).body).toEqual({ error: 'file is missing' })
    const image = `${images}/${second.id}`
    const changed = await developer.put(image, { url: 'http://b.example/', url_text: null })
    expect(changed.body).toEqual({ ...second, url: 'http://b.example/', url_text: null })
    expect((await developer.put(image, { url: null })).body.url).toBeNull()
    const wrong = await developer.put(image, { url: 'http://10.0.0.1/' })
    expect([wrong.status, wrong.body]).toEqual([
      422,
      { message: 'Metric image could not be updated' },
    ])
    expect((await add({}, reporter)).status).toBe(403)
    const unseen = [404, { message: 'Alert not found' }]
    const unknown = images.replace('alerts/1', 'alerts/2')
    for (const reply of [
      await reporter.get(images),
      await developer.get(unknown),
      await add({}, developer, unknown),
      await developer.delete(`${unknown}/${second.id}`),
    ]) {
      expect([reply.status, reply.body]).toEqual(unseen)
    }
    expect((await developer.delete(image)).status).toBe(204)
    const gone = await developer.put(image, { url_text: 'x' })
    expect([gone.status, gone.body]).toEqual([404, { message: 'Metric image not found' }])
    expect((await developer.get(images)).body).toEqual([first.body])
  })

  test('is sent once to webhooks that have alert events on', async () => {
    const one = await project()
    const hook = { push_events: false, url: receiver.url }
    await maintainer.post(`${one.api}/hooks`, { ...hook, alert_events: true })
    await maintainer.post(`${one.api}/hooks`, { ...hook, issues_events: true })
    const payload = { title: 'sent', severity: 'HIGH', start_time: '2026-05-04T09:00:00Z' }
    await one.send(payload)
    await world.runTasks()
    await one.send(payload)
    await one.send({ ...payload, end_time: '2026-05-04T09:30:00Z' })
    await world.runTasks()
    expect(receiver.received.map(({ body }) => body)).toMatchObject([
      {
        object_kind: 'alert',
        object_attributes: {
          title: 'sent',
          url: `${world.ctx.config.externalUrl}/${one.path}/-/alert_management/1/details`,
          severity: 'high',
          events: 1,
          status: 'triggered',
          started_at: '2026-05-04T09:00:00.000Z',
        },
      },
    ])
  })

  test('is one with others of the same payload unless that feature is switched off', async () => {
    const one = await project()
    const feature = '/features/generic_alert_fingerprinting'
    const counts = async () =>
      (await developer.get(`${one.api}/alert_management_alerts?sort=created_at_asc`)).body.map(
        (alert: { event_count: number }) => alert.event_count,
      )
    await one.send({ title: 'same' })
    await one.send({ title: 'same' })
    expect(await counts()).toEqual([2])
    await world.root.post(feature, { value: false })
    await one.send({ title: 'same' })
    await one.send({ title: 'same' })
    expect(await counts()).toEqual([2, 1, 1])
    const recovered = await one.send({ title: 'same', end_time: '2026-05-04T09:30:00Z' })
    expect(recovered.status).toBe(400)
    for (const title of ['one', 'other']) await one.send({ title, fingerprint: ['a', 'b'] })
    expect(await counts()).toEqual([2, 1, 1, 2])
    await world.root.delete(feature)
    await one.send({ title: 'same' })
    expect(await counts()).toEqual([3, 1, 1, 2])
  })

  test('goes with its project, and so do its integrations and settings', async () => {
    const one = await project()
    await one.send({ title: 'going' })
    await ana.put(`${one.api}/incident_management_settings`, { create_issue: true })
    expect((await ana.delete(one.api)).status).toBe(202)
    await world.runTasks()
    expect((await one.send({ title: 'going' })).status).toBe(404)
    const left = await world.ctx.db
      .selectFrom('alerts')
      .select('id')
      .where('project_id', '=', one.id)
      .execute()
    expect(left).toEqual([])
  })
})

test('the settings of incidents are changed one by one, and refuse what they do not know', async () => {
  const one = await project()
  const path = `${one.api}/incident_management_settings`
  const defaults = (await maintainer.get(path)).body
  const values = {
    create_issue: true,
    send_email: true,
    auto_close_incident: false,
    on_call_user_id: developer.id,
  }
  let expected = defaults
  for (const [name, value] of Object.entries(values)) {
    expected = { ...expected, [name]: value }
    expect((await maintainer.put(path, { [name]: value })).body).toEqual(expected)
  }
  expect((await maintainer.put(path, { on_call_user_id: null, send_email: '0' })).body).toEqual({
    ...expected,
    on_call_user_id: null,
    send_email: false,
  })
  expect((await maintainer.put(path, { create_issue: 'maybe' })).body).toEqual({
    error: 'create_issue is invalid',
  })
  expect((await maintainer.put(path, { on_call_user_id: reporter.id })).status).toBe(400)
  expect((await maintainer.put(path, { on_call_user_id: 0 })).status).toBe(400)
  expect((await developer.put(path, values)).status).toBe(403)
  expect((await maintainer.get(path)).body.create_issue).toBe(true)
})

test('the timeline of an incident is written, corrected and cleared, never in the future', async () => {
  const one = await project()
  await one.send({ title: 'timed' })
  const alert = `${one.api}/alert_management_alerts/1`
  const { iid } = (await developer.post(`${alert}/incident`)).body
  const events = `${one.api}/issues/${iid}/timeline_events`
  const given = { note: 'Restarted', occurred_at: '2026-05-04T09:30:00Z' }
  const made = await developer.post(events, given)
  expect([made.status, made.body]).toMatchObject([
    201,
    {
      action: 'comment',
      note: 'Restarted',
      occurred_at: '2026-05-04T09:30:00.000Z',
      author: { username: 'developer' },
    },
  ])
  const path = `${events}/${made.body.id}`
  const earlier = { note: 'Restarted twice', occurred_at: '2026-05-04T09:00:00Z' }
  expect((await developer.put(path, earlier)).body).toMatchObject({
    note: 'Restarted twice',
    occurred_at: '2026-05-04T09:00:00.000Z',
  })
  for (const [values, body] of [
    [{ note: ' ' }, { error: 'note is empty' }],
    [{ note: 'x'.repeat(281) }, { error: 'note is too long (maximum is 280 characters)' }],
    [{ note: 'x', occurred_at: 'noon' }, { error: 'occurred_at is invalid' }],
    [
      { note: 'x', occurred_at: '2026-05-04T10:00:01Z' },
      { message: { occurred_at: ['is in the future'] } },
    ],
  ] as const) {
    const replies = [await developer.post(events, values), await developer.put(path, values)]
    for (const reply of replies) expect([reply.status, reply.body]).toEqual([400, body])
  }
  expect((await developer.get(path.replace(/\d+$/, '999999'))).status).toBe(405)
  expect((await developer.delete(path)).status).toBe(204)
  expect((await developer.delete(path)).status).toBe(404)
})
