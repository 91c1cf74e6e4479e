import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let bench: Bench
let issues: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, bea.id, 30)
  issues = `/projects/${bench.project.id}/issues`
  bench.commit('work', { 'a.txt': 'a' })
})

interface Todo {
  readonly id: number
  readonly action_name: string
  readonly target: { readonly title: string }
}

async function todos(query = '', who = bea): Promise<Todo[]> {
  const { status, body } = await who.get(`/todos?${query}`)
  expect(status).toBe(200)
  return body
}
const actionsOf = (list: readonly Todo[]) => list.map((todo) => todo.action_name)

test('each reason to look is a to-do, found by what it is about', async () => {
  await ana.post(issues, { title: 'assigned', assignee_ids: [bea.id] })
  await ana.post(issues, { title: 'talk', description: 'What does @bea think?' })
  await ana.post(`${issues}/2/notes`, { body: '@bea look' })
  await bench.open('work', { reviewer_ids: [bea.id], assignee_ids: [bea.id] })
  await bea.post(`${issues}/1/todo`)
  const all = await todos()
  expect(actionsOf(all)).toEqual([
    'marked',
    'review_requested',
    'assigned',
    'directly_addressed',
    'mentioned',
    'assigned',
  ])
  const expected: [string, string[]][] = [
    ['action=assigned', ['assigned', 'assigned']],
    ['action=review_requested', ['review_requested']],
    ['type=Issue', ['marked', 'directly_addressed', 'mentioned', 'assigned']],
    ['type=MergeRequest', ['review_requested', 'assigned']],
    ['type=Commit', []],
    [`author_id=${bea.id}`, ['marked']],
    [`project_id=${bench.project.id}&action=marked`, ['marked']],
    [`project_id=123456`, []],
    ['state=done', []],
    ['per_page=2&page=3', ['mentioned', 'assigned']],
  ]
  for (const [query, actions] of expected) {
    expect([query, actionsOf(await todos(query))]).toEqual([query, actions])
  }
  expect(all.at(-1)).toMatchObject({
    project: { id: bench.project.id },
    group: null,
    author: { username: 'ana' },
    action_name: 'assigned',
    target_type: 'Issue',
    target: { iid: 1, title: 'assigned', state: 'opened' },
    body: 'assigned',
    state: 'pending',
    created_at: '2026-05-04T10:00:00.000Z',
  })
  expect(await todos('', ana)).toEqual([])
})

test('what is done waits no more, one by one or all at once', async () => {
  const before = await todos()
  const one = before[0]
  const done = await bea.post(`/todos/${one?.id}/mark_as_done`)
  expect([done.status, done.body]).toMatchObject([201, { id: one?.id, state: 'done' }])
  // A second time says the same.
  expect((await bea.post(`/todos/${one?.id}/mark_as_done`)).body.state).toBe('done')
  expect(await todos()).toHaveLength(before.length - 1)
  expect(await todos('state=done')).toMatchObject([{ id: one?.id }])
  const foreign = await ana.post(`/todos/${before[1]?.id}/mark_as_done`)
  expect([foreign.status, foreign.body]).toEqual([404, { message: '404 Not found' }])
  const all = await bea.post('/todos/mark_as_done')
  expect([all.status, all.body]).toEqual([204, ''])
  expect(await todos()).toEqual([])
  expect(await todos('state=done')).toHaveLength(before.length)
})

test('a group has the to-dos of all its projects', async () => {
  const group = await createGroup(ana, 'team')
  const inside = await createProject(ana, 'in', { namespace_id: group.id })
  await addMember(world, inside.id, bea.id, 30)
  await ana.post(`/projects/${inside.id}/issues`, { title: 'inside', assignee_ids: [bea.id] })
  await ana.post(issues, { title: 'outside', assignee_ids: [bea.id] })
  const found = await todos(`group_id=${group.id}`)
  expect(found.map((todo) => todo.target.title)).toEqual(['inside'])
})

test('a to-do leaves out what its owner may not see any more, also when it is done', async () => {
  const { body: secret } = await ana.post(issues, { title: 'secret plan' })
  const guest = await world.user('guest')
  await addMember(world, bench.project.id, guest.id, 10)
  await guest.post(`${issues}/${secret.iid}/todo`)
  const [todo] = await todos('', guest)
  await ana.put(`${issues}/${secret.iid}`, { confidential: true })
  expect(await todos('', guest)).toEqual([])
  const reply = await guest.post(`/todos/${todo?.id}/mark_as_done`)
  expect([reply.status, reply.body]).toEqual([404, { message: '404 Not found' }])
})
