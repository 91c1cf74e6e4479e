import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let one: string

beforeAll(async () => {
  const project = await addProject(world, ana, 'empty', { visibility: 'public' })
  await addMember(world, project.id, ben.id, 10)
  const { body } = await ana.post(`/projects/${project.id}/issues`, { title: 'talk' })
  one = `/projects/${project.id}/issues/${body.iid}`
})

describe('discussions on an issue', () => {
  test('a plain note is a thread of its own until somebody replies', async () => {
    const note = await ben.post(`${one}/notes`, { body: 'hello @ana' })
    expect([note.status, note.body.type, note.body.resolvable]).toEqual([201, null, false])
    expect((await ana.get('/todos')).body[0]).toMatchObject({
      action_name: 'mentioned',
      body: 'hello @ana',
    })
    const threads = await ben.get(`${one}/discussions`)
    expect(threads.body[0]).toMatchObject({
      individual_note: true,
      notes: [{ body: 'hello @ana' }],
    })
    const reply = await ana.post(`${one}/discussions/${threads.body[0].id}/notes`, { body: 'hi' })
    expect([reply.status, reply.body.type]).toEqual([201, 'DiscussionNote'])
    const thread = await ben.get(`${one}/discussions/${threads.body[0].id}`)
    expect(thread.body).toMatchObject({
      individual_note: false,
      notes: [{ type: 'DiscussionNote' }, { body: 'hi' }],
    })
    expect(thread.body.id).toMatch(/^[0-9a-f]{40}$/)
  })

  test('threads are resolved by Developers, authors of the issue and of the note', async () => {
    const { body } = await ben.post(`${one}/discussions`, { body: 'a thread' })
    const path = `${one}/discussions/${body.id}`
    const passer = await world.user('passer')
    expect((await passer.put(path, { resolved: true })).status).toBe(403)
    const resolved = await ana.put(path, { resolved: true })
    expect(resolved.body.notes[0]).toMatchObject({
      resolved: true,
      resolved_by: { username: 'ana' },
    })
    const again = await ben.put(`${path}/notes/${body.notes[0].id}`, { resolved: false })
    expect(again.body.resolved).toBe(false)
  })

  test('a note of a thread takes exactly one of body and resolved', async () => {
    const { body } = await ana.post(`${one}/discussions`, { body: 'exactly' })
    const note = `${one}/discussions/${body.id}/notes/${body.notes[0].id}`
    expect((await ana.put(note, {})).status).toBe(400)
    expect((await ana.put(note, { body: 'x', resolved: true })).body).toEqual({
      error: 'body, resolved are mutually exclusive',
    })
    expect((await ana.put(note, { body: 'changed' })).body.body).toBe('changed')
    expect((await ana.delete(note)).status).toBe(204)
    expect((await ana.delete(note)).status).toBe(404)
  })

  test('others change nobody else’s notes, and nobody system notes', async () => {
    const { body } = await ana.post(`${one}/notes`, { body: 'mine' })
    expect((await ben.put(`${one}/notes/${body.id}`, { body: 'yours' })).status).toBe(403)
    expect((await ben.delete(`${one}/notes/${body.id}`)).status).toBe(403)
    await ana.put(one, { title: 'talk more' })
    const system = await ana.get(`${one}/notes?activity_filter=only_activity`)
    expect((await ana.delete(`${one}/notes/${system.body[0].id}`)).status).toBe(403)
  })

  test('internal notes are for Planners and above', async () => {
    expect((await ben.post(`${one}/notes`, { body: 'psst', internal: true })).status).toBe(403)
    const { body } = await ana.post(`${one}/notes`, { body: 'psst', internal: true })
    expect(body.internal).toBe(true)
    expect((await ben.get(`${one}/notes/${body.id}`)).status).toBe(404)
  })

  test('only owners may choose when they wrote', async () => {
    const at = '2020-01-01T00:00:00.000Z'
    expect((await ana.post(`${one}/notes`, { body: 'old', created_at: at })).body.created_at).toBe(
      at,
    )
    expect(
      (await ben.post(`${one}/notes`, { body: 'old', created_at: at })).body.created_at,
    ).not.toBe(at)
  })

  test('a locked discussion is for members', async () => {
    await ana.put(one, { discussion_locked: true })
    const passer = await world.user('passer2')
    expect((await passer.post(`${one}/notes`, { body: 'x' })).status).toBe(403)
    expect((await ben.post(`${one}/notes`, { body: 'x' })).status).toBe(201)
  })

  test('nobody talks anonymously, and a blank note says nothing', async () => {
    expect((await world.nobody.get(`${one}/notes`)).status).toBe(401)
    expect((await ana.post(`${one}/notes`, { body: ' ' })).status).toBe(400)
    expect((await ana.post(`${one}/notes`, {})).body).toEqual({ error: 'body is missing' })
  })
})
