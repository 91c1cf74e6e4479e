import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let group: number
let project: number
let at: string
let one: string
let count = 0

beforeAll(async () => {
  group = (await createGroup(ana, 'racing')).id
  project = (await createProject(ana, 'laps', { namespace_id: group })).id
  at = `/projects/${project}`
  await addMember(world, project, ben.id, 30)
})
beforeEach(async () => {
  count += 1
  const { body } = await ana.post(`${at}/issues`, { title: `lap ${count}` })
  one = `${at}/issues/${body.iid}`
})

const statuses = (replies: readonly Reply[]) => replies.map((reply) => reply.status).sort()
const often = (act: (n: number) => Promise<Reply>) =>
  Promise.all(Array.from({ length: 12 }, (_, n) => act(n)))
const twelve = (first: number, others: number) =>
  [first, ...Array.from({ length: 11 }, () => others)].sort()

describe('twelve requests at once', () => {
  test('close an issue once', async () => {
    const replies = await often(() => ana.put(one, { state_event: 'close' }))
    expect(new Set(statuses(replies))).toEqual(new Set([200]))
    expect((await ana.get(`${one}/resource_state_events`)).body).toHaveLength(1)
    const { body: notes } = await ana.get(`${one}/notes`)
    expect(notes.map((note: { body: string }) => note.body)).toEqual(['closed'])
  })

  test('change title, weight and milestone once, with one event and note each', async () => {
    const { body } = await ana.post(`${at}/milestones`, { title: `goal ${count}` })
    const change = { title: 'new', weight: 3, milestone_id: body.id, due_date: '2026-06-01' }
    await often(() => ana.put(one, change))
    expect((await ana.get(`${one}/resource_weight_events`)).body).toHaveLength(1)
    expect((await ana.get(`${one}/resource_milestone_events`)).body).toHaveLength(1)
    expect((await ana.get(`${one}/notes`)).body).toHaveLength(3)
  })

  test('add different labels, and all are there', async () => {
    await often((n) => ana.put(one, { add_labels: `l${n}` }))
    expect((await ana.get(one)).body.labels).toHaveLength(12)
    expect((await ana.get(`${one}/resource_label_events`)).body).toHaveLength(12)
    expect((await ana.get(`${at}/labels?search=l1`)).body.length).toBeGreaterThan(0)
  })

  test('change different fields, and all are changed', async () => {
    await Promise.all([
      ana.put(one, { title: 'raced' }),
      ben.put(one, { description: 'said' }),
      ana.put(one, { weight: 7 }),
      ben.put(one, { due_date: '2026-07-01' }),
      ana.put(one, { confidential: true }),
      ana.put(one, { assignee_ids: [ben.id] }),
    ])
    expect((await ana.get(one)).body).toMatchObject({
      title: 'raced',
      description: 'said',
      weight: 7,
      due_date: '2026-07-01',
      confidential: true,
      assignees: [{ username: 'ben' }],
    })
  })

  test('move an issue once', async () => {
    const to = (await createProject(ana, `away${count}`, { namespace_id: group })).id
    const replies = await often(() => ana.post(`${one}/move`, { to_project_id: to }))
    expect(statuses(replies)).toEqual(twelve(201, 400))
    expect((await ana.get(`/projects/${to}/issues`)).body).toHaveLength(1)
  })

  test('link two issues once, from whichever end', async () => {
    const { body: other } = await ana.post(`${at}/issues`, { title: 'other' })
    const ends = [one, `${at}/issues/${other.iid}`]
    const replies = await often((n) => {
      const [from = '', to = ''] = n % 2 === 0 ? ends : [...ends].reverse()
      const target_issue_iid = to.split('/').at(-1)
      return ana.post(`${from}/links`, { target_project_id: project, target_issue_iid })
    })
    expect(statuses(replies)).toEqual(twelve(201, 409))
    expect((await ana.get(`${one}/links`)).body).toHaveLength(1)
  })

  test('put an issue on the own list once', async () => {
    const replies = await often(() => ben.post(`${one}/todo`))
    expect(statuses(replies)).toEqual(twelve(201, 304))
    expect((await ben.get('/todos?action=marked')).body).toHaveLength(1)
  })

  test('follow an issue once', async () => {
    const replies = await often(() => ben.post(`${one}/subscribe`))
    expect(statuses(replies)).toEqual(twelve(201, 304))
  })

  test('react once', async () => {
    const replies = await often(() => ben.post(`${one}/award_emoji`, { name: 'eyes' }))
    expect(statuses(replies)).toEqual(twelve(201, 404))
    expect((await ana.get(`${one}/award_emoji`)).body).toHaveLength(1)
  })

  test('take back no more time than there is', async () => {
    await ana.post(`${one}/add_spent_time`, { duration: '1h' })
    const replies = await often(() => ana.post(`${one}/add_spent_time`, { duration: '-1h' }))
    expect(statuses(replies)).toEqual(twelve(201, 400))
    expect((await ana.get(`${one}/time_stats`)).body.total_time_spent).toBe(0)
  })

  test('assign somebody once, who finds one to-do', async () => {
    await ben.post('/todos/mark_as_done')
    await often(() => ana.put(one, { assignee_ids: [ben.id] }))
    expect((await ben.get('/todos')).body).toHaveLength(1)
    expect((await ana.get(`${one}/notes`)).body).toHaveLength(1)
  })

  test('make one milestone of a title, in the group or the project', async () => {
    const title = `race ${count}`
    const places = [`/groups/${group}`, at]
    const replies = await often((n) => ana.post(`${places[n % 2]}/milestones`, { title }))
    expect(statuses(replies)).toEqual(twelve(201, 400))
  })

  test('make one label of a title, in the group or else in the project', async () => {
    const label = { name: `race ${count}`, color: 'red' }
    const replies = await often(() => ana.post(`/groups/${group}/labels`, label))
    expect(statuses(replies)).toEqual(twelve(201, 409))
    expect((await ana.post(`${at}/labels`, label)).status).toBe(409)
  })

  test('keep the lists of a board in one order', async () => {
    const { body: board } = await ana.post(`${at}/boards`, { name: `board ${count}` })
    const lists = `${at}/boards/${board.id}/lists`
    const labels = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        ana.post(`${at}/labels`, { name: `list ${count} ${n}`, color: 'red' }),
      ),
    )
    const made = await Promise.all(
      labels.map((label) => ana.post(lists, { label_id: label.body.id })),
    )
    await Promise.all(made.map((list, n) => ana.put(`${lists}/${list.body.id}`, { position: n })))
    await ana.delete(`${lists}/${made[2]?.body.id}`)
    const { body } = await ana.get(lists)
    expect(body.map((list: { position: number }) => list.position)).toEqual([0, 1, 2, 3])
  })

  test('delete an issue once', async () => {
    const replies = await often(() => ana.delete(one))
    expect(statuses(replies)).toEqual(twelve(204, 404))
  })
})
