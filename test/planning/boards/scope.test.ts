import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let top: number
let sub: number
let inside: number
let beside: number

beforeAll(async () => {
  top = (await createGroup(ana, 'top')).id
  sub = (await createGroup(ana, 'sub', { parent_id: top })).id
  inside = (await createProject(ana, 'inside', { namespace_id: sub })).id
  beside = (await createProject(ana, 'beside', { namespace_id: top })).id
})

const label = async (at: string, name: string) =>
  (await ana.post(`${at}/labels`, { name, color: 'red' })).body.id
const milestone = async (at: string, title: string) =>
  (await ana.post(`${at}/milestones`, { title })).body.id
const board = async (at: string, name = 'b') =>
  `${at}/boards/${(await ana.post(`${at}/boards`, { name })).body.id}`

describe('a board', () => {
  test('has lists of what the groups above lend, and of nothing else', async () => {
    const own = `/projects/${inside}`
    const one = await board(own)
    for (const [at, name] of [
      [`/groups/${top}`, 'of top'],
      [`/groups/${sub}`, 'of sub'],
      [own, 'own'],
    ] as const) {
      const made = await ana.post(`${one}/lists`, { label_id: await label(at, name) })
      expect([name, made.status, made.body.label?.name]).toEqual([name, 201, name])
    }
    const foreign = await label(`/projects/${beside}`, 'foreign')
    const refused = await ana.post(`${one}/lists`, { label_id: foreign })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: '400 Bad request - Label not found!' },
    ])
    const lent = await milestone(`/groups/${top}`, 'lent')
    expect((await ana.post(`${one}/lists`, { milestone_id: lent })).status).toBe(201)
    const other = await milestone(`/projects/${beside}`, 'other')
    expect((await ana.post(`${one}/lists`, { milestone_id: other })).status).toBe(400)
    expect((await ana.get(one)).body.lists).toHaveLength(4)
  })

  test('of a group knows nothing of what is below it', async () => {
    const one = await board(`/groups/${top}`)
    const below = await label(`/groups/${sub}`, 'below')
    expect((await ana.post(`${one}/lists`, { label_id: below })).status).toBe(400)
    const changed = await ana.put(one, { labels: 'below,of top' })
    expect(changed.body.labels).toMatchObject([{ name: 'of top' }])
  })

  test('is of one place: another has none of this number', async () => {
    const one = await board(`/projects/${inside}`)
    const id = one.split('/').at(-1)
    for (const at of [`/projects/${beside}`, `/groups/${sub}`]) {
      for (const path of [`${at}/boards/${id}`, `${at}/boards/${id}/lists`]) {
        const { status, body } = await ana.get(path)
        expect([path, status, body]).toEqual([path, 404, { message: '404 Board Not Found' }])
      }
      expect((await ana.delete(`${at}/boards/${id}`)).status).toBe(404)
    }
    expect((await ana.get(one)).status).toBe(200)
  })

  test('loses a list with its milestone or person, and closes ranks', async () => {
    const at = `/projects/${beside}`
    const one = await board(at)
    const goes = await milestone(at, 'goes')
    const person = await world.user('leaver')
    await addMember(world, beside, person.id, 30)
    await ana.post(`${one}/lists`, { milestone_id: goes })
    await ana.post(`${one}/lists`, { assignee_id: person.id })
    await ana.post(`${one}/lists`, { label_id: await label(at, 'stays') })
    const places = async () =>
      (await ana.get(`${one}/lists`)).body.map((list: { list_type: string; position: number }) => [
        list.list_type,
        list.position,
      ])
    expect(await places()).toEqual([
      ['milestone', 0],
      ['assignee', 1],
      ['label', 2],
    ])
    await ana.delete(`${at}/milestones/${goes}`)
    expect(await places()).toEqual([
      ['assignee', 0],
      ['label', 1],
    ])
    await world.root.delete(`/users/${person.id}?hard_delete=true`)
    await world.runTasks()
    expect(await places()).toEqual([['label', 0]])
  })

  test('is changed where it is named, and keeps the rest', async () => {
    const one = await board(`/projects/${inside}`, 'kept')
    await ana.put(one, { hide_backlog_list: true, weight: 3, labels: 'own' })
    const { body } = await ana.put(one, { name: 'renamed' })
    expect(body).toMatchObject({
      name: 'renamed',
      hide_backlog_list: true,
      hide_closed_list: false,
      weight: 3,
      labels: [{ name: 'own' }],
    })
    expect((await ana.put(one, { hide_closed_list: true, weight: null })).body).toMatchObject({
      hide_backlog_list: true,
      hide_closed_list: true,
      weight: null,
    })
    expect((await ana.put(one, { name: ' ' })).status).toBe(400)
    expect((await ana.put(one, { name: 'x'.repeat(256) })).status).toBe(400)
    expect((await ana.get(one)).body.name).toBe('renamed')
  })

  test('takes its lists along, and nothing else', async () => {
    const at = `/projects/${inside}`
    const one = await board(at, 'goes')
    const id = await label(at, 'left over')
    const list = await ana.post(`${one}/lists`, { label_id: id })
    await ana.post(`${at}/issues`, { title: 'on it', labels: 'left over' })
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(`${one}/lists/${list.body.id}`)).status).toBe(404)
    expect((await ana.get(`${at}/labels/${id}`)).status).toBe(200)
    expect((await ana.get(`${at}/issues?labels=left over`)).body).toHaveLength(1)
  })
})

test('boards come by name, in pages', async () => {
  const { id } = await createProject(ana, 'many')
  const at = `/projects/${id}/boards`
  for (const name of ['b', 'C', 'a', 'ä', 'B']) await ana.post(at, { name })
  const names = async (query: string) => {
    const reply = await ana.get(`${at}?${query}`)
    return [reply.body.map((one: { name: string }) => one.name), reply.headers.get('x-total')]
  }
  expect(await names('per_page=3')).toEqual([['a', 'b', 'B'], '5'])
  expect(await names('per_page=3&page=2')).toEqual([['C', 'ä'], '5'])
})
