import { beforeAll, expect, test } from 'vitest'
import { createGroup } from '../support/create.ts'
import { commitFiles } from '../support/fast-import.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let from: TestProject
let to: TestProject
let job: Caller

beforeAll(async () => {
  from = await addProject(world, ana, 'basic', { path: 'from' })
  to = await addProject(world, ana, 'basic', { path: 'to' })
  commitFiles(from, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  await ana.post(`/projects/${from.id}/pipeline`, { ref: 'main' })
  const runner = await addRunner(world, ana, from.id)
  const given = await runner.request()
  if (!given) throw new Error('no job')
  job = world.withHeader('JOB-TOKEN', given.token)
})

const reach = async () => (await job.get(`/projects/${to.id}/environments`)).status

test('a job reaches another private project only when that lists its project', async () => {
  const scope = `/projects/${to.id}/job_token_scope`
  expect(await reach()).toBe(404)
  const added = await ana.post(`${scope}/allowlist`, { target_project_id: from.id })
  expect(added).toMatchObject({
    status: 201,
    body: { source_project_id: to.id, target_project_id: from.id },
  })
  expect(await reach()).toBe(200)
  expect((await ana.post(`${scope}/allowlist`, { target_project_id: from.id })).status).toBe(400)
  const listed = await ana.get(`${scope}/allowlist`)
  expect(listed.body.map((one: { id: number }) => one.id)).toEqual([to.id, from.id])
  expect((await ana.delete(`${scope}/allowlist/${from.id}`)).status).toBe(204)
  expect(await reach()).toBe(404)
})

test('a job reaches a project that lists a group above its own', async () => {
  const group = await createGroup(ana, 'team')
  await ana.put(`/projects/${from.id}/transfer`, { namespace: group.id })
  const list = `/projects/${to.id}/job_token_scope/groups_allowlist`
  expect((await ana.post(list, { target_group_id: group.id })).status).toBe(201)
  expect(await reach()).toBe(200)
  expect((await ana.get(list)).body).toMatchObject([{ full_path: 'team' }])
  await ana.delete(`${list}/${group.id}`)
  expect(await reach()).toBe(404)
})

test('a job reaches every project of its user that has no list', async () => {
  const scope = `/projects/${to.id}/job_token_scope`
  expect((await ana.patch(scope, { enabled: false })).status).toBe(204)
  expect((await ana.get(scope)).body.inbound_enabled).toBe(false)
  expect(await reach()).toBe(200)
  await ana.patch(scope, { enabled: true })
  expect(await reach()).toBe(404)
})
