import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { recordSoon } from '../../src/monitoring/errors/record-reports.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { metric, metrics, monitoredProject } from './alerts.ts'
import { exampleEvent, reportedProject } from './errors.ts'

const world = useWorld({ errorEventsPerMinute: 0 })
const ana = useCaller(world, 'ana')

const waiting = { timeout: 60_000, interval: 20 }

/** Reports that wait to be counted, as a storm leaves them. */
async function storm(projectId: number, reports: number): Promise<void> {
  const event = JSON.stringify({
    name: 'Storm',
    actor: '',
    platform: 'other',
    description: '',
    level: null,
    environment: null,
    release: null,
    logger: null,
    occurredAt: '2026-05-04T10:00:00.000Z',
    userHash: null,
  })
  const payload = gzipSync('{"message":"storm"}')
  await inTransaction(world.ctx, async (ctx) => {
    await sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${reports})
      INSERT INTO error_reports (project_id, received_at, event, payload)
      SELECT ${projectId}, '2026-05-04T10:00:00.000Z',
        json_set(${event}, '$.eventId', printf('%032x', ${projectId} * 1000000 + i)),
        ${payload} FROM n`.execute(ctx.db)
    await recordSoon(ctx, projectId)
  })
}

async function reportsLeft(): Promise<number> {
  const rows = await world.ctx.db.selectFrom('error_reports').select('id').execute()
  return rows.length
}

test('projects that report without end keep no other from being counted, and all is counted in the end', async () => {
  const noisy = []
  for (let n = 0; n < 6; n += 1) noisy.push(await reportedProject(world, ana, `noisy-${n}`))
  const quiet = await reportedProject(world, ana, 'quiet')
  for (const one of noisy) await storm(one.id, 6000)
  expect((await quiet.report(exampleEvent())).status).toBe(200)
  const path = `${quiet.api}/error_tracking/errors`
  await vi.waitUntil(async () => (await ana.get(path)).body[0]?.count === 1, waiting)
  expect(await reportsLeft()).toBeGreaterThan(6000)
  await vi.waitUntil(async () => (await reportsLeft()) === 0, waiting)
  for (const one of noisy)
    expect((await ana.get(`${one.api}/error_tracking/errors`)).body).toMatchObject([
      { count: 6000 },
    ])
}, 180_000)

test('a project with a storm of alerts keeps no other from its incident', async () => {
  const noisy = await monitoredProject(world, ana, 'alerting')
  const quiet = await monitoredProject(world, ana, 'calm')
  for (const one of [noisy, quiet])
    await ana.put(`${one.api}/incident_management_settings`, { create_issue: true })
  const many = (n: number) => Array.from({ length: 100 }, (_, k) => metric(`alert ${n} ${k}`))
  await Promise.all([1, 2, 3, 4, 5, 6].map((n) => noisy.send(metrics(many(n)))))
  await quiet.send({ title: 'the one' })
  const incident = async () => (await ana.get(`${quiet.api}/issues`)).body.length === 1
  await vi.waitUntil(incident, waiting)
  const left = await world.ctx.db.selectFrom('alert_follow_ups').select('id').execute()
  expect(left.length).toBeGreaterThan(50)
}, 180_000)
