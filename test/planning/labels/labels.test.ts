import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let labels: string

beforeAll(async () => {
  project = await addProject(world, ana, 'empty', { visibility: 'public' })
  labels = `/projects/${project.id}/labels`
})

describe('labels of a project', () => {
  test('are created, read by id and by name, changed and deleted', async () => {
    const created = await ana.post(labels, { name: 'type: bug now', color: '#F00', priority: 3 })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      name: 'type: bug now',
      color: '#FF0000',
      text_color: '#FFFFFF',
      priority: 3,
      is_project_label: true,
      subscribed: false,
    })
    const byName = await ana.get(`${labels}/${encodeURIComponent('type: bug now')}`)
    expect(byName.body).toEqual(created.body)
    const renamed = await ana.put(`${labels}/${created.body.id}`, {
      new_name: 'a::b',
      priority: null,
    })
    expect(renamed.body).toMatchObject({ name: 'a::b', priority: null })
    expect((await ana.delete(`${labels}/${created.body.id}`)).status).toBe(204)
    expect((await ana.get(`${labels}/${created.body.id}`)).body).toEqual({
      message: '404 Label Not Found',
    })
  })

  test('are changed and deleted by a name in the body', async () => {
    await ana.post(labels, { name: 'by name', color: 'teal' })
    const changed = await ana.put(labels, { name: 'by name', new_name: 'other name' })
    expect(changed.body.name).toBe('other name')
    expect((await ana.delete(`${labels}?name=other%20name`)).status).toBe(204)
    expect((await ana.put(labels, { color: 'red' })).status).toBe(400)
  })

  test('have a title once: of fifty at the same moment one is made', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => ana.post(labels, { name: 'race', color: 'red' })),
    )
    const counts = replies.map((reply) => reply.status).sort()
    expect(counts.filter((status) => status === 201)).toHaveLength(1)
    const refused = replies.find((reply) => reply.status === 409)
    expect(refused?.body).toEqual({ message: 'Label already exists' })
  })

  test.each([
    [{ name: 'x' }, { error: 'color is missing' }],
    [{ color: 'red' }, { error: 'name is missing' }],
    [{ name: 'x', color: 'no colour' }, { message: { color: ['must be a valid color code'] } }],
    [{ name: 'a,b', color: 'red' }, { message: { title: ['is invalid'] } }],
    [{ name: ' ', color: 'red' }, { message: { title: ['is invalid'] } }],
  ])('%j is refused', async (body, answer) => {
    const reply = await ana.post(labels, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test('are read by anyone on a public project and written by members only', async () => {
    const stranger = await world.user('stranger')
    expect((await world.nobody.get(labels)).status).toBe(200)
    expect((await stranger.post(labels, { name: 'mine', color: 'red' })).status).toBe(403)
    expect((await world.nobody.post(labels, { name: 'mine', color: 'red' })).status).toBe(401)
    await addMember(world, project.id, stranger.id, 10)
    expect((await stranger.post(labels, { name: 'mine', color: 'red' })).status).toBe(403)
    await addMember(world, project.id, stranger.id, 15)
    expect((await stranger.post(labels, { name: 'mine', color: 'red' })).status).toBe(201)
  })

  test('are followed; a second time changes nothing', async () => {
    const { body } = await ana.post(labels, { name: 'followed', color: 'red' })
    const first = await ana.post(`${labels}/${body.id}/subscribe`)
    expect([first.status, first.body.subscribed]).toEqual([201, true])
    expect((await ana.post(`${labels}/${body.id}/subscribe`)).status).toBe(304)
    expect((await ana.post(`${labels}/${body.id}/unsubscribe`)).body.subscribed).toBe(false)
  })

  test('are paged by title, each exactly once', async () => {
    for (let n = 0; n < 25; n += 1) await ana.post(labels, { name: `page ${n}`, color: 'red' })
    const names: string[] = []
    for (let page = 1; ; page += 1) {
      const reply = await ana.get(`${labels}?per_page=7&page=${page}&search=page`)
      names.push(...reply.body.map((label: { name: string }) => label.name))
      expect(reply.headers.get('x-total')).toBe('25')
      if (reply.headers.get('x-next-page') === '') break
    }
    expect(new Set(names).size).toBe(25)
    expect(names).toEqual([...names].sort())
  })
})

test('labels of groups are followed too', async () => {
  const group = await createGroup(ana, 'followed')
  const labels = `/groups/${group.id}/labels`
  const { body: label } = await ana.post(labels, { name: 'news', color: 'red' })
  const followed = await ana.post(`${labels}/${label.id}/subscribe`)
  expect([followed.status, followed.body.subscribed]).toEqual([201, true])
  expect((await ana.post(`${labels}/${label.id}/subscribe`)).status).toBe(304)
  expect((await ana.post(`${labels}/news/unsubscribe`)).body.subscribed).toBe(false)
})
