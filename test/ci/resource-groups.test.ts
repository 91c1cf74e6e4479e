import { beforeAll, expect, test } from 'vitest'
import { commitFiles } from '../support/fast-import.ts'
import { addMember } from '../support/members.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner, type TestRunner } from '../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let runner: TestRunner
let path: string

const config = `
ship: {script: make, resource_group: live/eu}
test: {script: make, resource_group: bench}
free: {script: make}
`

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'shared' })
  await addMember(world, project.id, dev.id, 30)
  await addMember(world, project.id, rep.id, 20)
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  runner = await addRunner(world, ana, project.id)
  path = `/projects/${project.id}/resource_groups`
})

const live = () => `${path}/${encodeURIComponent('live/eu')}`

async function run(): Promise<number> {
  const { status, body } = await dev.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
  expect(status).toBe(201)
  return body.id
}

async function states(pipeline: number): Promise<Record<string, string>> {
  const { body } = await dev.get(`/projects/${project.id}/pipelines/${pipeline}/jobs`)
  return Object.fromEntries(
    (body as { name: string; status: string }[]).map(({ name, status }) => [name, status]),
  )
}

async function upcoming(): Promise<number[]> {
  const { body } = await dev.get(`${live()}/upcoming_jobs`)
  return (body as { pipeline: { id: number } }[]).map(({ pipeline }) => pipeline.id)
}

test('a group is there once a job has named it, with each of its attributes', async () => {
  expect((await dev.get(path)).body).toEqual([])
  const none = await dev.get(live())
  expect([none.status, none.body]).toEqual([404, { message: '404 Resource Group Not Found' }])
  const id = await run()
  const { body: groups } = await dev.get(path)
  expect(groups.map((one: { key: string }) => one.key).sort()).toEqual(['bench', 'live/eu'])
  expect((await dev.get(live())).body).toEqual({
    id: expect.any(Number),
    key: 'live/eu',
    process_mode: 'unordered',
    created_at: world.ctx.now(),
    updated_at: world.ctx.now(),
  })
  expect(await states(id)).toEqual({ ship: 'pending', test: 'pending', free: 'pending' })
  const page = await dev.get(`${path}?per_page=1&page=2`)
  expect([page.body, page.headers.get('x-total')]).toEqual([[groups[1]], '2'])
  expect((await dev.get(`${path}/live`)).status).toBe(404)
})

test('a job waits for its own group alone, and the next one follows whatever ends the first', async () => {
  const [second, third] = [await run(), await run()]
  const waiting = { ship: 'waiting_for_resource', test: 'waiting_for_resource', free: 'pending' }
  expect(await states(second)).toEqual(waiting)
  expect(await upcoming()).toEqual([second, third])
  const [first] = (await dev.get(`/projects/${project.id}/jobs?scope=pending&per_page=100`)).body
    .filter((job: { name: string }) => job.name === 'ship')
    .map((job: { id: number }) => job.id)
  expect((await dev.post(`/projects/${project.id}/jobs/${first}/cancel`)).status).toBe(201)
  expect(await states(second)).toEqual({ ...waiting, ship: 'pending' })
  expect(await upcoming()).toEqual([third])
  for (let job = await runner.request(); job; job = await runner.request()) {
    await runner.finish(job, job.job_info.name === 'ship' ? 'failed' : 'success')
  }
  expect(await upcoming()).toEqual([])
  expect(await states(third)).toEqual({ ship: 'failed', test: 'success', free: 'success' })
})

test('a job that waits is canceled without ever having had the resource', async () => {
  const [holder, waiting, last] = [await run(), await run(), await run()]
  expect((await dev.post(`/projects/${project.id}/pipelines/${waiting}/cancel`)).status).toBe(200)
  expect((await states(waiting)).ship).toBe('canceled')
  expect((await states(holder)).ship).toBe('pending')
  expect(await upcoming()).toEqual([last])
  await dev.post(`/projects/${project.id}/pipelines/${holder}/cancel`)
  expect((await states(last)).ship).toBe('pending')
  await dev.post(`/projects/${project.id}/pipelines/${last}/cancel`)
})

test('the mode is set by its names alone, and kept when none is given', async () => {
  world.setNow('2026-05-04T11:00:00.000Z')
  const before = (await dev.get(live())).body
  const set = await dev.put(live(), { process_mode: 'newest_first' })
  expect([set.status, set.body]).toEqual([
    200,
    { ...before, process_mode: 'newest_first', updated_at: '2026-05-04T11:00:00.000Z' },
  ])
  for (const process_mode of ['fastest_first', '', 'NEWEST_FIRST']) {
    const wrong = await dev.put(live(), { process_mode })
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { error: 'process_mode does not have a valid value' },
    ])
  }
  expect((await dev.put(live(), {})).body.process_mode).toBe('newest_first')
  expect((await dev.get(`${path}/bench`)).body.process_mode).toBe('unordered')
  expect((await dev.put(`${path}/none`, { process_mode: 'unordered' })).status).toBe(404)
})

test('groups are for Developers of the project, and each project has its own', async () => {
  const stranger = await world.user('stranger')
  const callers: [Caller, number][] = [
    [rep, 403],
    [stranger, 404],
    [world.nobody, 404],
  ]
  for (const [by, status] of callers) {
    expect((await by.get(path)).status).toBe(status)
    expect((await by.get(live())).status).toBe(status)
    expect((await by.put(live(), { process_mode: 'unordered' })).status).toBe(status)
    expect((await by.get(`${live()}/upcoming_jobs`)).status).toBe(status)
  }
  const other = await addProject(world, ana, 'basic', { path: 'other' })
  commitFiles(other, { files: { '.svc-ci.yml': config } })
  const held = await run()
  const { body } = await ana.post(`/projects/${other.id}/pipeline`, { ref: 'main' })
  const jobs = (await ana.get(`/projects/${other.id}/pipelines/${body.id}/jobs`)).body
  expect(jobs.map((job: { status: string }) => job.status)).toEqual([
    'pending',
    'pending',
    'pending',
  ])
  const theirs = await ana.get(
    `/projects/${other.id}/resource_groups/${encodeURIComponent('live/eu')}`,
  )
  expect(theirs.body.process_mode).toBe('unordered')
  expect((await dev.get(live())).body.process_mode).toBe('newest_first')
  await dev.post(`/projects/${project.id}/pipelines/${held}/cancel`)
})

test('a group that nobody has looked at is in the mode that its project has for new ones', async () => {
  const other = await addProject(world, ana, 'basic', {
    path: 'ordered',
    settings: { resource_group_default_process_mode: 'newest_first' },
  })
  commitFiles(other, { files: { '.svc-ci.yml': 'ship: {script: make, resource_group: live}' } })
  const ids: number[] = []
  for (let count = 0; count < 3; count += 1) {
    ids.push((await ana.post(`/projects/${other.id}/pipeline`, { ref: 'main' })).body.id)
  }
  const [first, second, third] = ids
  const ship = async (pipeline: number | undefined) =>
    (await ana.get(`/projects/${other.id}/pipelines/${pipeline}/jobs`)).body[0].status
  expect(await ship(first)).toBe('pending')
  await ana.post(`/projects/${other.id}/pipelines/${first}/cancel`)
  expect([await ship(second), await ship(third)]).toEqual(['waiting_for_resource', 'pending'])
})
