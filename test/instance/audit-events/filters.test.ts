import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let ben: Caller
let projectId: number
let groupId: number
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  ben = await world.user('ben')
  projectId = (await createProject(ana, 'p')).id
  world.setNow('2026-05-05T10:00:00.000Z')
  groupId = (await createGroup(ana, 'g')).id
  world.setNow('2026-05-06T10:00:00.000Z')
  await ana.put(`/projects/${projectId}`, { visibility: 'internal', name: 'renamed' })
  await ana.post(`/projects/${projectId}/members`, { user_id: ben.id, access_level: 30 })
  await ana.put(`/groups/${groupId}`, { path: 'g2' })
})

type Event = {
  id: number
  event_name: string
  entity_type: string
  entity_id: number
  author_id: number
  created_at: string
  details: Record<string, unknown>
}

async function events(caller: Caller, path: string): Promise<Event[]> {
  const { status, body } = await caller.get(path)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return body
}
const named = (list: Event[]) => list.map((one) => one.event_name)

describe('the trail of a project or group', () => {
  test('shows what was changed, by whom, newest first', async () => {
    const list = await events(ana, `/projects/${projectId}/audit_events`)
    expect(named(list).slice(0, 2)).toEqual(['member_added', 'project_changed'])
    expect(list.find((one) => one.event_name === 'project_changed')).toMatchObject({
      author_id: ana.id,
      entity_type: 'Project',
      entity_id: projectId,
      created_at: '2026-05-06T10:00:00.000Z',
      details: { name: 'p → renamed', visibility: 'private → internal', author_name: 'ana' },
    })
    const ofGroup = await events(ana, `/groups/${groupId}/audit_events`)
    expect(named(ofGroup)).toContain('group_changed')
    expect(ofGroup.every((one) => one.entity_id === groupId)).toBe(true)
  })

  test('is narrowed by time, on the moment itself too', async () => {
    const path = `/projects/${projectId}/audit_events`
    const all = await events(ana, path)
    const after = await events(ana, `${path}?created_after=2026-05-06T10:00:00Z`)
    const before = await events(ana, `${path}?created_before=2026-05-04T10:00:00Z`)
    expect(named(after)).toEqual(['member_added', 'project_changed'])
    expect(named(before)).toContain('project_created')
    expect(after.length + before.length).toBe(all.length)
    expect(await events(ana, `${path}?created_after=2026-05-07`)).toEqual([])
    expect((await ana.get(`${path}?created_after=then`)).body).toEqual({
      error: 'created_after is invalid',
    })
  })

  test('is for those who look after it', async () => {
    for (const path of [`/projects/${projectId}`, `/groups/${groupId}`]) {
      const [event] = await events(ana, `${path}/audit_events`)
      for (const one of ['', `/${event?.id}`]) {
        expect((await world.nobody.get(`${path}/audit_events${one}`)).status).toBe(401)
        expect((await ben.get(`${path}/audit_events${one}`)).status).toBeGreaterThan(400)
      }
      expect((await ana.get(`${path}/audit_events/${event?.id}`)).body).toEqual(event)
    }
    const [ofGroup] = await events(ana, `/groups/${groupId}/audit_events`)
    const elsewhere = await ana.get(`/projects/${projectId}/audit_events/${ofGroup?.id}`)
    expect([elsewhere.status, elsewhere.body]).toEqual([
      404,
      { message: '404 Audit Event Not Found' },
    ])
  })
})

describe('the trail of the instance', () => {
  test('holds everything, and is narrowed by what it is about', async () => {
    const kinds = new Set(
      (await events(root, '/audit_events?per_page=100')).map((one) => one.entity_type),
    )
    expect([...kinds].sort()).toEqual(['Group', 'Project', 'User'])
    const of = `/audit_events?entity_type=Project&entity_id=${projectId}`
    expect(await events(root, of)).toEqual(await events(ana, `/projects/${projectId}/audit_events`))
    await root.put('/application/settings', { first_day_of_week: 1 })
    expect(await events(root, '/audit_events?entity_type=Instance')).toMatchObject([
      { event_name: 'settings_changed', details: { changed: 'first_day_of_week' } },
    ])
  })

  test.each([
    ['entity_type=Star', 'entity_type does not have a valid value'],
    ['entity_id=1', 'entity_type is missing'],
    ['entity_type=User&entity_id=x', 'entity_id is invalid'],
    ['created_before=then', 'created_before is invalid'],
  ])('is not narrowed by %s', async (query, error) => {
    const reply = await root.get(`/audit_events?${query}`)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('has no event that is not there', async () => {
    const none = await root.get('/audit_events/999999')
    expect([none.status, none.body]).toEqual([404, { message: '404 Audit Event Not Found' }])
    expect((await ana.get('/audit_events/1')).status).toBe(403)
  })
})
