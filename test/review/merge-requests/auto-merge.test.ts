import { describe, expect, test } from 'vitest'
import { endJob } from '../../../src/ci/pipelines/process/change-jobs.ts'
import { refsPushed } from '../../../src/repositories/refs/pushed-task.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const configuration = 'build: {script: make}\n'

/** An open merge request of a branch that was made through the API just now: no task has run since. */
async function opened(files: Readonly<Record<string, string>>, settings = {}): Promise<Bench> {
  const bench = await openBench(world, ana, settings)
  const made = await ana.post(`/projects/${bench.project.id}/repository/commits`, {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'Try',
    actions: Object.entries(files).map(([file_path, content]) => ({
      action: 'create',
      file_path,
      content,
    })),
  })
  expect(made.status).toBe(201)
  const body = { source_branch: 'topic', target_branch: 'main', title: 'Take' }
  expect((await ana.post(bench.api, body)).status).toBe(201)
  return bench
}

const merge = (bench: Bench, more = {}) =>
  ana.put(`${bench.api}/1/merge`, { merge_when_pipeline_succeeds: true, ...more })
const read = async (bench: Bench) => (await ana.get(`${bench.api}/1`)).body

async function end(bench: Bench, status: 'success' | 'failed'): Promise<void> {
  const { head_pipeline: pipeline } = await read(bench)
  const at = `/projects/${bench.project.id}/pipelines/${pipeline.id}/jobs`
  for (const { id } of (await ana.get(at)).body) {
    const job = { id, pipeline_id: pipeline.id }
    if (status === 'success') await endJob(world.ctx, job, { status })
    else await endJob(world.ctx, job, { status, reason: 'script_failure' })
  }
  await world.runTasks()
}

describe('a merge when the pipeline succeeds', () => {
  test('waits for a pipeline that is due, then for its end', async () => {
    const bench = await opened({ '.svc-ci.yml': configuration })
    const waits = await merge(bench)
    expect(waits.status).toBe(200)
    expect(waits.body).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
      detailed_merge_status: 'ci_still_running',
      merge_user: { username: 'ana' },
    })
    await world.runTasks()
    await expect
      .poll(() => read(bench))
      .toMatchObject({
        state: 'opened',
        detailed_merge_status: 'ci_still_running',
        head_pipeline: { status: 'pending' },
      })
    await end(bench, 'success')
    expect((await read(bench)).state).toBe('merged')
  })

  test('waits for a pipeline that runs, though none is required', async () => {
    const bench = await opened({ '.svc-ci.yml': configuration })
    await world.runTasks()
    await read(bench)
    await world.runTasks()
    // Without waiting it may be merged meanwhile.
    expect((await read(bench)).detailed_merge_status).toBe('mergeable')
    expect((await merge(bench)).body).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
    })
    await end(bench, 'failed')
    expect(await read(bench)).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: false,
    })
    const notes = await ana.get(`${bench.api}/1/notes`)
    expect(JSON.stringify(notes.body)).toContain('the pipeline did not succeed')
    expect((await merge(bench)).status).toBe(405)
    expect((await ana.put(`${bench.api}/1/merge`)).body.state).toBe('merged')
  })

  test('is given up when the pipeline fails, though the merge request is a draft yet', async () => {
    const bench = await opened({ '.svc-ci.yml': configuration })
    await ana.put(`${bench.api}/1`, { title: 'Draft: Take' })
    await world.runTasks()
    await read(bench)
    await world.runTasks()
    expect((await merge(bench, { should_remove_source_branch: true })).body).toMatchObject({
      merge_when_pipeline_succeeds: true,
      should_remove_source_branch: true,
      detailed_merge_status: 'draft_status',
    })
    await end(bench, 'failed')
    expect(await read(bench)).toMatchObject({
      merge_when_pipeline_succeeds: false,
      should_remove_source_branch: null,
    })
    const notes = await ana.get(`${bench.api}/1/notes`)
    expect(JSON.stringify(notes.body)).toContain('the pipeline did not succeed')
  })

  test('is given up when the target makes a rebase necessary, though it is a draft yet', async () => {
    const bench = await opened({ 'a.txt': 'a\n' }, { merge_method: 'ff' })
    await ana.put(`${bench.api}/1`, { title: 'Draft: Take' })
    await world.runTasks()
    expect((await merge(bench)).body.merge_when_pipeline_succeeds).toBe(true)
    await world.runTasks()
    // Neither does it wait in vain, nor is it given up while there is hope.
    expect((await read(bench)).merge_when_pipeline_succeeds).toBe(true)
    const moved = await ana.post(`/projects/${bench.project.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'Go on',
      actions: [{ action: 'create', file_path: 'main.txt', content: 'm' }],
    })
    expect(moved.status).toBe(201)
    await world.runTasks()
    await read(bench)
    await world.runTasks()
    expect((await read(bench)).merge_when_pipeline_succeeds).toBe(false)
  })

  test('goes on by itself when no pipeline comes of what was due', async () => {
    const bench = await opened({ 'a.txt': 'a\n' })
    await world.runTasks()
    const { db, work } = world.ctx
    const push = await db
      .selectFrom('pushes')
      .select('id')
      .where('project_id', '=', bench.project.id)
      .executeTakeFirstOrThrow()
    const runAt = '2026-05-04T11:00:00.000Z'
    await work.enqueue(db, refsPushed, { push_ids: [push.id] }, { runAt })
    expect((await merge(bench)).body).toMatchObject({
      state: 'opened',
      detailed_merge_status: 'ci_still_running',
    })
    world.setNow(runAt)
    await world.runTasks()
    expect((await read(bench)).state).toBe('merged')
  })

  test('is made at once where no pipeline is due', async () => {
    const bench = await opened({ 'a.txt': 'a\n' })
    await world.runTasks()
    expect((await merge(bench)).body.state).toBe('merged')
  })
})
