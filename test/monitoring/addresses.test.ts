import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { deliver, type Monitored, metric, metrics, monitoredProject } from './alerts.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const basic = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})
const titles = async (of: Monitored) =>
  (await ana.get(`${of.api}/alert_management_alerts?sort=created_at_asc&per_page=100`)).body.map(
    (alert: { title: string }) => alert.title,
  )
async function another(of: Monitored, more: Record<string, unknown>) {
  const path = `${of.api}/alert_management/http_integrations`
  return (await ana.post(path, { name: 'another', active: true, ...more })).body
}

describe('the address of an integration', () => {
  test('takes any words for its name, and its identifier exactly', async () => {
    const one = await monitoredProject(world, ana, 'named')
    const { token, url } = one.integration
    const at = (slug: string, identifier?: string) =>
      url.replace('/my-tool/', `/${slug}/`).replace(/[0-9a-f]{16}/, identifier ?? '$&')
    let sent = 0
    const status = async (address: string, more = bearer(token)) => {
      sent += 1
      return (await deliver(address, { title: `t${sent}` }, more)).status
    }
    for (const slug of ['x', 'my-tool', 'a%20b', '%C3%BC', 'notify', '0']) {
      expect([slug, await status(at(slug))]).toEqual([slug, 200])
    }
    const identifier = /[0-9a-f]{16}/.exec(url)?.[0] ?? ''
    for (const wrong of [
      identifier.toUpperCase(),
      `${identifier}0`,
      identifier.slice(1),
      '0'.repeat(16),
    ]) {
      if (wrong === identifier) continue
      expect([wrong, await status(at('x', wrong))]).toEqual([wrong, 403])
    }
    expect(await status(url.replace('.json', ''))).toBe(404)
    expect(await status(url.replace('/alerts/', '/alert/'))).toBe(404)
    expect((await fetch(url, { headers: bearer(token) })).status).toBeGreaterThanOrEqual(404)
    expect(await titles(one)).toHaveLength(6)
  })

  test('is that of its project alone, in groups as deep as they are', async () => {
    const top = await createGroup(ana, 'ops')
    const below = await createGroup(ana, 'web', { parent_id: top.id })
    const { id } = await createProject(ana, 'deep', { namespace_id: below.id })
    const path = `/projects/${id}/alert_management/http_integrations`
    const { body: integration } = await ana.post(path, { name: 'Deep Tool', active: true })
    const { pathname } = new URL(integration.url)
    expect(pathname).toMatch(/^\/ops\/web\/deep\/alerts\/notify\/deep-tool\/[0-9a-f]{16}\.json$/)
    const sent = await deliver(world.url + pathname, { title: 'deep' }, bearer(integration.token))
    expect([sent.status, await sent.json()]).toEqual([200, [{ iid: 1, title: 'deep' }]])
    const other = await monitoredProject(world, ana, 'shallow')
    const crossed = world.url + pathname.replace('/ops/web/deep/', `/${other.path}/`)
    for (const token of [integration.token, other.integration.token]) {
      expect((await deliver(crossed, { title: 'x' }, bearer(token))).status).toBe(403)
    }
    expect((await other.send({ title: 'x' }, bearer(integration.token))).status).toBe(401)
    expect(await titles(other)).toEqual([])
  })

  test('goes with the project when that is renamed', async () => {
    const one = await monitoredProject(world, ana, 'before')
    await ana.put(one.api, { path: 'after' })
    const [integration] = (await ana.get(`${one.api}/alert_management/http_integrations`)).body
    expect(integration.url).toContain('/ana/after/alerts/notify/')
    const address = world.url + new URL(integration.url).pathname
    const sent = await deliver(address, { title: 'a' }, bearer(integration.token))
    expect(sent.status).toBe(200)
  })
})

describe('the fixed addresses of a project', () => {
  test('belong to all integrations of a type: the key says which', async () => {
    const one = await monitoredProject(world, ana, 'fixed')
    const second = await another(one, {
      payload_attribute_mappings: [{ field_name: 'title', type: 'string', path: ['name'] }],
    })
    const prometheus = await another(one, { type: 'prometheus' })
    const generic = `${world.url}/${one.path}/alerts/notify.json`
    const metricsAt = `${world.url}/${one.path}/prometheus/alerts/notify.json`
    const body = { title: 'usual', name: 'mapped' }
    const answerOf = async (address: string, token: string, what: unknown = body) => {
      const reply = await deliver(address, what, bearer(token))
      return [reply.status, reply.status === 200 ? await reply.json() : undefined]
    }
    expect(await answerOf(generic, one.integration.token)).toEqual([
      200,
      [{ iid: 1, title: 'usual' }],
    ])
    expect(await answerOf(generic, second.token, { ...body, n: 2 })).toEqual([
      200,
      [{ iid: 2, title: 'mapped' }],
    ])
    expect(await answerOf(generic, prometheus.token)).toEqual([401, undefined])
    expect(await answerOf(metricsAt, second.token)).toEqual([422, undefined])
    expect(await answerOf(metricsAt, prometheus.token)).toEqual([422, undefined])
    const measured = metrics([metric('m')])
    expect(await answerOf(metricsAt, second.token, measured)).toEqual([401, undefined])
    expect(await answerOf(metricsAt, prometheus.token, { ...measured, version: '3' })).toEqual([
      422,
      undefined,
    ])
    expect(await answerOf(metricsAt, prometheus.token, measured)).toEqual([
      200,
      [{ iid: 3, title: 'm' }],
    ])
    const path = `${one.api}/alert_management/http_integrations`
    await ana.put(`${path}/${second.id}`, { active: false })
    expect(await answerOf(generic, second.token)).toEqual([401, undefined])
    await ana.put(`${path}/${one.integration.id}`, { active: false })
    expect(await answerOf(generic, one.integration.token)).toEqual([403, undefined])
    await ana.put(`${path}/${prometheus.id}`, { active: false })
    expect(await answerOf(metricsAt, prometheus.token, measured)).toEqual([401, undefined])
  })

  test('of a project without integrations are 403, and 401 for metrics', async () => {
    await createProject(ana, 'bare')
    const generic = `${world.url}/ana/bare/alerts/notify.json`
    const refused = await deliver(generic, { title: 'a' }, bearer('x'))
    expect([refused.status, await refused.json()]).toEqual([403, { message: '403 Forbidden' }])
    const measured = await deliver(generic, metrics([metric('m')]), bearer('x'))
    expect([measured.status, await measured.json()]).toEqual([401, { message: '401 Unauthorized' }])
    const prometheus = `${world.url}/ana/bare/prometheus/alerts/notify.json`
    const other = await deliver(prometheus, { title: 'a' }, bearer('x'))
    expect([other.status, await other.json()]).toEqual([
      422,
      { message: '422 Unprocessable Entity' },
    ])
    const known = await deliver(prometheus, metrics([metric('m')]), bearer('x'))
    expect(known.status).toBe(401)
    const large = await deliver(prometheus, { title: 'a'.repeat(100_000) }, bearer('x'))
    expect(large.status).toBe(401)
    const nowhere = `${world.url}/ana/nowhere/alerts/notify.json`
    expect((await deliver(nowhere, { title: 'a' }, bearer('x'))).status).toBe(404)
  })
})

describe('a delivery', () => {
  test('may be of any content type, packed, and by a key in any usual form', async () => {
    const one = await monitoredProject(world, ana, 'forms')
    const { token, url } = one.integration
    const ways: Record<string, string>[] = [
      { Authorization: `bearer ${token}` },
      { Authorization: `BEARER   ${token}` },
      basic('', token),
      basic('user:with colon'.replace(':', ''), token),
      { ...bearer(token), 'Content-Type': 'text/plain' },
      { ...bearer(token), 'Content-Type': 'application/x-www-form-urlencoded' },
      { ...bearer(token), 'Content-Type': '' },
    ]
    for (const [n, headers] of ways.entries()) {
      const reply = await deliver(url, { title: `way ${n}` }, headers)
      expect([n, reply.status]).toEqual([n, 200])
    }
    const packed = gzipSync(JSON.stringify({ title: 'packed' }))
    const gzip = { ...bearer(token), 'Content-Encoding': 'gzip' }
    expect((await deliver(url, packed, gzip)).status).toBe(200)
    expect(await titles(one)).toEqual([...ways.map((_, n) => `way ${n}`), 'packed'])
  })

  test.each([
    ['a token in the query', (token: string) => ({ query: `?token=${token}` })],
    ['the key as a user', (token: string) => ({ headers: basic(token, '') })],
    ['an empty key', () => ({ headers: bearer('') })],
    ['a token header', (token: string) => ({ headers: { 'PRIVATE-TOKEN': token } })],
    ['a job token header', (token: string) => ({ headers: { 'JOB-TOKEN': token } })],
    ['half a key', (token: string) => ({ headers: bearer(token.slice(0, 16)) })],
    ['two keys', (token: string) => ({ headers: bearer(`${token} ${token}`) })],
  ])('with %s is 401', async (_, way) => {
    const name = `refused-${Math.random().toString(36).slice(2, 8)}`
    const one = await monitoredProject(world, ana, name)
    const given: { query?: string; headers?: Record<string, string> } = way(one.integration.token)
    const address = one.integration.url + (given.query ?? '')
    const reply = await deliver(address, { title: 'a' }, given.headers ?? {})
    expect([reply.status, await reply.json()]).toEqual([401, { message: '401 Unauthorized' }])
    expect(await titles(one)).toEqual([])
  })

  test('that is no object of JSON is answered with 400 and the reason, and makes nothing', async () => {
    const one = await monitoredProject(world, ana, 'malformed')
    for (const body of [
      '',
      '[]',
      '[{"title":"a"}]',
      '7',
      'null',
      '{"title":',
      '{"a":1}}',
      'title=a',
    ]) {
      const reply = await one.send(body)
      expect([body, reply.status]).toEqual([body, 400])
      expect(await reply.json()).toMatchObject({ error: expect.any(String) })
    }
    const recovered = await one.send({ title: 'a', end_time: '2026-05-04T09:00:00Z' })
    expect([recovered.status, await recovered.json()]).toEqual([
      400,
      { message: '400 Bad request - There is no open alert that could have recovered' },
    ])
    expect(await titles(one)).toEqual([])
  })

  test('of a project whose feature is for members is taken as before', async () => {
    const one = await monitoredProject(world, ana, 'private-feature')
    await ana.put(one.api, { monitor_access_level: 'private' })
    expect((await one.send({ title: 'a' })).status).toBe(200)
  })
})

describe('the rate of deliveries', () => {
  const settings = (values: Record<string, unknown>) =>
    world.root.put(
      '/application/settings',
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          `throttle_incident_management_notification_${name}`,
          value,
        ]),
      ),
    )

  test('is limited for each project once administrators want that, whoever sends', async () => {
    const [one, other] = [
      await monitoredProject(world, ana, 'rated'),
      await monitoredProject(world, ana, 'unrated'),
    ]
    const second = await another(one, {})
    const atSecond = world.url + new URL(second.url).pathname
    const before = (await world.root.get('/application/settings')).body
    expect(before).toMatchObject({
      throttle_incident_management_notification_enabled: false,
      throttle_incident_management_notification_per_period: 3600,
      throttle_incident_management_notification_period_in_seconds: 3600,
    })
    const set = await settings({ enabled: true, per_period: 3, period_in_seconds: 60 })
    expect(set.status).toBe(200)
    world.setNow('2026-05-04T11:00:00.000Z')
    // A stranger uses up nothing.
    for (let n = 0; n < 5; n += 1) expect((await one.send({}, bearer('x'))).status).toBe(401)
    for (const n of [1, 2]) expect((await one.send({ title: `${n}` })).status).toBe(200)
    expect((await deliver(atSecond, { title: '3' }, bearer(second.token))).status).toBe(200)
    world.setNow('2026-05-04T11:00:20.000Z')
    const refused = await one.send({ title: '4' })
    expect([refused.status, await refused.text(), refused.headers.get('retry-after')]).toEqual([
      429,
      'Retry later',
      '40',
    ])
    expect((await other.send({ title: '1' })).status).toBe(200)
    expect(await titles(one)).toEqual(['1', '2', '3'])
    world.setNow('2026-05-04T11:01:00.000Z')
    expect((await one.send({ title: '5' })).status).toBe(200)
    await settings({ enabled: false })
    for (let n = 6; n < 12; n += 1) expect((await one.send({ title: `${n}` })).status).toBe(200)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test.each([
    ['per_period', 0],
    ['period_in_seconds', 0],
    ['period_in_seconds', 'long'],
    ['enabled', 'maybe'],
  ])('has no %s of %j', async (name, value) => {
    const reply = await settings({ [name]: value })
    expect([reply.status, Object.keys(reply.body)]).toEqual([400, ['error']])
  })
})
