import { expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

test('webhooks are sent when merge requests are opened and merged', async () => {
  const bench = await openBench(world, ana)
  const hook = await ana.post(`/projects/${bench.project.id}/hooks`, {
    url: 'http://receiver.invalid/x',
    merge_requests_events: true,
    push_events: false,
  })
  expect(hook.status).toBe(201)
  const head = bench.commit('topic', { a: 'a' })
  await bench.open('topic')
  await world.runTasks()
  await ana.put(`${bench.api}/1/merge`)
  await world.runTasks()
  const rows = await world.ctx.db
    .selectFrom('webhook_deliveries')
    .select('payload')
    .orderBy('id')
    .execute()
  const sent = rows.map((row) => JSON.parse(String(row.payload)))
  expect(sent.map((one) => one.object_attributes.action)).toEqual(['open', 'merge'])
  expect(sent[0]).toMatchObject({
    object_kind: 'merge_request',
    user: { username: 'ana' },
    object_attributes: { iid: 1, last_commit: { id: head }, source_branch: 'topic' },
  })
})

test('webhooks get the changes, with the values before and after', async () => {
  const bench = await openBench(world, ana)
  const ben = await world.user('ben')
  await addMember(world, bench.project.id, ben.id, 30)
  bench.commit('topic', { a: 'a' })
  await bench.open('topic')
  await ana.post(`/projects/${bench.project.id}/labels`, { name: 'bug', color: '#112233' })
  const { body: hook } = await ana.post(`/projects/${bench.project.id}/hooks`, {
    url: 'http://receiver.invalid/x',
    merge_requests_events: true,
    push_events: false,
  })
  const at = `${bench.api}/1`
  world.setNow('2026-05-04T11:00:00.000Z')
  await ana.put(at, { title: 'Draft: New', labels: 'bug', reviewer_ids: [ben.id] })
  await ana.put(at, { state_event: 'close' })
  await ana.put(at, { state_event: 'reopen', title: 'New' })
  await world.runTasks()
  // The receiver answers nobody, and a hook rests after four failures.
  await ana.put(`/projects/${bench.project.id}/hooks/${hook.id}`, { merge_requests_events: false })
  const { body: other } = await ana.post(`/projects/${bench.project.id}/hooks`, {
    url: 'http://receiver.invalid/y',
    merge_requests_events: true,
  })
  expect((await ben.post(`${at}/approve`)).body).toMatchObject({ user_has_approved: true })
  await ben.post(`${at}/unapprove`)
  await world.runTasks()
  const rows = await world.ctx.db
    .selectFrom('webhook_deliveries')
    .select('payload')
    .where('webhook_id', 'in', [hook.id, other.id])
    .orderBy('id')
    .execute()
  // Deliveries of the same moment go out side by side, in no order.
  const sent = rows
    .map((row) => JSON.parse(String(row.payload)))
    .map((one) => ({ action: one.object_attributes.action, ...one }))
  expect(sent.map(({ action }) => action).sort()).toEqual([
    'approved',
    'close',
    'reopen',
    'unapproved',
    'update',
    'update',
  ])
  const changesOf = (action: string, title?: string) =>
    sent.find((one) => one.action === action && (!title || one.changes.title?.current === title))
      ?.changes
  const changed = changesOf('update', 'Draft: New')
  const [closed, reopened, approved] = ['close', 'reopen', 'approved'].map((one) => changesOf(one))
  expect(changed).toMatchObject({
    title: { previous: 'Take topic', current: 'Draft: New' },
    draft: { previous: false, current: true },
    labels: { previous: [], current: [{ title: 'bug', color: '#112233', type: 'ProjectLabel' }] },
    reviewers: { previous: [], current: [{ username: 'ben' }] },
    updated_at: { current: '2026-05-04T11:00:00.000Z' },
  })
  expect(Object.keys(changed)).not.toContain('description')
  expect(closed.state_id).toEqual({ previous: 1, current: 2 })
  expect(reopened.state_id).toEqual({ previous: 2, current: 1 })
  expect(approved).toEqual({})
})

test('a hook for merge requests can be tried out on the newest one', async () => {
  const bench = await openBench(world, ana)
  const { body: hook } = await ana.post(`/projects/${bench.project.id}/hooks`, {
    url: 'http://receiver.invalid/x',
    merge_requests_events: true,
  })
  const path = `/projects/${bench.project.id}/hooks/${hook.id}/test/merge_requests_events`
  expect((await ana.post(path)).body.message).toContain('something to make an example of')
  bench.commit('topic', { a: 'a' })
  await bench.open('topic')
  await ana.post(path)
  const { payload } = await world.ctx.db
    .selectFrom('webhook_deliveries')
    .select('payload')
    .where('webhook_id', '=', hook.id)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  expect(JSON.parse(String(payload))).toMatchObject({
    object_kind: 'merge_request',
    object_attributes: { iid: 1, source_branch: 'topic' },
  })
})
