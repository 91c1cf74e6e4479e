import { beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench

beforeAll(async () => {
  bench = await openBench(world, ana)
  bench.commit('work', { 'a.txt': 'a' })
})

describe.each([
  ['issues', 'Issue'],
  ['merge_requests', 'MergeRequest'],
] as const)('changes of %s', (kind, type) => {
  let one: string
  let id: number

  beforeAll(async () => {
    const at = `/projects/${bench.project.id}/${kind}`
    const work = { source_branch: 'work', target_branch: 'main' }
    const plain = { title: 'x', labels: 'first' }
    const { body } = await ana.post(at, {
      ...plain,
      ...(kind === 'issues' ? {} : work),
    })
    one = `${at}/${body.iid}`
    id = body.id
  })

  test('of labels show which were added and removed', async () => {
    await ana.put(one, { add_labels: 'second', remove_labels: 'first' })
    await ana.put(one, { add_labels: 'second' })
    const { body } = await ana.get(`${one}/resource_label_events`)
    const changes = body.map((event: { action: string; label: { name: string } }) => [
      event.action,
      event.label.name,
    ])
    expect(changes).toEqual([
      ['add', 'first'],
      ['add', 'second'],
      ['remove', 'first'],
    ])
    expect(body[0]).toEqual({
      id: body[0].id,
      user: expect.objectContaining({ username: 'ana' }),
      created_at: '2026-05-04T10:00:00.000Z',
      resource_type: type,
      resource_id: id,
      label: expect.objectContaining({ color: '#6699CC', description: null }),
      action: 'add',
    })
    expect((await ana.get(`${one}/resource_label_events/${body[1].id}`)).body).toEqual(body[1])
    // An event of one kind is none of another.
    expect((await ana.get(`${one}/resource_state_events/${body[1].id}`)).body).toEqual({
      message: '404 Not found',
    })
  })

  test('of milestones show the one that was removed and the one that was added', async () => {
    const make = async (title: string) =>
      (await ana.post(`/projects/${bench.project.id}/milestones`, { title })).body.id
    const [a, b] = [await make(`a ${kind}`), await make(`b ${kind}`)]
    for (const milestone_id of [a, b, b, 0]) await ana.put(one, { milestone_id })
    const { body } = await ana.get(`${one}/resource_milestone_events`)
    const changes = body.map((event: { action: string; milestone: { id: number } }) => [
      event.action,
      event.milestone.id,
    ])
    expect(changes).toEqual([
      ['add', a],
      ['remove', a],
      ['add', b],
      ['remove', b],
    ])
  })

  test('of state show each change, in pages', async () => {
    for (const state_event of ['close', 'close', 'reopen', 'close']) {
      await ana.put(one, { state_event })
    }
    const { body } = await ana.get(`${one}/resource_state_events`)
    expect(body.map((event: { state: string }) => event.state)).toEqual([
      'closed',
      'reopened',
      'closed',
    ])
    expect(body[0]).toMatchObject({
      source_commit: null,
      source_merge_request: null,
    })
    const paged = await ana.get(`${one}/resource_state_events?per_page=2&page=2`)
    expect([paged.body, paged.headers.get('x-total')]).toEqual([[body[2]], '3'])
  })
})

test('weights show what was set, and null when it was removed', async () => {
  const at = `/projects/${bench.project.id}/issues`
  const { body: issue } = await ana.post(at, { title: 'heavy' })
  for (const weight of [3, 3, 5, null]) await ana.put(`${at}/${issue.iid}`, { weight })
  const { body } = await ana.get(`${at}/${issue.iid}/resource_weight_events`)
  expect(body.map((event: { weight: number | null }) => event.weight)).toEqual([3, 5, null])
  expect(body[0]).toMatchObject({ issue_id: issue.id, resource_type: 'Issue' })
})

test('an issue that a merge closes shows the merge request', async () => {
  const at = `/projects/${bench.project.id}`
  const { body: issue } = await ana.post(`${at}/issues`, { title: 'to do' })
  bench.commit('fix', { 'b.txt': 'b' })
  const { body: request } = await bench.open('fix', {
    description: `Closes #${issue.iid}`,
  })
  expect((await ana.put(`${bench.api}/${request.iid}/merge`)).status).toBe(200)
  await world.runTasks()
  expect((await ana.get(`${at}/issues/${issue.iid}`)).body.state).toBe('closed')
  const { body } = await ana.get(`${at}/issues/${issue.iid}/resource_state_events`)
  expect(body).toMatchObject([
    {
      state: 'closed',
      source_merge_request: { id: request.id, iid: request.iid },
    },
  ])
})
