import { describe, expect, test } from 'vitest'
import { atOnce } from '../support/at-once.ts'
import { createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { type Reply, useCaller, useWorld } from '../support/world.ts'
import { deliver, type Monitored, metric, metrics, monitoredProject } from './alerts.ts'
import { exampleEvent, reportedProject } from './errors.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let count = 0

const project = () => {
  count += 1
  return monitoredProject(world, ana, `raced-${count}`)
}
const times = <T>(n: number, act: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, at) => act(at)))
const statuses = (replies: readonly { status: number }[]) =>
  replies.map(({ status }) => status).sort((one, other) => one - other)
const alertsOf = async (one: Monitored) =>
  (await ana.get(`${one.api}/alert_management_alerts?sort=created_at_asc&per_page=100`)).body

describe('several at once', () => {
  test('open one incident for an alert, and the others get the answer that there is one', async () => {
    const one = await project()
    await one.send({ title: 'a' })
    const path = `${one.api}/alert_management_alerts/1/incident`
    const replies = await times(8, () => ana.post(path))
    expect(statuses(replies)).toEqual([201, 400, 400, 400, 400, 400, 400, 400])
    for (const { status, body } of replies) {
      if (status === 400)
        expect(body).toEqual({ message: '400 Bad request - An issue already exists' })
    }
    expect((await ana.get(`${one.api}/issues`)).body).toHaveLength(1)
  })

  test('give an alert a status, which is noted once', async () => {
    const one = await project()
    await one.send({ title: 'a' })
    const path = `${one.api}/alert_management_alerts/1`
    const replies = await times(6, () => ana.put(path, { status: 'acknowledged' }))
    expect(statuses(replies)).toEqual([200, 200, 200, 200, 200, 200])
    const bob = await world.user('bob')
    await addMember(world, one.id, bob.id, 30)
    await times(6, () => ana.put(path, { assignee_ids: [bob.id] }))
    const { body: notes } = await ana.get(`${path}/notes?sort=asc`)
    expect(notes.map((note: { body: string }) => note.body)).toEqual([
      'changed the status to **Acknowledged**',
      'assigned to @bob',
    ])
    expect((await bob.get('/todos?type=Alert')).body).toHaveLength(1)
  })

  test('change an incident once, with one note of each change', async () => {
    const one = await project()
    await one.send({ title: 'a' })
    await ana.post(`${one.api}/alert_management_alerts/1/incident`)
    const path = `${one.api}/issues/1`
    const changeNotes = async () => {
      const { body: events } = await ana.get(`${path}/timeline_events?per_page=100`)
      const { body: notes } = await ana.get(`${path}/notes?per_page=100`)
      const texts = [...events.map(({ note }: { note: string }) => note), ...notes]
      return texts.map((one) => one.body ?? one).filter((text) => /became|changed/.test(text))
    }
    const change = { severity: 'high', escalation_status: 'acknowledged' }
    const replies = await times(6, () => ana.put(`${path}/incident`, change))
    expect(statuses(replies)).toEqual([200, 200, 200, 200, 200, 200])
    expect((await changeNotes()).sort()).toEqual([
      'The severity became **high**.',
      'The status became **acknowledged**.',
      'changed the incident status to **acknowledged**',
      'changed the severity to **High**',
    ])
  })

  test('let one alert of a fingerprint be opened again', async () => {
    const one = await project()
    for (let n = 0; n < 4; n += 1) {
      await one.send({ title: 'a' })
      await ana.put(`${one.api}/alert_management_alerts/${n + 1}`, { status: 'resolved' })
    }
    const replies = await times(4, (n) =>
      ana.put(`${one.api}/alert_management_alerts/${n + 1}`, { status: 'triggered' }),
    )
    expect(statuses(replies)).toEqual([200, 400, 400, 400])
    const open = (await alertsOf(one)).filter(
      (alert: { status: string }) => alert.status !== 'resolved',
    )
    expect(open).toHaveLength(1)
  })

  test('fire and resolve one alert, of which at most one is open and every event is counted', async () => {
    const one = await project()
    const fires = metrics([metric('flaps')])
    const recovers = metrics([metric('flaps', { status: 'resolved' })])
    const replies = await times(40, (n) => one.send(n % 4 === 3 ? recovers : fires))
    expect(replies.every(({ status }) => status === 200)).toBe(true)
    const alerts = await alertsOf(one)
    const open = alerts.filter((alert: { status: string }) => alert.status === 'triggered')
    expect(open.length).toBeLessThanOrEqual(1)
    const events = alerts.reduce(
      (sum: number, alert: { event_count: number }) => sum + alert.event_count,
      0,
    )
    expect(events).toBe(30)
    expect(alerts.map((alert: { iid: number }) => alert.iid)).toEqual(
      alerts.map((_: unknown, n: number) => n + 1),
    )
  })

  test('give an integration new keys, of which the last alone is good', async () => {
    const one = await project()
    const path = `${one.api}/alert_management/http_integrations/${one.integration.id}`
    const tokens = (await times(5, () => ana.post(`${path}/reset_token`))).map(
      ({ body }) => body.token,
    )
    expect(new Set(tokens).size).toBe(5)
    const sent = await times(5, (n) =>
      deliver(one.integration.url, { title: `t${n}` }, { Authorization: `Bearer ${tokens[n]}` }),
    )
    expect(statuses(sent)).toEqual([200, 401, 401, 401, 401])
    const { token } = (await ana.get(path)).body
    expect(tokens).toContain(token)
  })

  test('delete an integration once, while alerts come in or are refused', async () => {
    const one = await project()
    const path = `${one.api}/alert_management/http_integrations/${one.integration.id}`
    const [sent, deleted] = await Promise.all([
      times(20, (n) => one.send({ title: `t${n}` })),
      times(3, () => ana.delete(path)),
    ])
    expect(statuses(deleted)[0]).toBe(204)
    for (const { status } of deleted) expect([204, 404]).toContain(status)
    for (const { status } of sent) expect([200, 403]).toContain(status)
    const taken = sent.filter(({ status }) => status === 200)
    expect(await alertsOf(one)).toHaveLength(taken.length)
    expect((await one.send({ title: 'late' })).status).toBe(403)
  })

  test('delete an integration, a key and an entry of a timeline once; the second gets 404', async () => {
    const one = await project()
    const { api } = await reportedProject(world, ana, 'deleted-once')
    const [key] = (await ana.get(`${api}/error_tracking/client_keys`)).body
    const incident = { title: 'Down', issue_type: 'incident' }
    const { iid } = (await ana.post(`${api}/issues`, incident)).body
    const timeline = `${api}/issues/${iid}/timeline_events`
    const entry = { note: 'Seen', occurred_at: '2026-05-04T10:00:00Z' }
    const event = (await ana.post(timeline, entry)).body
    for (const [path, status] of [
      [`${one.api}/alert_management/http_integrations/${one.integration.id}`, 204],
      [`${api}/error_tracking/client_keys/${key.id}`, 200],
      [`${timeline}/${event.id}`, 204],
    ] as const) {
      const remove = () => ana.delete(path)
      expect(statuses(await atOnce(world, [remove, remove]))).toEqual([status, 404])
    }
  })

  test('delete the project of alerts and errors, of which nothing is left', async () => {
    const one = await project()
    const other = await reportedProject(world, ana, 'raced-errors')
    const calls: Promise<{ status: number }>[] = []
    for (let n = 0; n < 10; n += 1) {
      calls.push(one.send({ title: `t${n}` }), other.report(exampleEvent()))
      if (n === 4) calls.push(ana.delete(one.api), ana.delete(other.api))
    }
    for (const { status } of await Promise.all(calls)) expect([200, 202, 404]).toContain(status)
    await world.runTasks()
    for (const [table, id] of [
      ['alerts', one.id],
      ['errors', other.id],
      ['error_reports', other.id],
    ] as const) {
      const rows = await world.ctx.db
        .selectFrom(table)
        .select('project_id')
        .where('project_id', '=', id)
        .execute()
      expect([table, rows]).toEqual([table, []])
    }
    const { dead } = (await world.root.get('/sidekiq/job_stats')).body.jobs
    expect(dead).toBe(0)
  })

  test('switch error tracking on and make one key', async () => {
    const { id } = await createProject(ana, 'raced-keys')
    const path = `/projects/${id}/error_tracking`
    const both = { active: true, integrated: true }
    const replies = await times(6, () => ana.put(`${path}/settings`, both))
    expect(statuses(replies)).toEqual([200, 200, 200, 200, 200, 200])
    const keys = (await ana.get(`${path}/client_keys`)).body
    expect(keys).toHaveLength(1)
  })

  test('change one of the two switches of error tracking, and the other stays as it is then', async () => {
    const made = await createProject(ana, 'switched')
    const path = `/projects/${made.id}/error_tracking/settings`
    await ana.put(path, { active: true, integrated: true })
    await atOnce(world, [() => ana.patch(path, { active: false })], (db) =>
      db
        .updateTable('error_tracking_settings')
        .set({ integrated: false })
        .where('project_id', '=', made.id)
        .execute(),
    )
    expect((await ana.get(path)).body).toMatchObject({ active: false, integrated: false })
  })

  test('resolve an error and close its issue once', async () => {
    const one = await reportedProject(world, ana, 'raced-resolve')
    await one.report(exampleEvent())
    await world.runTasks()
    const [error] = (await ana.get(`${one.api}/error_tracking/errors`)).body
    const { body: issue } = await ana.post(`${one.api}/issues`, { title: 'It breaks' })
    const path = `${one.api}/error_tracking/errors/${error.id}`
    await ana.put(path, { issue_iid: issue.iid })
    const replies: Reply[] = await times(5, () => ana.put(path, { status: 'resolved' }))
    expect(replies.map(({ body }) => body.status)).toEqual(replies.map(() => 'resolved'))
    const states = await ana.get(`${one.api}/issues/${issue.iid}/resource_state_events`)
    expect(states.body.map((event: { state: string }) => event.state)).toEqual(['closed'])
  })
})

test('settings of incidents that several people change at once are all changed', async () => {
  const one = await monitoredProject(world, ana, 'settings')
  const at = `${one.api}/incident_management_settings`
  const changes = [{ create_issue: true }, { send_email: true }, { auto_close_incident: false }]
  await atOnce(
    world,
    changes.map((change) => () => ana.put(at, change)),
  )
  expect((await ana.get(at)).body).toMatchObject(Object.assign({}, ...changes))
})
