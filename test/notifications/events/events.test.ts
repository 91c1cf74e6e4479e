import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'gil')
let id: number
let events: string

beforeAll(async () => {
  id = (await createProject(ana, 'demo', { initialize_with_readme: true })).id
  events = `/projects/${id}/events`
  await addMember(world, id, guest.id, 10)
  await ana.post(`/projects/${id}/repository/branches?branch=work&ref=main`)
  await ana.post(`/projects/${id}/repository/commits`, {
    branch: 'work',
    commit_message: 'Add a',
    actions: [{ action: 'create', file_path: 'a', content: 'a' }],
  })
  await world.runTasks()
  await ana.post(`/projects/${id}/issues`, { title: 'open one' })
  await ana.post(`/projects/${id}/issues/1/notes`, { body: 'said' })
  await ana.post(`/projects/${id}/issues/1/notes`, { body: 'whispered', internal: true })
  await ana.post(`/projects/${id}/issues`, { title: 'secret', confidential: true })
  await ana.put(`/projects/${id}/issues/1`, { state_event: 'close' })
})

const actions = (body: { action_name: string }[]) => body.map((event) => event.action_name)

test('the events of a project are its creation, pushes, issues and comments, newest first', async () => {
  const { status, body } = await ana.get(events)
  expect(status).toBe(200)
  expect(actions(body)).toEqual([
    'closed',
    'opened',
    'commented on',
    'commented on',
    'opened',
    'pushed to',
    'pushed new',
    'pushed new',
    'created',
  ])
  expect(body[5]).toMatchObject({
    project_id: id,
    author_username: 'ana',
    author: { username: 'ana' },
    target_id: null,
    push_data: {
      commit_count: 1,
      action: 'pushed',
      ref_type: 'branch',
      ref: 'work',
      commit_title: 'Add a',
      ref_count: null,
    },
  })
  expect(body[3]).toMatchObject({
    target_type: 'Note',
    note: { body: 'said', noteable_type: 'Issue', noteable_iid: 1 },
  })
})

test('nobody gets events of what they may not see', async () => {
  const seen = await guest.get(events)
  expect(actions(seen.body)).toEqual(['closed', 'commented on', 'opened', 'created'])
  expect(JSON.stringify(seen.body)).not.toMatch(/secret|whispered|Add a/)
  const ofAna = await guest.get('/users/ana/events')
  expect(actions(ofAna.body)).toEqual(actions(seen.body))
  const stranger = await world.user('stranger')
  expect((await stranger.get(events)).status).toBe(404)
  expect((await stranger.get(`/users/${ana.id}/events`)).body).toEqual([])
  expect((await world.nobody.get(`/users/${ana.id}/events`)).body).toEqual([])
  expect((await world.nobody.get('/events')).status).toBe(401)
  expect((await stranger.get('/users/nobody/events')).status).toBe(404)
})

test('lists are narrowed by action, target and day', async () => {
  expect(actions((await ana.get(`${events}?action=pushed`)).body)).toHaveLength(3)
  expect(actions((await ana.get(`${events}?target_type=note`)).body)).toHaveLength(2)
  expect((await ana.get(`${events}?action=created&sort=asc`)).body[0].action_name).toBe('created')
  expect((await ana.get(`${events}?before=2026-05-04`)).body).toEqual([])
  expect((await ana.get(`${events}?before=2026-05-05`)).body).toHaveLength(9)
  expect((await ana.get(`${events}?after=2026-05-04`)).body).toEqual([])
  expect((await ana.get(`${events}?after=2026-05-03`)).body).toHaveLength(9)
  expect((await ana.get(`${events}?action=eaten`)).status).toBe(400)
})

test('users get their own events, or those of all their projects', async () => {
  expect((await ana.get('/events')).body).toHaveLength(9)
  expect((await guest.get('/events')).body).toEqual([])
  expect((await guest.get('/events?scope=all')).body).toHaveLength(4)
})
