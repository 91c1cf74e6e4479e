import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { later } from '../../src/base/clock.ts'
import { commitFiles } from '../support/fast-import.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { openBench } from '../support/review.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')

// Tasks lie until a test runs them.

/** Does something while the database refuses one kind of change. */
async function whileRefused(change: string, act: () => Promise<unknown>): Promise<void> {
  const body = "BEGIN SELECT RAISE(ABORT, 'refused by the test'); END"
  await sql.raw(`CREATE TRIGGER refused BEFORE ${change} ${body}`).execute(world.ctx.db)
  try {
    await act()
  } finally {
    await sql`DROP TRIGGER refused`.execute(world.ctx.db)
  }
}

/** Runs what is due, with no further attempt for what fails because of the refused change. */
async function runForTheLastTime(refused: string): Promise<void> {
  await sql`UPDATE tasks SET attempts = 99`.execute(world.ctx.db)
  await whileRefused(refused, () => world.runTasks())
}

async function pass(milliseconds: number): Promise<void> {
  world.setNow(later(world.ctx.now(), milliseconds))
}

async function projectWith(path: string, config: string): Promise<TestProject> {
  const project = await addProject(world, ana, 'basic', { path })
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  return project
}

/** What stands in the newest pipeline of a project: its own status, and that of each job with its reason. */
async function newestPipeline(project: TestProject) {
  const at = `/projects/${project.id}/pipelines`
  const { id, status } = (await ana.get(at)).body[0]
  const jobs = [
    ...(await ana.get(`${at}/${id}/jobs`)).body,
    ...(await ana.get(`${at}/${id}/bridges`)).body,
  ]
  const states = jobs.map((job) => `${job.name} ${job.status} ${job.failure_reason ?? ''}`.trim())
  return { id, states: [status, ...states] }
}

const failed = ['failed', 'x failed unknown_failure']

test('a fork that cannot be finished says so', async () => {
  const parent = await addProject(world, ana, 'basic', { path: 'parent' })
  const { body } = await ana.post(`/projects/${parent.id}/fork`, { path: 'forked', name: 'forked' })
  expect(body.import_status).toBe('scheduled')
  await runForTheLastTime('INSERT ON project_facts')
  const { import_status, import_error } = (await ana.get(`/projects/${body.id}`)).body
  expect(import_status).toBe('failed')
  expect(import_error).toContain('the server could not finish it')
})

test('a rebase that cannot be finished is over, says why, and can be asked for again', async () => {
  const bench = await openBench(world, ana, { merge_method: 'ff' })
  bench.commit('topic', { 'a.txt': 'a\n' })
  bench.commit('main', { 'b.txt': 'b\n' })
  await bench.open('topic')
  await ana.put(`${bench.api}/1/rebase`)
  await runForTheLastTime('INSERT ON pushes')
  const { body } = await ana.get(`${bench.api}/1?include_rebase_in_progress=true`)
  expect(body.rebase_in_progress).toBe(false)
  expect(body.merge_error).toContain('Rebase failed: the server could not finish it')
  expect((await ana.put(`${bench.api}/1/rebase`)).status).toBe(202)
  expect((await bench.read(1)).body).toMatchObject({
    merge_error: null,
    detailed_merge_status: 'mergeable',
  })
})

test('a merge request whose check fails for good is checked again when somebody looks', async () => {
  const bench = await openBench(world, ana)
  bench.commit('topic', { 'a.txt': 'a\n' })
  await ana.post(bench.api, { source_branch: 'topic', target_branch: 'main', title: 'Take topic' })
  const refused = "UPDATE ON merge_requests WHEN NEW.merge_status = 'can_be_merged'"
  // Preparing it is what makes the check due.
  await whileRefused(refused, () => world.runTasks())
  await pass(3_600_000)
  await runForTheLastTime(refused)
  await ana.get(`${bench.api}/1`)
  await world.runTasks()
  expect((await ana.get(`${bench.api}/1`)).body.detailed_merge_status).toBe('mergeable')
})

test('a job that cannot start another pipeline fails', async () => {
  await projectWith('down', 'y: {script: make}')
  const up = await projectWith('up', 'x: {trigger: ana/down}')
  await ana.post(`/projects/${up.id}/pipeline`, { ref: 'main' })
  await runForTheLastTime('INSERT ON pipelines')
  expect((await newestPipeline(up)).states).toEqual(failed)
})

test('a job whose pipeline ended, and that cannot follow it, fails', async () => {
  const down = await projectWith('ending', 'y: {script: make}')
  const up = await projectWith('waiting', 'x: {trigger: {project: ana/ending, strategy: depend}}')
  await ana.post(`/projects/${up.id}/pipeline`, { ref: 'main' })
  await world.runTasks()
  expect((await newestPipeline(up)).states).toEqual(['running', 'x running'])
  const { id } = await newestPipeline(down)
  await ana.post(`/projects/${down.id}/pipelines/${id}/cancel`)
  await runForTheLastTime("UPDATE ON ci_jobs WHEN NEW.status = 'canceled'")
  expect((await newestPipeline(up)).states).toEqual(failed)
})

test('a job that waits for a pipeline which is deleted fails', async () => {
  const down = await projectWith('deleted', 'y: {script: make}')
  const up = await projectWith('left', 'x: {trigger: {project: ana/deleted, strategy: depend}}')
  await ana.post(`/projects/${up.id}/pipeline`, { ref: 'main' })
  await world.runTasks()
  const { id } = await newestPipeline(down)
  await pass(60_000)
  await world.runTasks()
  expect((await newestPipeline(up)).states).toEqual(['running', 'x running'])
  expect((await ana.delete(`/projects/${down.id}/pipelines/${id}`)).status).toBe(204)
  await pass(60_000)
  await world.runTasks()
  expect((await newestPipeline(up)).states).toEqual(failed)
})

test('a delayed job that cannot be started fails', async () => {
  const project = await projectWith('late', 'x: {script: y, when: delayed, start_in: 10 minutes}')
  await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
  await pass(600_000)
  await runForTheLastTime("UPDATE ON ci_jobs WHEN NEW.status = 'pending'")
  expect((await newestPipeline(project)).states).toEqual(failed)
})

test('a pipeline that cannot be started fails, with its jobs', async () => {
  const project = await projectWith('stuck', 'x: {script: y}')
  const refused = "UPDATE ON ci_jobs WHEN NEW.status = 'pending'"
  await whileRefused(refused, async () => {
    const made = await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
    expect(made.status).toBe(500)
  })
  expect((await newestPipeline(project)).states).toEqual(['created', 'x created'])
  await pass(30_000)
  await runForTheLastTime(refused)
  expect((await newestPipeline(project)).states).toEqual(failed)
})

test('images that cannot be deleted are marked so, and can be deleted again', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'images' })
  const now = world.ctx.now()
  const { id } = await world.ctx.db
    .insertInto('container_repositories')
    .values({ project_id: project.id, name: 'app', created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  const at = `/projects/${project.id}/registry/repositories`
  expect((await ana.delete(`${at}/${id}`)).status).toBe(202)
  await runForTheLastTime('DELETE ON container_repositories')
  expect((await ana.get(at)).body).toMatchObject([{ id, status: 'delete_failed' }])
  expect((await ana.delete(`${at}/${id}`)).status).toBe(202)
  await world.runTasks()
  expect((await ana.get(at)).body).toEqual([])
})
