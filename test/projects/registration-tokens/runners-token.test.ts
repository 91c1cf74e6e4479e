import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mia = useCaller(world, 'mia')
const dev = useCaller(world, 'dev')
let group: string
let project: string
let projectId: number

beforeAll(async () => {
  const made = await createGroup(ana, 'team', { visibility: 'public' })
  group = `/groups/${made.id}`
  projectId = (await createProject(ana, 'demo', { namespace_id: made.id, visibility: 'public' })).id
  project = `/projects/${projectId}`
  await addMember(world, projectId, mia.id, 40)
  await addMember(world, projectId, dev.id, 30)
})

const seenBy = async (caller: Caller, path: string) => (await caller.get(path)).body.runners_token

test('a single read gives Maintainers of a project and Owners of a group the token for their runners', async () => {
  const token = await seenBy(mia, project)
  expect(token).toMatch(/^GR1348941\S{20,}$/)
  expect(await seenBy(ana, project)).toBe(token)
  expect(await seenBy(world.root, project)).toBe(token)
  const ofGroup = await seenBy(ana, group)
  expect(ofGroup).toMatch(/^GR1348941\S{20,}$/)
  expect(ofGroup).not.toBe(token)
  const runner = await world.nobody.post('/runners', { token, description: 'ours' })
  expect(runner.status).toBe(201)
  const listed = (await mia.get(`${project}/runners?type=project_type`)).body
  expect(listed.map((one: { id: number }) => one.id)).toEqual([runner.body.id])
})

test('a reset puts another in its place, which is read from then on', async () => {
  const before = await seenBy(mia, project)
  const { token } = (await mia.post(`${project}/runners/reset_registration_token`)).body
  expect(token).not.toBe(before)
  expect(await seenBy(mia, project)).toBe(token)
  expect((await world.nobody.post('/runners', { token: before })).status).toBe(403)
})

test('nobody else reads it: lesser members, strangers, and tokens that only read', async () => {
  for (const caller of [dev, await world.user('stranger'), world.nobody]) {
    expect((await caller.get(project)).body).not.toHaveProperty('runners_token')
  }
  expect((await mia.get(group)).body).not.toHaveProperty('runners_token')
  for (const path of [project, group]) {
    const reading = world.as(await world.token(ana.id, ['read_api']))
    expect((await reading.get(path)).body).not.toHaveProperty('runners_token')
  }
  for (const path of ['/projects', `${group}/projects`, '/groups', group]) {
    expect(JSON.stringify((await ana.get(path)).body.projects ?? [])).not.toContain('runners_token')
  }
  const [one] = (await ana.get('/projects?membership=true')).body
  expect(one).not.toHaveProperty('runners_token')
})

test('a read never writes: where there is none it is null until the first reset', async () => {
  const { id } = await createGroup(ana, 'other')
  await world.ctx.db.deleteFrom('ci_registration_tokens').where('group_id', '=', id).execute()
  expect(await seenBy(ana, `/groups/${id}`)).toBeNull()
  const { token } = (await ana.post(`/groups/${id}/runners/reset_registration_token`)).body
  expect(await seenBy(ana, `/groups/${id}`)).toBe(token)
})

test('while the instance takes no such tokens there is none', async () => {
  await world.root.put('/application/settings', { allow_runner_registration_token: false })
  expect([await seenBy(mia, project), await seenBy(ana, group)]).toEqual([null, null])
  await world.root.put('/application/settings', { allow_runner_registration_token: true })
  expect(await seenBy(mia, project)).toMatch(/^GR/)
})
