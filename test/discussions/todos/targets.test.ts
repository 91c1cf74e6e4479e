import { beforeAll, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let bench: Bench
let at: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, bea.id, 30)
})

test('a to-do is shown with the whole issue, as a list shows it', async () => {
  const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'v1' })
  const plan = { labels: 'bug', milestone_id: milestone.id, weight: 3, due_date: '2026-06-01' }
  await ana.post(`${at}/issues`, { title: 'whole', assignee_ids: [bea.id], ...plan })
  const [listed] = (await bea.get('/issues?scope=all')).body
  const [todo] = (await bea.get('/todos')).body
  expect(todo.target).toEqual(listed)
  expect(todo.target).toMatchObject({
    labels: ['bug'],
    milestone: { title: 'v1' },
    references: { full: `${bench.project.fullPath}#1` },
  })
  const done = await bea.post(`/todos/${todo.id}/mark_as_done`)
  expect(done.body.target).toEqual(listed)
})

test('a to-do is shown with the whole merge request', async () => {
  bench.commit('work', { 'a.txt': 'a' })
  const { body } = await bench.open('work', { reviewer_ids: [bea.id], labels: 'bug' })
  const [listed] = (await bea.get('/merge_requests?scope=all')).body
  const [todo] = (await bea.get('/todos?type=MergeRequest')).body
  expect(todo.target).toEqual(listed)
  expect(todo.target).toMatchObject({ iid: body.iid, source_branch: 'work', labels: ['bug'] })
  const own = await bea.post(`${bench.api}/${body.iid}/todo`)
  expect([own.status, own.body.target]).toEqual([201, listed])
})

test('each of many to-dos has its own target, and leads there', async () => {
  await bea.post('/todos/mark_as_done')
  for (const title of ['one', 'two', 'three'])
    await ana.post(`${at}/issues`, { title, assignee_ids: [bea.id] })
  await ana.post(`${bench.api}/1/notes`, { body: 'well, @bea?' })
  const { body } = await bea.get('/todos')
  const url = `${world.ctx.config.externalUrl}/${bench.project.fullPath}/-`
  const shown = body.map(
    (todo: { target: { title: string; web_url: string }; body: string; target_url: string }) => [
      todo.target.title,
      todo.body,
      todo.target_url.replace(/#note_\d+$/, '#note'),
      todo.target.web_url,
    ],
  )
  expect(shown).toEqual([
    ['Take work', 'well, @bea?', `${url}/merge_requests/1#note`, `${url}/merge_requests/1`],
    ['three', 'three', `${url}/issues/4`, `${url}/issues/4`],
    ['two', 'two', `${url}/issues/3`, `${url}/issues/3`],
    ['one', 'one', `${url}/issues/2`, `${url}/issues/2`],
  ])
})

test('a target is shown as it is now', async () => {
  await ana.put(`${at}/issues/4`, { title: 'third', state_event: 'close' })
  const { body } = await bea.get('/todos?type=Issue')
  expect(body[0].target).toMatchObject({ title: 'third', state: 'closed' })
})
