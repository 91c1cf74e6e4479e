import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let ben: Caller
let groupId: number
let projectId: number
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

let count = 0
beforeEach(async () => {
  world.setNow('2026-05-04T10:00:00.000Z')
  count += 1
  ben = await world.user(`ben${count}`)
  groupId = (await createGroup(ana, `g${count}`)).id
  projectId = (await createProject(ana, `p${count}`)).id
  const ends = { user_id: ben.id, expires_at: '2026-05-10' }
  await ana.post(`/groups/${groupId}/members`, { ...ends, access_level: 40 })
  await ana.post(`/projects/${projectId}/members`, {
    ...ends,
    access_level: 30,
  })
})

const places = async () =>
  (await root.get(`/users/${ben.id}/memberships`)).body.map(
    (row: { source_id: number }) => row.source_id,
  )
const counts = async () => (await root.get(`/users/${ben.id}/associations_count`)).body
const highest = async () => (await root.get(`/users/${ben.id}`)).body.highest_role

test('memberships count until the day on which they end', async () => {
  world.setNow('2026-05-09T23:59:59.000Z')
  expect(await places()).toEqual([groupId, projectId])
  expect(await counts()).toMatchObject({ groups_count: 1, projects_count: 1 })
  expect(await highest()).toBe(40)
})

test('memberships that ended are not shown, also before they are removed', async () => {
  world.setNow('2026-05-10T00:00:00.000Z')
  expect(await places()).toEqual([])
  expect(await counts()).toMatchObject({ groups_count: 0, projects_count: 0 })
  expect(await highest()).toBe(0)
  const listed = (await root.get(`/users?username=ben${count}`)).body
  expect(listed).toMatchObject([{ highest_role: 0 }])
})

test('a request for access is no membership', async () => {
  const open = await createProject(ana, `open${count}`, { visibility: 'public' })
  expect((await ben.post(`/projects/${open.id}/access_requests`)).status).toBe(201)
  expect(await places()).toEqual([groupId, projectId])
  expect(await counts()).toMatchObject({ projects_count: 1 })
})

test('a member who waits for approval belongs to nothing yet', async () => {
  const path = `/groups/${groupId}/members/${ben.id}/state`
  expect((await ana.put(path, { state: 'awaiting' })).status).toBe(200)
  expect(await places()).toEqual([projectId])
  expect(await counts()).toMatchObject({ groups_count: 0, projects_count: 1 })
  expect(await highest()).toBe(30)
})

test('own projects are counted once, beside those of others', async () => {
  const own = await createProject(ben, 'mine')
  expect(await counts()).toMatchObject({ groups_count: 1, projects_count: 2 })
  expect(await places()).toEqual([groupId, projectId, own.id])
})
