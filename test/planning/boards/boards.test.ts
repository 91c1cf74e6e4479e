import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember, addProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const columns = (body: readonly { label: { name: string } | null; position: number }[]) =>
  body.map((list) => [list.position, list.label?.name])

describe.each(['projects', 'groups'] as const)('boards of %s', (kind) => {
  let place: string
  let boards: string

  beforeAll(async () => {
    const { id } = await (kind === 'groups' ? createGroup(ana, 'team') : createProject(ana, 'plan'))
    place = `/${kind}/${id}`
    boards = `${place}/boards`
  })

  async function label(name: string): Promise<number> {
    return (await ana.post(`${place}/labels`, { name, color: '#112233' })).body.id
  }

  test('are made, renamed, narrowed, listed by name and removed', async () => {
    const made = await ana.post(boards, { name: 'work' })
    expect([made.status, made.body.name, made.body.lists]).toEqual([201, 'work', []])
    expect(kind === 'groups' ? made.body.group.name : made.body.project.path).toBe(
      kind === 'groups' ? 'Team' : 'plan',
    )
    await ana.post(boards, { name: 'All' })
    await label('bug')
    const milestone = await ana.post(`${place}/milestones`, { title: 'v1' })
    const one = `${boards}/${made.body.id}`
    const changed = await ana.put(one, {
      name: 'work 2',
      hide_backlog_list: true,
      labels: 'bug,unknown',
      milestone_id: milestone.body.id,
      assignee_id: ana.id,
      weight: 3,
    })
    expect(changed.body).toMatchObject({
      name: 'work 2',
      hide_backlog_list: true,
      hide_closed_list: false,
      milestone: { title: 'v1' },
      assignee: { username: 'ana' },
      labels: [{ name: 'bug' }],
      weight: 3,
    })
    const newcomer = await world.user(`newcomer-${kind}`)
    const given = await ana.put(one, { assignee_id: newcomer.id })
    expect(given.body.assignee).toMatchObject({ id: newcomer.id })
    expect((await ana.put(one, { assignee_id: 987654 })).body.assignee).toBeNull()
    const cleared = await ana.put(one, { milestone_id: 0, assignee_id: null, labels: '' })
    expect(cleared.body).toMatchObject({ milestone: null, assignee: null, labels: [] })
    const listed = await ana.get(boards)
    expect(listed.body.map((board: { name: string }) => board.name)).toEqual(['All', 'work 2'])
    expect((await ana.get(one)).body).toEqual(cleared.body)
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(one)).body).toEqual({ message: '404 Board Not Found' })
  })

  test('have lists that keep their order when one is added, moved or removed', async () => {
    const board = (await ana.post(boards, { name: 'columns' })).body
    const lists = `${boards}/${board.id}/lists`
    const ids: number[] = []
    for (const name of ['todo', 'doing', 'done']) {
      const made = await ana.post(lists, { label_id: await label(name) })
      expect([made.status, made.body.list_type]).toEqual([201, 'label'])
      ids.push(made.body.id)
    }
    expect(columns((await ana.get(lists)).body)).toEqual([
      [0, 'todo'],
      [1, 'doing'],
      [2, 'done'],
    ])
    const moved = await ana.put(`${lists}/${ids[2]}`, { position: 0 })
    expect([moved.status, moved.body.position]).toEqual([200, 0])
    expect(columns((await ana.get(lists)).body).map(([, name]) => name)).toEqual([
      'done',
      'todo',
      'doing',
    ])
    expect((await ana.put(`${lists}/${ids[2]}`, { position: 9 })).status).toBe(400)
    expect((await ana.delete(`${lists}/${ids[0]}`)).status).toBe(204)
    expect(columns((await ana.get(lists)).body)).toEqual([
      [0, 'done'],
      [1, 'doing'],
    ])
    expect((await ana.get(`${lists}/${ids[1]}`)).body.label.name).toBe('doing')
    expect((await ana.get(`${lists}/${ids[0]}`)).body).toEqual({ message: '404 List Not Found' })
    expect((await ana.get(`${boards}/${board.id}`)).body.lists).toHaveLength(2)
    // A list that goes with its label leaves no gap either.
    await ana.post(lists, { label_id: await label('later') })
    expect((await ana.delete(`${place}/labels/done`)).status).toBe(204)
    expect(columns((await ana.get(lists)).body)).toEqual([
      [0, 'doing'],
      [1, 'later'],
    ])
  })

  test('have lists of people and milestones, each once', async () => {
    const board = (await ana.post(boards, { name: 'people' })).body
    const lists = `${boards}/${board.id}/lists`
    const milestone = await ana.post(`${place}/milestones`, { title: 'v2' })
    const person = await ana.post(lists, { assignee_id: ana.id })
    expect(person.body).toMatchObject({ list_type: 'assignee', assignee: { username: 'ana' } })
    const goal = await ana.post(lists, { milestone_id: milestone.body.id })
    expect(goal.body).toMatchObject({ list_type: 'milestone', milestone: { title: 'v2' } })
    const again = await ana.post(lists, { assignee_id: ana.id })
    expect([again.status, again.body]).toEqual([
      400,
      { message: { assignee: ['has already been taken'] } },
    ])
    const stranger = await world.user(`stranger-${kind}`)
    expect((await ana.post(lists, { assignee_id: stranger.id })).status).toBe(400)
    expect((await ana.post(lists, { label_id: 123_456 })).status).toBe(400)
    expect((await ana.post(lists, { milestone_id: 123_456 })).status).toBe(400)
    expect((await ana.post(lists, {})).body.error).toContain('exactly one parameter')
    const both = await ana.post(lists, { label_id: 1, assignee_id: 1 })
    expect(both.body).toEqual({ error: 'label_id, assignee_id are mutually exclusive' })
  })

  test('of others are hidden, and refuse names without a letter', async () => {
    const stranger = await world.user(`outsider-${kind}`)
    expect((await stranger.get(boards)).status).toBe(404)
    expect((await ana.post(boards, { name: ' ' })).body).toEqual({
      message: { name: ["can't be blank"] },
    })
  })
})

test('guests look at a board, planners change it', async () => {
  const project = await addProject(world, ana, 'empty')
  const guest = await world.user('guest')
  const planner = await world.user('planner')
  await addMember(world, project, guest, 10)
  await addMember(world, project, planner, 15)
  const boards = `/projects/${project.id}/boards`
  expect((await guest.post(boards, { name: 'x' })).status).toBe(403)
  expect((await planner.post(boards, { name: 'x' })).status).toBe(201)
  expect((await guest.get(boards)).body).toHaveLength(1)
})

test('a label takes its lists with it', async () => {
  const project = await addProject(world, ana, 'empty', { path: 'labels' })
  const place = `/projects/${project.id}`
  const board = (await ana.post(`${place}/boards`, { name: 'x' })).body
  const label = (await ana.post(`${place}/labels`, { name: 'gone', color: 'red' })).body
  await ana.post(`${place}/boards/${board.id}/lists`, { label_id: label.id })
  await ana.delete(`${place}/labels/${label.id}`)
  expect((await ana.get(`${place}/boards/${board.id}`)).body.lists).toEqual([])
})
