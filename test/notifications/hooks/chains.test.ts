import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
let bench: Bench
let receiver: Receiver
let at: string
let issue: string

beforeAll(async () => {
  receiver = await openReceiver()
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  bench.commit('topic', { 'a.txt': 'a' })
  await bench.open('topic')
  issue = `${at}/issues/${(await ana.post(`${at}/issues`, { title: 'Loop' })).body.iid}`
  await world.runTasks()
})
afterAll(() => receiver.close())
afterEach(async () => {
  for (const { id } of (await ana.get(`${at}/hooks`)).body) await ana.delete(`${at}/hooks/${id}`)
  receiver.received.length = 0
})

async function hook(path: string, ...flags: string[]) {
  const on = Object.fromEntries(flags.map((flag) => [`${flag}_events`, true]))
  const made = await ana.post(`${at}/hooks`, {
    url: receiver.url + path,
    push_events: false,
    ...on,
  })
  expect(made.status).toBe(201)
}

/** What arrived since the last look: where, and as a part of which event. */
async function newDeliveries() {
  await world.runTasks()
  const found = receiver.received.map(({ url, headers, body }) => ({
    url,
    event: String(headers['x-svc-event-uuid']),
    kind: body.object_kind,
  }))
  receiver.received.length = 0
  return found
}

/** As a receiver that calls back and passes on the event that it was sent. */
const answering = (event: string, name = 'X-Gitlab-Event-UUID') => ({ headers: { [name]: event } })

describe('a receiver that calls back', () => {
  test('is not called for what follows from that, but others are, with the same event', async () => {
    await hook('/caller', 'issues')
    await hook('/other', 'note')
    await ana.put(issue, { title: 'First' })
    const [first] = await newDeliveries()
    expect(first).toMatchObject({ url: '/caller', kind: 'issue' })
    const event = first?.event ?? ''
    await ana.put(issue, { title: 'Second' }, answering(event))
    expect(await newDeliveries()).toEqual([])
    await ana.put(issue, { title: 'Third' }, answering(event, 'X-Svc-Event-UUID'))
    expect(await newDeliveries()).toEqual([])
    await ana.post(`${issue}/notes`, { body: 'Changed' }, answering(event))
    expect(await newDeliveries()).toEqual([{ url: '/other', event, kind: 'note' }])
    await ana.post(`${issue}/notes`, { body: 'Again' }, answering(event))
    expect(await newDeliveries()).toEqual([])
    await ana.put(issue, { title: 'Fourth' })
    const [fresh] = await newDeliveries()
    expect(fresh?.url).toBe('/caller')
    expect(fresh?.event).not.toBe(event)
  })

  test.each([
    ['merge_requests', () => ana.put(`${bench.api}/1`, { title: `Title ${Math.random()}` })],
    ['note', () => ana.post(`${issue}/notes`, { body: 'x' })],
    ['emoji', () => ana.post(`${issue}/award_emoji`, { name: 'heart' })],
    ['milestone', () => ana.post(`${at}/milestones`, { title: `m ${Math.random()}` })],
    ['deployment', () => deploy()],
  ] as const)('is called for no %s that it makes itself', async (kind, act) => {
    await hook('/loop', kind)
    await act()
    const [first] = await newDeliveries()
    expect(first?.url).toBe('/loop')
    const calls: Record<string, (more: object) => Promise<unknown>> = {
      merge_requests: (more) => ana.put(`${bench.api}/1`, { title: `T ${Math.random()}` }, more),
      note: (more) => ana.post(`${issue}/notes`, { body: 'y' }, more),
      emoji: (more) => ana.post(`${issue}/award_emoji`, { name: 'tada' }, more),
      milestone: (more) => ana.post(`${at}/milestones`, { title: `n ${Math.random()}` }, more),
      deployment: (more) => deploy(more),
    }
    await calls[kind]?.(answering(first?.event ?? ''))
    expect(await newDeliveries()).toEqual([])
  })

  async function deploy(more: object = {}) {
    const sha = bench.project.git('rev-parse', 'main')
    const body = { environment: 'live', sha, ref: 'main', tag: false, status: 'success' }
    expect((await ana.post(`${at}/deployments`, body, more)).status).toBe(201)
  }
})

test('an event that is none of ours counts for nothing', async () => {
  await hook('/caller', 'issues')
  for (const event of [randomUUID(), 'x'.repeat(5000), '', "' OR 1=1 --"]) {
    await ana.put(issue, { title: `About ${event.length}` }, answering(event))
    const [sent] = await newDeliveries()
    expect([event, sent?.url]).toEqual([event, '/caller'])
    expect(sent?.event).not.toBe(event)
  }
})

test('a chain in which a hundred hooks were called ends there', async () => {
  await hook('/caller', 'issues')
  await hook('/next', 'note')
  await hook('/last', 'milestone')
  await ana.put(issue, { title: 'Begins' })
  const [first] = await newDeliveries()
  const event = first?.event ?? ''
  const row = await world.ctx.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('event_uuid', '=', event)
    .executeTakeFirstOrThrow()
  const { id: hookId, ...another } = await world.ctx.db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', row.webhook_id)
    .executeTakeFirstOrThrow()
  const addDelivery = async () => {
    const made = await world.ctx.db
      .insertInto('webhooks')
      .values({ ...another, uuid: randomUUID(), events: '[]' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const { id: _, ...delivery } = row
    await world.ctx.db
      .insertInto('webhook_deliveries')
      .values({ ...delivery, webhook_id: made.id, state: 'done' })
      .execute()
  }
  expect(hookId).toBe(row.webhook_id)
  for (let n = 0; n < 98; n += 1) await addDelivery()
  await ana.post(`${issue}/notes`, { body: 'x' }, answering(event))
  expect((await newDeliveries()).map(({ url }) => url)).toEqual(['/next'])
  await ana.post(`${at}/milestones`, { title: 'Too late' }, answering(event))
  expect(await newDeliveries()).toEqual([])
  await world.ctx.db.deleteFrom('webhooks').where('events', '=', '[]').execute()
})
