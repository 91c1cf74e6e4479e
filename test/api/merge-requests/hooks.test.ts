import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from '../../support/review.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
})
afterAll(() => world.close())

test('webhooks hear of merge requests being opened and merged', async () => {
  const bench = await openBench(world, ana)
  const hook = await ana.post(`/projects/${bench.project.id}/hooks`, {
    url: 'http://receiver.invalid/x',
    merge_requests_events: true,
    push_events: false,
  })
  expect(hook.status).toBe(201)
  const head = bench.commit('topic', { a: 'a' })
  await bench.open('topic')
  await ana.put(`${bench.api}/1/merge`)
  await world.runTasks()
  const rows = await world.ctx.db
    .selectFrom('webhook_deliveries')
    .select('payload')
    .orderBy('id')
    .execute()
  const told = rows.map((row) => JSON.parse(String(row.payload)))
  expect(told.map((one) => one.object_attributes.action)).toEqual(['open', 'merge'])
  expect(told[0]).toMatchObject({
    object_kind: 'merge_request',
    user: { username: 'ana' },
    object_attributes: { iid: 1, last_commit: { id: head }, source_branch: 'topic' },
  })
})
