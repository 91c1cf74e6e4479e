import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { useCaller, useWorld } from '../support/world.ts'
import { deliver, type Monitored, metric, metrics, monitoredProject } from './alerts.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')

let count = 0
const project = (more?: Parameters<typeof monitoredProject>[3]) => {
  count += 1
  return monitoredProject(world, ana, `watched-${count}`, more)
}
const alertsOf = async (one: Monitored, query = '') =>
  (await ana.get(`${one.api}/alert_management_alerts${query}`)).body
const alertOf = async (one: Monitored, iid: number) =>
  (await ana.get(`${one.api}/alert_management_alerts/${iid}`)).body

describe('the generic format', () => {
  test('a payload becomes an alert with its fields, the rest of it as details', async () => {
    const one = await project()
    const reply = await one.send({
      title: 'Disk is full',
      description: 'No room on /var',
      start_time: '2026-05-04T08:00:00+02:00',
      service: 'db',
      monitoring_tool: 'probe',
      severity: 'HIGH',
      hosts: ['a', ['b', 'c']],
      runbook: 'https://wiki.example/disk',
      more: { mount: '/var' },
    })
    expect(reply.status).toBe(200)
    expect(await reply.json()).toEqual([{ iid: 1, title: 'Disk is full' }])
    expect(await alertOf(one, 1)).toMatchObject({
      description: 'No room on /var',
      started_at: '2026-05-04T06:00:00.000Z',
      ended_at: null,
      severity: 'high',
      status: 'triggered',
      service: 'db',
      monitoring_tool: 'probe',
      hosts: ['a', 'b', 'c'],
      event_count: 1,
      runbook: 'https://wiki.example/disk',
      details: { 'more.mount': '/var' },
      payload: { more: { mount: '/var' } },
    })
  })

  test('an empty object is an alert with defaults, and a number may be a title', async () => {
    const one = await project()
    expect(await (await one.send({})).json()).toEqual([{ iid: 1, title: 'New: Alert' }])
    expect(await (await one.send({ title: 42, severity: 'odd' })).json()).toEqual([
      { iid: 2, title: '42' },
    ])
    expect(await alertOf(one, 2)).toMatchObject({ severity: 'critical' })
    await one.send({ title: 'x', severity: 'unknown' })
    expect(await alertOf(one, 3)).toMatchObject({ severity: 'unknown' })
  })

  test('the same payload in another order, at another time and from another host counts up', async () => {
    const one = await project()
    await one.send({ title: 'a', service: 'b', hosts: 'one', start_time: '2026-05-04T08:00:00Z' })
    await one.send({ service: 'b', title: 'a', hosts: 'two', start_time: '2026-05-04T09:00:00Z' })
    const [alert, ...others] = await alertsOf(one)
    expect(others).toEqual([])
    expect(alert).toMatchObject({ event_count: 2, hosts: ['one'] })
  })

  test('an end resolves the open alert of the fingerprint; without one it is 400 and makes nothing', async () => {
    const one = await project()
    await one.send({ title: 'a', fingerprint: ['x', 'y'] })
    const ended = { title: 'a', fingerprint: 'xy', end_time: 1_777_888_999_000 }
    expect((await one.send(ended)).status).toBe(200)
    const alert = await alertOf(one, 1)
    expect(alert).toMatchObject({ status: 'resolved', ended_at: '2026-05-04T10:03:19.000Z' })
    expect((await one.send(ended)).status).toBe(400)
    expect(await alertsOf(one)).toHaveLength(1)
    await one.send({ title: 'a', fingerprint: 'xy' })
    expect(await alertsOf(one, '?status[]=triggered')).toMatchObject([{ iid: 2 }])
  })

  test('an ignored alert counts up and stays ignored', async () => {
    const one = await project()
    await one.send({ title: 'a' })
    await ana.put(`${one.api}/alert_management_alerts/1`, { status: 'ignored' })
    await one.send({ title: 'a' })
    expect(await alertOf(one, 1)).toMatchObject({ status: 'ignored', event_count: 2 })
  })

  test('the environment of that name is shown, and none where the project has no such', async () => {
    const one = await project()
    await ana.post(`${one.api}/environments`, { name: 'production' })
    await one.send({ title: 'a', svc_environment_name: 'production' })
    await one.send({ title: 'b', svc_environment_name: 'Production' })
    await one.send(
      metrics([metric('c', { labels: { alertname: 'c', svc_environment_name: 'production' } })]),
    )
    expect((await alertOf(one, 1)).environment).toEqual({
      id: expect.any(Number),
      name: 'production',
    })
    expect((await alertOf(one, 2)).environment).toBeNull()
    const [oldest] = await alertsOf(one, '?sort=started_at_asc')
    expect(oldest).toMatchObject({ title: 'c', environment: { name: 'production' } })
  })

  test('keys that reach for a prototype, NUL and broken UTF-16 do no harm', async () => {
    const one = await project()
    const body = '{"title":"a\\u0000b\\ud800","__proto__":{"polluted":1},"constructor":{"x":1}}'
    expect((await one.send(body)).status).toBe(200)
    expect((await alertOf(one, 1)).title).toBe('ab\ufffd')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('mapped fields are read from where the integration says, and only while they hold something', async () => {
    const one = await project()
    const path = `${one.api}/alert_management/http_integrations/${one.integration.id}`
    const mappings = [
      { field_name: 'title', path: ['event', 'names', 1], type: 'string' },
      { field_name: 'end_time', path: ['event', 'over'], type: 'number' },
      { field_name: 'fingerprint', path: ['event', 'id'], type: 'string' },
    ]
    const put = await ana.put(path, { payload_attribute_mappings: mappings })
    expect(put.body.payload_attribute_mappings).toHaveLength(3)
    await one.send({ event: { names: ['x', 'mapped'], id: 'f' }, title: 'plain' })
    await one.send({ event: { names: ['x'], id: 'g' }, title: 'plain' })
    expect(
      (await alertsOf(one, '?sort=created_at_asc')).map((alert: { title: string }) => alert.title),
    ).toEqual(['mapped', 'plain'])
    await one.send({ event: { id: 'f', over: 1_777_888_999_000 } })
    expect(await alertOf(one, 1)).toMatchObject({ status: 'resolved' })
  })
})

describe('the metrics format', () => {
  test('each element is judged alone, with the words of the tool for severities', async () => {
    const one = await project()
    const reply = await one.send(
      metrics([
        metric('up', { labels: { alertname: 'up', severity: 'page', instance: 'a:9100' } }),
        metric('no start', { startsAt: null }),
        metric('', { labels: {} }),
        metric('ended long ago', { endsAt: '2020-01-01T00:00:00Z' }),
        metric('never opened', { status: 'resolved' }),
      ]),
    )
    expect(reply.status).toBe(200)
    expect(await reply.json()).toEqual([
      { iid: 1, title: 'up' },
      { iid: 2, title: 'ended long ago' },
    ])
    expect(await alertOf(one, 1)).toMatchObject({
      severity: 'high',
      monitoring_tool: 'Prometheus',
      started_at: '2026-05-04T09:00:00.000Z',
      status: 'triggered',
    })
    expect(await alertOf(one, 2)).toMatchObject({ status: 'triggered', ended_at: null })
  })

  test('resolved elements resolve, at the end that they give or now where it is the zero time', async () => {
    const one = await project()
    await one.send(metrics([metric('a'), metric('b')]))
    const resolved = { status: 'resolved' }
    await one.send(
      metrics([
        metric('a', { ...resolved, endsAt: '2026-05-04T09:30:00Z' }),
        metric('b', resolved),
      ]),
    )
    expect(await alertOf(one, 1)).toMatchObject({ ended_at: '2026-05-04T09:30:00.000Z' })
    expect(await alertOf(one, 2)).toMatchObject({ ended_at: '2026-05-04T10:00:00.000Z' })
  })

  test('beyond a hundred elements are not looked at', async () => {
    const one = await project()
    const many = Array.from({ length: 120 }, (_, n) => metric(`m${n}`))
    expect(await (await one.send(metrics(many))).json()).toHaveLength(100)
  })
})

describe('who may deliver what', () => {
  test('the key goes as Bearer, as Basic password with any user, and to the fixed address', async () => {
    const one = await project({ type: 'prometheus' })
    const { token, url } = one.integration
    const basic = (user: string) => ({
      Authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
    })
    const bodies = [metric('a'), metric('b'), metric('c')].map((each) => metrics([each]))
    expect((await one.send(bodies[0], basic(''))).status).toBe(200)
    expect((await one.send(bodies[1], basic('anybody'))).status).toBe(200)
    const fixed = `${world.url}/${one.path}/prometheus/alerts/notify.json`
    const bearer = { Authorization: `Bearer ${token}` }
    expect((await deliver(fixed, bodies[2], bearer)).status).toBe(200)
    const slug = url.replace('/my-tool/', '/any-other-slug/')
    expect((await deliver(slug, bodies[2], bearer)).status).toBe(200)
    expect((await alertsOf(one)).length).toBe(3)
  })

  test('no key, wrong keys and personal tokens are 401, in every place', async () => {
    const one = await project()
    const wrong = [
      {},
      { Authorization: 'Bearer wrong' },
      { Authorization: `Bearer ${one.integration.token}x` },
      { Authorization: `Basic ${Buffer.from(`${one.integration.token}:`).toString('base64')}` },
      { 'PRIVATE-TOKEN': ana.token ?? '' },
      { Authorization: `Bearer ${ana.token}` },
    ]
    for (const headers of wrong) expect((await one.send({ title: 'a' }, headers)).status).toBe(401)
    expect(await alertsOf(one)).toEqual([])
  })

  test('an unknown or inactive integration is 403, and 401 for the metrics format', async () => {
    const one = await project()
    const url = one.integration.url.replace(/[0-9a-f]{16}/, '0123456789abcdef')
    const bearer = { Authorization: `Bearer ${one.integration.token}` }
    expect((await deliver(url, { title: 'a' }, bearer)).status).toBe(403)
    expect((await deliver(url, metrics([metric('a')]), bearer)).status).toBe(401)
    const path = `${one.api}/alert_management/http_integrations/${one.integration.id}`
    await ana.put(path, { active: false })
    expect((await one.send({ title: 'a' })).status).toBe(403)
    await ana.put(path, { active: true })
    expect((await one.send({ title: 'a' })).status).toBe(200)
    await ana.delete(path)
    expect((await one.send({ title: 'a' })).status).toBe(403)
  })

  test('a new key kills the old one at once', async () => {
    const one = await project()
    const path = `${one.api}/alert_management/http_integrations/${one.integration.id}/reset_token`
    const { token } = (await ana.post(path)).body
    expect((await one.send({ title: 'a' })).status).toBe(401)
    expect((await one.send({ title: 'a' }, { Authorization: `Bearer ${token}` })).status).toBe(200)
  })

  test('an unknown project, and one without monitoring, are 404 before anything else', async () => {
    const one = await project()
    const url = one.integration.url.replace(one.path, 'ana/no-such')
    expect((await deliver(url, 'x'.repeat(2_000_000), {})).status).toBe(404)
    await ana.put(one.api, { monitor_access_level: 'disabled' })
    expect((await one.send({ title: 'a' })).status).toBe(404)
  })

  test('an archived project takes no alerts, and says so to who has the key', async () => {
    const one = await project()
    await ana.post(`${one.api}/archive`)
    expect((await one.send({ title: 'a' })).status).toBe(403)
    expect((await one.send({ title: 'a' }, { Authorization: 'Bearer x' })).status).toBe(401)
    expect(await alertsOf(one)).toEqual([])
    await ana.post(`${one.api}/unarchive`)
    expect((await one.send({ title: 'a' })).status).toBe(200)
  })

  test('one MiB is taken, one byte more is 400 whoever sends it', async () => {
    const one = await project()
    const frame = '{"title":"a","x":""}'
    const whole = `{"title":"a","x":"${'x'.repeat(1_048_576 - frame.length)}"}`
    expect(whole.length).toBe(1_048_576)
    expect((await one.send(whole)).status).toBe(200)
    expect((await one.send(`${whole} `)).status).toBe(400)
    expect((await one.send(`${whole} `, {})).status).toBe(400)
    const packed = gzipSync(`${whole} `)
    const headers = { Authorization: `Bearer ${one.integration.token}`, 'Content-Encoding': 'gzip' }
    expect((await one.send(packed, headers)).status).toBe(400)
  })

  test('a depth of 100 is taken, 101 is 400; so are broken JSON, lists, broken UTF-8 and nothing', async () => {
    const one = await project()
    const deep = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
    expect((await one.send(deep(100))).status).toBe(200)
    const bad = [
      deep(101),
      '{"title":',
      '[]',
      '"text"',
      '',
      Buffer.from('{"title":"\xff"}', 'latin1'),
    ]
    for (const body of bad) expect((await one.send(body)).status).toBe(400)
    expect(await alertsOf(one)).toHaveLength(1)
  })
})

test('three senders of one alert at the same time make one alert and the right count', async () => {
  const one = await project()
  const all = Array.from({ length: 60 }, () => one.send({ title: 'same' }))
  expect((await Promise.all(all)).every((reply) => reply.status === 200)).toBe(true)
  const alerts = await alertsOf(one)
  expect(alerts).toHaveLength(1)
  expect(alerts[0].event_count).toBe(60)
})

test('a storm of ten thousand makes no second alert', async () => {
  const one = await project()
  const names = Array.from({ length: 100 }, (_, n) => metric(`storm ${n}`))
  const deliveries = Array.from({ length: 100 }, () => metrics(names))
  for (let at = 0; at < deliveries.length; at += 10) {
    await Promise.all(deliveries.slice(at, at + 10).map((each) => one.send(each)))
  }
  const alerts = await alertsOf(one, '?per_page=100')
  expect(alerts).toHaveLength(100)
  expect(alerts.every((alert: { event_count: number }) => alert.event_count === 100)).toBe(true)
}, 60_000)

test('a test of an integration is an ingestion, and works while it is inactive', async () => {
  const one = await project()
  const path = `${one.api}/alert_management/http_integrations/${one.integration.id}`
  await ana.put(path, { active: false })
  expect((await ana.post(`${path}/test`, { title: 'try' })).body).toEqual([
    { iid: 1, title: 'try' },
  ])
})

test('the fields of a payload are listed with their paths', async () => {
  const one = await project()
  const payload = { a: { b: ['x', 2], at: '2026-05-04' }, flag: true, f: 1.5, none: null }
  const path = `${one.api}/alert_management/payload_fields`
  expect((await ana.post(path, { payload })).body).toEqual([
    { path: ['a', 'b'], label: 'a/b', type: 'array' },
    { path: ['a', 'b', 0], label: 'a/b[0]', type: 'string' },
    { path: ['a', 'b', 1], label: 'a/b[1]', type: 'number' },
    { path: ['a', 'at'], label: 'a/at', type: 'datetime' },
  ])
})
