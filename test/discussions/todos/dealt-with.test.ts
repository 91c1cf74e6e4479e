import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
const cat = useCaller(world, 'cat')
let bench: Bench
let count = 0

beforeAll(async () => {
  bench = await openBench(world, ana)
  for (const user of [bea, cat]) await addMember(world, bench.project.id, user.id, 40)
})

const waiting = async (who: Caller) => {
  const { body } = await who.get('/todos')
  return body.map((todo: { action_name: string }) => todo.action_name)
}
const finished = async (who: Caller) => (await who.get('/todos?state=done')).body.length

describe.each(['issues', 'merge_requests'] as const)('to-dos on %s', (kind) => {
  let one: string

  beforeEach(async () => {
    for (const user of [bea, cat]) await user.post('/todos/mark_as_done')
    const at = `/projects/${bench.project.id}/${kind}`
    const people = { assignee_ids: [bea.id, cat.id] }
    count += 1
    if (kind === 'issues') {
      const { body } = await ana.post(at, { title: `t${count}`, ...people })
      one = `${at}/${body.iid}`
    } else {
      bench.commit(`work-${count}`, { [`${count}.txt`]: 'a' })
      const { body } = await bench.open(`work-${count}`, people)
      one = `${at}/${body.iid}`
    }
    expect([await waiting(bea), await waiting(cat)]).toEqual([['assigned'], ['assigned']])
  })

  test.each<[string, (who: Caller) => Promise<{ status: number }>]>([
    ['comments', (who) => who.post(`${one}/notes`, { body: 'seen' })],
    ['changes it', (who) => who.put(one, { title: 'better' })],
    ['labels it', (who) => who.put(one, { add_labels: 'later' })],
    ['closes it', (who) => who.put(one, { state_event: 'close' })],
    ['reacts to it', (who) => who.post(`${one}/award_emoji`, { name: 'eyes' })],
    ['answers it with a quick action', (who) => who.post(`${one}/notes`, { body: '/lock' })],
  ])('are done for whoever %s, and for nobody else', async (_, act) => {
    expect((await act(bea)).status).toBeLessThan(300)
    expect([await waiting(bea), await waiting(cat)]).toEqual([[], ['assigned']])
  })

  test('are done for whoever reacts to a comment there', async () => {
    const { body: note } = await ana.post(`${one}/notes`, { body: 'said' })
    await bea.post(`${one}/notes/${note.id}/award_emoji`, { name: 'heart' })
    expect([await waiting(bea), await waiting(cat)]).toEqual([[], ['assigned']])
  })

  test('wait on while somebody only looks, follows or is refused', async () => {
    await bea.get(one)
    await bea.post(`${one}/unsubscribe`)
    await bea.put(one, { title: '' })
    await bea.post(`${one}/award_emoji`, { name: 'nothing_such' })
    expect(await waiting(bea)).toEqual(['assigned'])
  })

  test('come again when there is a new reason, once for each', async () => {
    await bea.post(`${one}/notes`, { body: 'seen' })
    const done = await finished(bea)
    await ana.post(`${one}/notes`, { body: 'and @bea?' })
    await ana.post(`${one}/notes`, { body: 'still, @bea!' })
    expect(await waiting(bea)).toEqual(['mentioned'])
    expect(await finished(bea)).toBe(done)
  })

  test('put by hand stay when they came with the change that was made', async () => {
    await bea.post(`${one}/notes`, { body: '/lock\n/todo' })
    expect(await waiting(bea)).toEqual(['marked'])
  })

  test('are gone with the comment that brought them', async () => {
    const { body: note } = await ana.post(`${one}/notes`, { body: 'well, @bea?' })
    expect(await waiting(bea)).toEqual(['mentioned', 'assigned'])
    await ana.delete(`${one}/notes/${note.id}`)
    expect(await waiting(bea)).toEqual(['assigned'])
  })

  test('are gone with what they are about', async () => {
    await ana.delete(one)
    expect([await waiting(bea), await waiting(cat)]).toEqual([[], []])
  })
})

test('a merge is dealt with for whoever merges', async () => {
  for (const user of [bea, cat]) await user.post('/todos/mark_as_done')
  bench.commit('landing', { 'landing.txt': 'a' })
  const { body } = await bench.open('landing', { reviewer_ids: [bea.id, cat.id] })
  expect(await waiting(bea)).toEqual(['review_requested'])
  expect((await bea.put(`${bench.api}/${body.iid}/merge`)).status).toBe(200)
  expect([await waiting(bea), await waiting(cat)]).toEqual([[], ['review_requested']])
})

describe('whom a text calls', () => {
  const called = async (text: string) => {
    await bea.post('/todos/mark_as_done')
    await ana.post(`/projects/${bench.project.id}/issues`, { title: 'call', description: text })
    return waiting(bea)
  }

  test('is addressed where the text begins with the name, however it is written', async () => {
    expect(await called('@bea please')).toEqual(['mentioned'])
    await bea.post('/todos/mark_as_done')
    const { body } = await ana.post(`/projects/${bench.project.id}/issues`, { title: 'notes' })
    const notes = `/projects/${bench.project.id}/issues/${body.iid}/notes`
    for (const text of ['@bea please', '@Bea, look', '@cat @BEA: you two', '@bea. Now.']) {
      await bea.post('/todos/mark_as_done')
      await ana.post(notes, { body: text })
      expect([text, await waiting(bea)]).toEqual([text, ['directly_addressed']])
    }
    await bea.post('/todos/mark_as_done')
    await ana.post(notes, { body: 'please @bea' })
    expect(await waiting(bea)).toEqual(['mentioned'])
  })

  test('is nobody in code, and nobody who is blocked or the writer', async () => {
    expect(await called('see `@bea`')).toEqual([])
    expect(await called('mail bea@bea.example')).toEqual([])
    expect(await waiting(ana)).toEqual([])
    await world.root.post(`/users/${bea.id}/block`)
    await ana.post(`/projects/${bench.project.id}/issues`, { title: 'b', description: '@bea' })
    await world.root.post(`/users/${bea.id}/unblock`)
    expect(await waiting(bea)).toEqual([])
  })
})

test('an action that there is not is refused', async () => {
  const reply = await bea.get('/todos?action=eaten')
  expect([reply.status, reply.body]).toEqual([400, { error: 'action does not have a valid value' }])
  expect((await bea.get('/todos?action=unmergeable')).body).toEqual([])
  expect((await bea.get('/todos?state=lost')).status).toBe(400)
})
