import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgetSurplusErrors } from '../../src/monitoring/errors/forget.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'
import { exampleEvent, inEnvelope, type Reported, reportedProject } from './errors.ts'

const MOST = 300_000
const EVENT = 20_000
let world: World
let ana: Caller
let count = 0

beforeAll(async () => {
  const none = { errorEventsPerMinute: 0, errorBytesPerMinute: 0 }
  world = await openWorld({ ...none, maxProjectErrors: MOST }, { background: false })
  ana = await world.user('ana')
  // What is done every hour is done for this one.
  await world.runTasks()
})
afterAll(() => world.close())

/** An event of an error of its own, of bytes that cannot be packed to less than half. */
function large(name: string) {
  const value = randomBytes(EVENT).toString('hex')
  return exampleEvent({ exception: { values: [{ type: name, value }] } })
}

async function statusOf(one: Reported) {
  count += 1
  const { status, headers } = await one.report(large(`E${count}`))
  return [status, headers.get('retry-after'), headers.get('x-sentry-rate-limits')]
}

const FULL = [429, '3600', '3600:error;default:key']

async function fill(one: Reported): Promise<number> {
  for (let taken = 0; ; taken += 1) {
    const answer = await statusOf(one)
    if (answer[0] === 200) continue
    expect(answer).toEqual(FULL)
    return taken
  }
}

async function forget(): Promise<void> {
  await world.ctx.work.enqueue(world.ctx.db, forgetSurplusErrors, {})
  await world.runTasks()
}

/** What is counted of a project, and what is there. */
async function bytesOf({ id }: Reported) {
  const { rows } = await sql<{ counted: number; kept: number; waiting: number }>`SELECT
    (SELECT bytes FROM error_sizes WHERE project_id = ${id}) AS counted,
    (SELECT coalesce(sum(octet_length(payload)), 0) FROM error_events JOIN errors
      ON errors.id = error_id WHERE project_id = ${id})
      + 4096 * (SELECT count(*) FROM errors WHERE project_id = ${id}) AS kept,
    (SELECT coalesce(sum(octet_length(payload)), 0) FROM error_reports WHERE project_id = ${id})
      AS waiting`.execute(world.ctx.db)
  return rows[0] ?? { counted: 0, kept: 0, waiting: 0 }
}

const namesOf = async (one: Reported, status: string) => {
  const path = `${one.api}/error_tracking/errors?status=${status}&sort=first_seen&per_page=100`
  return (await ana.get(path)).body.map((error: { type: string }) => error.type).reverse()
}

test('a project keeps a bounded number of bytes of errors, and is asked to wait until some are forgotten', async () => {
  const one = await reportedProject(world, ana, 'full')
  const other = await reportedProject(world, ana, 'roomy')
  const taken = await fill(one)
  expect(taken).toBeGreaterThan(5)
  expect((await bytesOf(one)).waiting).toBeLessThan(MOST)
  await world.runTasks()
  const { counted, kept } = await bytesOf(one)
  expect([counted, counted < MOST]).toEqual([kept, true])
  expect(await statusOf(one)).toEqual(FULL)
  expect((await statusOf(other))[0]).toBe(200)
  const names = await namesOf(one, 'unresolved')
  const { body } = await ana.get(`${one.api}/error_tracking/errors?query=${names[taken - 1]}`)
  await ana.put(`${one.api}/error_tracking/errors/${body[0].id}`, { status: 'resolved' })
  await forget()
  // The resolved one is gone, and of the others those that were seen first.
  expect(await namesOf(one, 'resolved')).toEqual([])
  const left = await namesOf(one, 'unresolved')
  expect(left).toEqual(names.slice(0, -1).slice(-left.length))
  expect((await bytesOf(one)).counted).toBeLessThanOrEqual(MOST * 0.8)
  expect((await statusOf(one))[0]).toBe(200)
  await world.runTasks()
  expect(await namesOf(other, 'unresolved')).toHaveLength(1)
})

test('events that take the place of others are counted for them', async () => {
  const one = await reportedProject(world, ana, 'counted')
  for (let n = 0; n < 60; n += 1) {
    await one.report(exampleEvent({ message: 'm'.repeat(n * 10), transaction: '/same' }))
    if (n % 7 === 0) await world.runTasks()
  }
  await world.runTasks()
  const { counted, kept } = await bytesOf(one)
  expect(counted).toBe(kept)
  await sql`DELETE FROM errors WHERE project_id = ${one.id}`.execute(world.ctx.db)
  expect(await bytesOf(one)).toEqual({ counted: 0, kept: 0, waiting: 0 })
})

test('a key reports so many bytes in a minute, packed or not', async () => {
  const small = await openWorld({ errorBytesPerMinute: 100_000 }, { background: false })
  try {
    const eve = await small.user('eve')
    const one = await reportedProject(small, eve, 'noisy')
    const event = exampleEvent({ message: 'm'.repeat(45_000) })
    for (let n = 0; n < 2; n += 1) expect((await one.report(event)).status).toBe(200)
    const refused = await one.report(event)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    small.setNow('2026-05-04T10:01:01.000Z')
    const headers = { 'X-Sentry-Auth': `Sentry sentry_key=${one.key}` }
    const body = inEnvelope(exampleEvent({ message: 'm'.repeat(100_000) }))
    expect((await fetch(one.envelope, { method: 'POST', headers, body })).status).toBe(429)
  } finally {
    await small.close()
  }
})
