import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useCaller, useWorld } from '../support/world.ts'
import { type Monitored, metric, metrics, monitoredProject } from './alerts.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let one: Monitored
let count = 0
const NOW = '2026-05-04T10:00:00.000Z'

beforeAll(async () => {
  one = await monitoredProject(world, ana, 'fields')
})

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
const alertOf = async (iid: number, of = one) =>
  (await ana.get(`${of.api}/alert_management_alerts/${iid}`)).body

/** Sends a payload unlike all others, and gives the alert that comes of it. */
async function sent(payload: Record<string, unknown>, of = one) {
  count += 1
  const reply = await of.send({ fingerprint: `own ${count}`, ...payload })
  expect(reply.status).toBe(200)
  const [answered] = (await reply.json()) as { iid: number; title: string }[]
  const alert = await alertOf(answered?.iid ?? 0, of)
  expect(answered?.title).toBe(alert.title)
  return alert
}

/** Sends one element of the metrics format. */
async function measured(more: Record<string, unknown>, of = one) {
  count += 1
  const element = { ...metric(`metric ${count}`), ...more }
  const reply = await of.send(metrics([element]))
  expect(reply.status).toBe(200)
  const [answered] = (await reply.json()) as { iid: number; title: string }[]
  return answered ? await alertOf(answered.iid, of) : undefined
}

/** The fingerprint that is kept of an alert. */
async function kept(id: number): Promise<string | null> {
  const row = await world.ctx.db
    .selectFrom('alerts')
    .select('fingerprint')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.fingerprint
}

describe('a generic payload', () => {
  const smile = '\u{1F600}'

  test.each([
    ['what is missing', undefined, 'New: Alert'],
    ['nothing', null, 'New: Alert'],
    ['an empty text', '', 'New: Alert'],
    ['blanks', ' \t\n', 'New: Alert'],
    ['an empty list', [], 'New: Alert'],
    ['zero', 0, '0'],
    ['a flag', false, 'false'],
    ['a list', ['a', 1], '["a",1]'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['200 characters', 'x'.repeat(200), 'x'.repeat(200)],
    ['201 characters', 'x'.repeat(201), `${'x'.repeat(197)}...`],
    ['200 emoji', smile.repeat(200), smile.repeat(200)],
    ['201 emoji', smile.repeat(201), `${smile.repeat(197)}...`],
    ['an emoji where it is cut', `x${smile.repeat(300)}`, `x${smile.repeat(196)}...`],
  ])('makes a title of %s', async (_, title, shown) => {
    expect((await sent({ title })).title).toBe(shown)
  })

  test.each([
    ['description', 1000],
    ['service', 100],
    ['monitoring_tool', 100],
  ])('has a %s of at most %i characters, and none where it is blank', async (name, most) => {
    const field = async (value: unknown) => (await sent({ [name]: value }))[name]
    expect(await field('x'.repeat(most))).toBe('x'.repeat(most))
    expect(await field('x'.repeat(most + 1))).toBe(`${'x'.repeat(most - 3)}...`)
    expect(await field('')).toBeNull()
    expect(await field(null)).toBeNull()
    expect(await field(12.5)).toBe('12.5')
    expect(await field(' kept as it is ')).toBe(' kept as it is ')
  })

  test.each([
    ['critical', 'critical'],
    ['HIGH', 'high'],
    ['Medium', 'medium'],
    [' low ', 'low'],
    ['info', 'info'],
    ['Unknown', 'unknown'],
    ['warning', 'critical'],
    ['s2', 'critical'],
    ['', 'critical'],
    [3, 'critical'],
    [['low'], 'critical'],
    [null, 'critical'],
    ['constructor', 'critical'],
  ])('of severity %j is %s', async (severity, shown) => {
    expect((await sent({ severity })).severity).toBe(shown)
  })

  test.each([
    ['one', ['one']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [
      ['a', ['b', ['c']], 4],
      ['a', 'b', 'c', '4'],
    ],
    [{ name: 'x' }, ['{"name":"x"}']],
    ['', []],
    [['', null, 'c'], ['c']],
    [
      ['x'.repeat(250), 'y'.repeat(10), 'z'],
      ['x'.repeat(250), 'y'.repeat(5)],
    ],
    ['x'.repeat(300), ['x'.repeat(255)]],
    [undefined, []],
  ])('of hosts %j shows %j', async (hosts, shown) => {
    expect((await sent({ hosts })).hosts).toEqual(shown)
  })

  test.each([
    ['2026-05-04T08:00:00Z', '2026-05-04T08:00:00.000Z'],
    ['2026-05-04T08:00:00.123456+02:00', '2026-05-04T06:00:00.123Z'],
    ['2026-05-04T08:00:00-0330', '2026-05-04T11:30:00.000Z'],
    ['2026-05-04 08:00:00', '2026-05-04T08:00:00.000Z'],
    ['2026-05-04 08:00:00 UTC', '2026-05-04T08:00:00.000Z'],
    ['2026-05-04', '2026-05-04T00:00:00.000Z'],
    ['2026.05.04 08:00:00', '2026-05-04T08:00:00.000Z'],
    ['2026/05/04 08:00:00', '2026-05-04T08:00:00.000Z'],
    ['2026/05/04', '2026-05-04T00:00:00.000Z'],
    ['Mon, 04 May 2026 08:00:00 GMT', '2026-05-04T08:00:00.000Z'],
    ['Mon, 4 May 2026 08:00:00 +0200', '2026-05-04T06:00:00.000Z'],
    ['4 May 2026 08:00:00', '2026-05-04T08:00:00.000Z'],
    ['2026-13-04', NOW],
    ['2026.05/04 08:00:00', NOW],
    ['4 Mai 2026 08:00:00', NOW],
    ['Error 5 of 2026', NOW],
    ['2026-05-04T25:00:00Z', NOW],
    ['yesterday', NOW],
    ['', NOW],
    [1_777_888_999, NOW],
    [null, NOW],
    [{}, NOW],
  ])('that began at %j began at %s', async (start_time, started_at) => {
    expect((await sent({ start_time })).started_at).toBe(started_at)
  })

  test.each([
    ['2026-05-04T09:00:00Z', '2026-05-04T09:00:00.000Z'],
    ['2026-05-05T09:00:00Z', '2026-05-05T09:00:00.000Z'],
    [1_777_888_999_123, '2026-05-04T10:03:19.123Z'],
    ['1777888999123', '2026-05-04T10:03:19.123Z'],
    ['2026.05.04 09:00:00', '2026-05-04T09:00:00.000Z'],
    ['Mon, 04 May 2026 09:00:00 GMT', '2026-05-04T09:00:00.000Z'],
  ])('that ended at %j is over, at %s', async (end_time, ended_at) => {
    const alert = await sent({ title: 'ends' })
    const over = await one.send({ fingerprint: `own ${count}`, end_time })
    expect([over.status, await over.json()]).toEqual([200, [{ iid: alert.iid, title: 'ends' }]])
    expect(await alertOf(alert.iid)).toMatchObject({ status: 'resolved', ended_at, event_count: 1 })
  })

  test.each([1_777_888_999, 1_777_888_999_123.5, '177788899912', -177_788_899_912, 'soon', '', {}])(
    'that ended at %j goes on',
    async (end_time) => {
      const alert = await sent({ end_time })
      expect(alert).toMatchObject({ status: 'triggered', ended_at: null })
    },
  )

  test('with a long key above many values is taken, shown and listed in no time', async () => {
    const values = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`k${i}`, 1]))
    const payload = { title: 'A long key', ['a'.repeat(100_000)]: values }
    const begun = performance.now()
    const reply = await one.send(payload)
    const [answered] = (await reply.json()) as { iid: number }[]
    const alert = await alertOf(answered?.iid ?? 0)
    const asked = { payload }
    const fields = await ana.post(`${one.api}/alert_management/payload_fields`, asked)
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(alert.payload).toEqual(payload)
    expect(alert.details.title).toBe('A long key')
    // As many as there is room for.
    expect(Object.keys(alert.details)).toHaveLength(1 + 41)
    expect(fields.body).toHaveLength(1 + 10)
    const again = await one.send({ ...payload, ['a'.repeat(100_000)]: { ...values } })
    expect(await again.json()).toEqual([{ iid: answered?.iid, title: 'A long key' }])
  })

  test('keeps all that was sent, and lists its leaves', async () => {
    const more = {
      labels: { team: 'db', empty: {}, list: [{ a: 1 }, 'x'] },
      flag: false,
      none: null,
      runbook: 'https://wiki.example/runbook',
      'dotted.key': 1,
    }
    const alert = await sent({ title: 'whole', ...more })
    expect(alert.payload).toEqual({ fingerprint: `own ${count}`, title: 'whole', ...more })
    expect(alert.details).toEqual({
      fingerprint: `own ${count}`,
      title: 'whole',
      'labels.team': 'db',
      'labels.list.0.a': 1,
      'labels.list.1': 'x',
      flag: false,
      none: null,
      runbook: 'https://wiki.example/runbook',
      'dotted.key': 1,
    })
    expect(alert.runbook).toBe('https://wiki.example/runbook')
    const [listed] = (await ana.get(`${one.api}/alert_management_alerts?iid=${alert.iid}`)).body
    const { payload: _, ...shown } = alert
    expect(listed).toEqual(shown)
  })

  test('that sent very much has its details for whoever asks for it alone, and takes none from others', async () => {
    const project = await monitoredProject(world, ana, 'large')
    await project.send({ title: 'small' })
    await project.send({ title: 'large', text: 'x'.repeat(1_000_000) })
    for (let n = 0; n < 4; n += 1) await project.send({ title: `other ${n}` })
    const path = `${project.api}/alert_management_alerts`
    const detailsIn = async (query: string) =>
      Object.fromEntries(
        (await ana.get(`${path}?${query}`)).body.map(
          (alert: { title: string; details: object }) => [alert.title, Object.keys(alert.details)],
        ),
      )
    expect(await detailsIn('per_page=100')).toMatchObject({
      small: ['title'],
      large: [],
      'other 3': ['title'],
    })
    expect(await detailsIn('iid=2')).toEqual({ large: ['title', 'text'] })
  })

  test('is shown with every field, and nothing else', async () => {
    const alert = await sent({ title: 'Every', fingerprint: 'every' })
    const { externalUrl } = world.ctx.config
    expect(alert).toEqual({
      id: expect.any(Number),
      iid: alert.iid,
      project_id: one.id,
      title: 'Every',
      description: null,
      severity: 'critical',
      status: 'triggered',
      service: null,
      monitoring_tool: null,
      hosts: [],
      started_at: NOW,
      ended_at: null,
      event_count: 1,
      environment: null,
      issue: null,
      assignees: [],
      runbook: null,
      details: { title: 'Every', fingerprint: 'every' },
      payload: { title: 'Every', fingerprint: 'every' },
      details_url: `${externalUrl}/ana/fields/-/alert_management/${alert.iid}/details`,
      created_at: NOW,
      updated_at: NOW,
    })
  })
})

describe('the fingerprint of a generic payload', () => {
  test.each([
    ['a text as it is', ' A b ', ' A b '],
    ['a list, one text after the other', ['a', ['b', 1], 'c'], 'ab1c'],
    ['a number', 12, '12'],
    ['an object', { a: 1 }, '{"a":1}'],
  ])('is the hash of %s', async (_, fingerprint, text) => {
    const alert = await sent({ title: `print ${text}`, fingerprint })
    expect(await kept(alert.id)).toBe(sha1(text))
  })

  test('is made of the other fields where the payload has none of its own', async () => {
    const of = await monitoredProject(world, ana, 'prints')
    const base = { title: 'same', tags: { b: [1, 2], a: 'x' }, start_time: NOW, hosts: ['h1'] }
    const iidOf = async (payload: Record<string, unknown>) => {
      const reply = await of.send(payload)
      return ((await reply.json()) as { iid: number }[])[0]?.iid
    }
    expect(await iidOf(base)).toBe(1)
    expect(await iidOf({ hosts: 'h2', tags: { a: 'x', b: [1, 2] }, title: 'same' })).toBe(1)
    expect(await iidOf({ ...base, fingerprint: '', severity: null, empty: {}, list: [] })).toBe(1)
    expect(await iidOf({ ...base, end_time: 'no time' })).toBe(1)
    expect(await iidOf({ ...base, tags: { a: 'x', b: [2, 1] } })).toBe(2)
    expect(await iidOf({ ...base, tags: { a: 'X', b: [1, 2] } })).toBe(3)
    expect(await iidOf({ ...base, tags: { a: 'x', b: ['1', 2] } })).toBe(4)
    expect(await iidOf({ ...base, severity: 'low' })).toBe(5)
    expect(await iidOf({ ...base, more: { start_time: NOW } })).toBe(6)
    expect(await alertOf(1, of)).toMatchObject({ event_count: 4, hosts: ['h1'] })
  })

  test('of nothing that says anything is none: each such alert is one of its own', async () => {
    const of = await monitoredProject(world, ana, 'silent')
    for (const payload of [{}, {}, { title: ' ' }, { hosts: 'a' }, { start_time: NOW }]) {
      expect((await of.send(payload)).status).toBe(200)
    }
    const { body } = await ana.get(`${of.api}/alert_management_alerts`)
    expect(body).toHaveLength(5)
    expect((await of.send({ end_time: NOW })).status).toBe(400)
    expect(await kept(body[0].id)).toBeNull()
  })

  test('is of one project alone', async () => {
    const other = await monitoredProject(world, ana, 'foreign')
    const alert = await sent({ title: 'shared', fingerprint: 'shared' })
    expect(await (await other.send({ title: 'shared', fingerprint: 'shared' })).json()).toEqual([
      { iid: 1, title: 'shared' },
    ])
    await other.send({ fingerprint: 'shared', end_time: NOW })
    expect((await alertOf(alert.iid)).status).toBe('triggered')
  })
})

describe('an element of the metrics format', () => {
  test.each([
    [{ title: 'T', summary: 'S' }, { alertname: 'N' }, 'T'],
    [{ title: ' ', summary: 'S' }, { alertname: 'N' }, 'S'],
    [{ summary: null }, { alertname: 'N' }, 'N'],
    [{}, { alertname: 42 }, '42'],
    [{ title: 'x'.repeat(250) }, {}, `${'x'.repeat(197)}...`],
  ])('takes its title from %j and %j', async (annotations, labels, title) => {
    expect((await measured({ annotations, labels }))?.title).toBe(title)
  })

  test.each([
    [{ annotations: {}, labels: {} }],
    [{ annotations: null, labels: 'x' }],
    [{ labels: { alertname: '' } }],
    [{ startsAt: undefined }],
    [{ startsAt: 'noon' }],
    [{ startsAt: 1_777_888_999_000 }],
  ])('without a title or a start, as %j, is passed over', async (more) => {
    expect(await measured(more)).toBeUndefined()
  })

  const words = {
    critical: ['critical', 's1', 'p1', 'emergency', 'fatal', 'anything', '', undefined],
    high: ['high', 's2', 'p2', 'major', 'page', 'PAGE'],
    medium: ['medium', 's3', 'p3', 'error', 'alert'],
    low: ['low', 's4', 'p4', 'warn', 'warning', 'minor', ' Warning '],
    info: ['info', 's5', 'p5', 'debug', 'information', 'notice'],
  }
  test.each(Object.entries(words))('is %s for %j', async (severity, labels) => {
    const elements = labels.map((word, n) =>
      metric(`${severity} ${n}`, { labels: { alertname: `${severity} ${n}`, severity: word } }),
    )
    const answered = (await (await one.send(metrics(elements))).json()) as { iid: number }[]
    const shown = await Promise.all(answered.map(async ({ iid }) => (await alertOf(iid)).severity))
    expect(shown).toEqual(labels.map(() => severity))
  })

  test('has its description, runbook, service, host and query where the format has them', async () => {
    await ana.post(`${one.api}/environments`, { name: 'measured' })
    const alert = await measured({
      annotations: { description: 'Much load', runbook: 'https://wiki.example/load', more: 'kept' },
      labels: {
        alertname: 'Load',
        severity: 'warning',
        service: 'web',
        instance: 'a:9100',
        svc_environment_name: 'measured',
      },
      generatorURL: 'http://prom.example/graph?x=1&g0.expr=load%3E1+or+up%3D%3D0#y',
      startsAt: '2026-05-04T11:00:00.5+02:00',
    })
    expect(alert).toMatchObject({
      title: 'Load',
      description: 'Much load',
      severity: 'low',
      service: 'web',
      monitoring_tool: 'Prometheus',
      hosts: ['a:9100'],
      runbook: 'https://wiki.example/load',
      started_at: '2026-05-04T09:00:00.500Z',
      environment: { name: 'measured' },
      details: { 'annotations.more': 'kept', status: 'firing' },
    })
    const expected = sha1('2026-05-04T11:00:00.5+02:00/Load/load>1 or up==0#y')
    expect(await kept(alert?.id)).toBe(expected)
  })

  test('is one with another of the same start, title and query, whatever else it says', async () => {
    const of = await monitoredProject(world, ana, 'measured')
    const labelled = (severity: string) => ({ labels: { alertname: 'x', severity, pod: severity } })
    await of.send(metrics([metric('x', labelled('low')), metric('x', labelled('high'))]))
    await of.send(metrics([metric('x', { startsAt: '2026-05-04T09:00:01.000Z' })]))
    await of.send(metrics([metric('x', { generatorURL: 'http://prom.example/graph' })]))
    const { body } = await ana.get(`${of.api}/alert_management_alerts?sort=created_at_asc`)
    expect(
      body.map((one: { event_count: number; severity: string }) => [one.event_count, one.severity]),
    ).toEqual([
      [2, 'low'],
      [1, 'low'],
      [1, 'low'],
    ])
  })

  test('is judged after the one before it: what recovers and fires again is a new alert', async () => {
    const of = await monitoredProject(world, ana, 'turning')
    const fires = metric('turns')
    const recovers = metric('turns', { status: 'resolved', endsAt: '2026-05-04T09:59:00Z' })
    const reply = await of.send(metrics([recovers, fires, fires, recovers, recovers, fires]))
    expect(await reply.json()).toEqual([
      { iid: 1, title: 'turns' },
      { iid: 2, title: 'turns' },
    ])
    expect(await alertOf(1, of)).toMatchObject({
      status: 'resolved',
      event_count: 2,
      ended_at: '2026-05-04T09:59:00.000Z',
    })
    expect(await alertOf(2, of)).toMatchObject({ status: 'triggered', event_count: 1 })
  })

  test('that names no end, or one that is none, ends now', async () => {
    const of = await monitoredProject(world, ana, 'ending')
    for (const [n, endsAt] of ['0001-01-01T00:00:00Z', 'never', null, 7].entries()) {
      await of.send(metrics([metric(`e${n}`)]))
      await of.send(metrics([metric(`e${n}`, { status: 'resolved', endsAt })]))
      expect(await alertOf(n + 1, of)).toMatchObject({ status: 'resolved', ended_at: NOW })
    }
  })
})

describe('which format a body has', () => {
  const keys = Object.keys(metrics([]))

  test.each(keys)('is recognized by all nine keys: without %s it is generic', async (key) => {
    const body: Record<string, unknown> = metrics([metric('inside')])
    delete body[key]
    const reply = await one.send({ ...body, fingerprint: `without ${key}` })
    expect(await reply.json()).toEqual([{ iid: expect.any(Number), title: 'New: Alert' }])
  })

  test.each([4, '3', '4.0', null])('and by the version: %j makes it generic', async (version) => {
    const body = { ...metrics([metric('inside')]), version, fingerprint: `version ${version}` }
    expect(await (await one.send(body)).json()).toMatchObject([{ title: 'New: Alert' }])
  })

  test.each([[[]], ['text'], [null], [{ a: 1 }], [[null, 'x', 7, [1]]]])(
    'with %j for its alerts takes none, and that is well',
    async (alerts) => {
      const reply = await one.send({ ...metrics([]), alerts })
      expect([reply.status, await reply.json()]).toEqual([200, []])
    },
  )

  test('does not depend on the type of the integration', async () => {
    const of = await monitoredProject(world, ana, 'prom', { type: 'prometheus' })
    expect(await (await of.send({ title: 'generic' })).json()).toMatchObject([{ title: 'generic' }])
    expect(await (await one.send(metrics([metric('metric at http')]))).json()).toMatchObject([
      { title: 'metric at http' },
    ])
  })
})

describe('mapped fields', () => {
  const mapping = (field_name: string, type: string, ...path: (string | number)[]) => ({
    field_name,
    type,
    path,
  })

  test('are read from where they stand, each of them, and from the usual place where that is blank', async () => {
    const of = await monitoredProject(world, ana, 'mapped')
    await ana.post(`${of.api}/environments`, { name: 'staging' })
    const integration = `${of.api}/alert_management/http_integrations/${of.integration.id}`
    const put = await ana.put(integration, {
      payload_attribute_mappings: [
        mapping('title', 'string', 'e', 'title'),
        mapping('description', 'string', 'e', 'text'),
        mapping('start_time', 'datetime', 'e', 'at'),
        mapping('end_time', 'datetime', 'e', 'over'),
        mapping('service', 'string', 'e', 'services', 0),
        mapping('monitoring_tool', 'string', 'e', 'tool'),
        mapping('severity', 'string', 'e', 'level'),
        mapping('svc_environment_name', 'string', 'e', 'env'),
        mapping('hosts', 'array', 'e', 'hosts'),
        mapping('fingerprint', 'array', 'e', 'id'),
      ],
    })
    expect(put.status).toBe(200)
    const e = {
      title: 'Mapped',
      text: 'words',
      at: '2026-05-04T07:00:00Z',
      services: ['one', 'two'],
      tool: 'probe',
      level: 'LOW',
      env: 'staging',
      hosts: ['h'],
      id: ['a', 'b'],
    }
    await of.send({ e, title: 'Plain', severity: 'high', fingerprint: 'plain' })
    const alert = await alertOf(1, of)
    expect(alert).toMatchObject({
      title: 'Mapped',
      description: 'words',
      started_at: '2026-05-04T07:00:00.000Z',
      service: 'one',
      monitoring_tool: 'probe',
      severity: 'low',
      environment: { name: 'staging' },
      hosts: ['h'],
    })
    expect(await kept(alert.id)).toBe(sha1('ab'))
    const usual = { title: 'Plain', description: 'usual', severity: 'high', fingerprint: 'plain' }
    await of.send({ e: { title: ' ', text: null, services: [], level: '', id: [] }, ...usual })
    const plain = await alertOf(2, of)
    expect(plain).toMatchObject({
      title: 'Plain',
      description: 'usual',
      severity: 'high',
      service: null,
      started_at: NOW,
    })
    expect(await kept(plain.id)).toBe(sha1('plain'))
    await of.send({ e: { id: 'ab', over: '2026-05-04T09:00:00Z' } })
    expect(await alertOf(1, of)).toMatchObject({
      status: 'resolved',
      ended_at: '2026-05-04T09:00:00.000Z',
    })
    await ana.put(integration, { active: false })
    const tried = await ana.post(`${integration}/test`, { e, title: 'Unmapped' })
    expect(tried.body).toEqual([{ iid: 3, title: 'Unmapped' }])
  })

  test('are read from each element of the metrics format', async () => {
    const of = await monitoredProject(world, ana, 'mapped-metrics')
    const integration = `${of.api}/alert_management/http_integrations/${of.integration.id}`
    await ana.put(integration, {
      payload_attribute_mappings: [
        mapping('title', 'string', 'labels', 'job'),
        mapping('fingerprint', 'string', 'fingerprint'),
        mapping('severity', 'string', 'annotations', 'urgency'),
        mapping('hosts', 'array', 'labels', 'pods'),
      ],
    })
    const element = (more: object) =>
      metric('usual', {
        labels: { alertname: 'usual', job: 'Backup', pods: ['p1', 'p2'], severity: 'low' },
        annotations: { urgency: 'page' },
        fingerprint: 'f1',
        ...more,
      })
    await of.send(metrics([element({}), element({ startsAt: '2026-05-04T09:30:00Z' })]))
    expect(await alertOf(1, of)).toMatchObject({
      title: 'Backup',
      severity: 'high',
      hosts: ['p1', 'p2'],
      event_count: 2,
    })
    await of.send(metrics([element({ status: 'resolved', fingerprint: 'f2' })]))
    expect((await alertOf(1, of)).status).toBe('triggered')
    await of.send(metrics([element({ status: 'resolved' })]))
    expect((await alertOf(1, of)).status).toBe('resolved')
  })

  test('that lead nowhere, or out of the payload, find nothing', async () => {
    const of = await monitoredProject(world, ana, 'astray')
    const integration = `${of.api}/alert_management/http_integrations/${of.integration.id}`
    const paths: (string | number)[][] = [
      ['a', 'length'],
      ['a', 9],
      ['a', '0'],
      ['constructor', 'name'],
      ['__proto__', 'x'],
      ['o', 0],
      ['text', 'length'],
    ]
    for (const [n, path] of paths.entries()) {
      await ana.put(integration, {
        payload_attribute_mappings: [mapping('description', 'string', ...path)],
      })
      await of.send({ title: `t${n}`, a: ['first'], o: { 0: 'zero' }, text: 'x' })
    }
    const { body } = await ana.get(`${of.api}/alert_management_alerts?sort=created_at_asc`)
    expect(body.map((alert: { description: string | null }) => alert.description)).toEqual([
      null,
      null,
      'first',
      null,
      null,
      'zero',
      null,
    ])
  })
})
