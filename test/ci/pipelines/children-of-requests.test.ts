import { describe, expect, test } from 'vitest'
import { endJob } from '../../../src/ci/pipelines/process/change-jobs.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const forRequests = `
goes:
  trigger: {include: child.yml}
  rules: [{if: $CI_PIPELINE_SOURCE == "merge_request_event"}]
check:
  script: make
  rules: [{if: $CI_PIPELINE_SOURCE == "merge_request_event"}]
`
const child = `
inner:
  script: 'true'
  rules: [{if: $CI_MERGE_REQUEST_IID}]
docs:
  script: 'true'
  rules: [{changes: [docs/*]}]
code:
  script: 'true'
  rules: [{changes: [code/*]}]
`

interface Pipeline {
  readonly id: number
  readonly sha: string
  readonly ref: string
  readonly source: string
  readonly status: string
}

async function children(bench: Bench): Promise<Pipeline[]> {
  const at = `/projects/${bench.project.id}/pipelines?source=parent_pipeline`
  return (await ana.get(at)).body
}

async function jobsOf(bench: Bench, pipeline: Pipeline | undefined) {
  const { body } = await ana.get(`/projects/${bench.project.id}/pipelines/${pipeline?.id}/jobs`)
  return body as { id: number; name: string }[]
}

async function end(bench: Bench, pipeline: Pipeline, status: 'success' | 'failed'): Promise<void> {
  for (const { id } of await jobsOf(bench, pipeline)) {
    const job = { id, pipeline_id: pipeline.id }
    if (status === 'success') await endJob(world.ctx, job, { status })
    else await endJob(world.ctx, job, { status, reason: 'script_failure' })
  }
  await world.runTasks()
}

/** Commits through the API, so that pipelines come of it. */
async function commit(bench: Bench, branch: string, files: Record<string, string>, more = {}) {
  const made = await ana.post(`/projects/${bench.project.id}/repository/commits`, {
    branch,
    commit_message: 'Change',
    actions: Object.entries(files).map(([file_path, content]) => ({
      action: 'create',
      file_path,
      content,
    })),
    ...more,
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  await world.runTasks()
  return made.body.id as string
}

async function request(): Promise<Bench> {
  const bench = await openBench(world, ana)
  await commit(bench, 'main', { '.svc-ci.yml': forRequests, 'child.yml': child })
  const start = { start_branch: 'main' }
  await commit(bench, 'topic', { 'docs/a.md': 'a' }, start)
  expect((await bench.open('topic')).status).toBe(200)
  return bench
}

describe('a child of the pipeline of a merge request', () => {
  test('is of the same merge request and commit, and knows what it changes', async () => {
    const bench = await request()
    const [made] = await children(bench)
    const { body } = await ana.get(`${bench.api}/1`)
    expect(made).toMatchObject({ sha: body.sha, ref: 'refs/merge-requests/1/head' })
    expect((await jobsOf(bench, made)).map((job) => job.name).sort()).toEqual(['docs', 'inner'])
    const runner = await addRunner(world, ana, bench.project.id)
    const given = []
    for (;;) {
      const job = await runner.request()
      if (!job) break
      given.push(job)
    }
    const inner = given.find((job) => job.job_info.name === 'inner')
    const keys = new Map(
      inner?.variables.map((one: { key: string; value: string }) => [one.key, one.value]),
    )
    expect(keys.get('CI_MERGE_REQUEST_IID')).toBe('1')
    expect(keys.get('CI_PIPELINE_SOURCE')).toBe('parent_pipeline')
    expect(keys.get('CI_COMMIT_SHA')).toBe(body.sha)
    expect(keys.has('CI_COMMIT_BRANCH')).toBe(false)
  })

  test('is not the pipeline of the head, and none of the list', async () => {
    const bench = await request()
    const { body } = await ana.get(`${bench.api}/1`)
    const [made] = await children(bench)
    expect(body.head_pipeline.source).toBe('merge_request_event')
    expect(made?.id).toBeGreaterThan(body.head_pipeline.id)
    const listed = await ana.get(`${bench.api}/1/pipelines`)
    expect(listed.body.map((one: Pipeline) => one.id)).toEqual([body.head_pipeline.id])
    const commitNow = await ana.get(`/projects/${bench.project.id}/repository/commits/${body.sha}`)
    expect(commitNow.body.last_pipeline.id).toBe(body.head_pipeline.id)
  })

  test('merges nothing by its success while its parent runs', async () => {
    const bench = await request()
    const [made] = await children(bench)
    const waits = await ana.put(`${bench.api}/1/merge`, { auto_merge: true })
    expect(waits.body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
    if (made) await end(bench, made, 'success')
    expect((await ana.get(`${bench.api}/1`)).body.state).toBe('opened')
    await end(bench, (await ana.get(`${bench.api}/1`)).body.head_pipeline, 'success')
    expect((await ana.get(`${bench.api}/1`)).body.state).toBe('merged')
  })

  test('holds nothing up by its failure where its parent does not wait for it', async () => {
    const bench = await request()
    await ana.put(`/projects/${bench.project.id}`, { only_allow_merge_if_pipeline_succeeds: true })
    await end(bench, (await ana.get(`${bench.api}/1`)).body.head_pipeline, 'success')
    const [made] = await children(bench)
    if (made) await end(bench, made, 'failed')
    expect((await bench.read(1)).body.detailed_merge_status).toBe('mergeable')
    const todos = await ana.get(`/todos?action=build_failed&project_id=${bench.project.id}`)
    expect(todos.body).toEqual([])
  })
})

test('a child runs the commit of its parent, though the branch has gone on or is gone', async () => {
  const bench = await openBench(world, ana)
  const late =
    'first: {stage: build, script: make}\ngoes: {stage: test, trigger: {include: child.yml}}'
  const old = await commit(
    bench,
    'work',
    { '.svc-ci.yml': late, 'child.yml': 'inner: {script: old}' },
    {
      start_branch: 'main',
    },
  )
  const at = `/projects/${bench.project.id}`
  const [parent] = (await ana.get(`${at}/pipelines`)).body
  bench.commit('work', { 'child.yml': 'renewed: {script: new}' })
  await end(bench, parent, 'success')
  const [one] = await children(bench)
  expect(one).toMatchObject({ sha: old, ref: 'work' })
  expect((await jobsOf(bench, one)).map((job) => job.name)).toEqual(['inner'])
  const again = await ana.post(`${at}/pipeline`, { ref: 'work' })
  expect(again.status).toBe(201)
  bench.project.git('update-ref', '-d', 'refs/heads/work')
  await end(bench, again.body, 'success')
  const [two] = await children(bench)
  expect(two).toMatchObject({ sha: again.body.sha, ref: 'work' })
  expect((await jobsOf(bench, two)).map((job) => job.name)).toEqual(['renewed'])
})

test('the newest success of a ref keeps its artifacts beside its children', async () => {
  const bench = await openBench(world, ana)
  const config =
    'make: {script: make, artifacts: {paths: [out], expire_in: 1 hour}}\ngoes: {trigger: {include: child.yml}}'
  await commit(bench, 'main', { '.svc-ci.yml': config, 'child.yml': 'inner: {script: x}' })
  const at = `/projects/${bench.project.id}`
  const runner = await addRunner(world, ana, bench.project.id)
  for (let job = await runner.request(); job; job = await runner.request()) {
    if (job.job_info.name === 'make') {
      const query = { artifact_type: 'archive', artifact_format: 'zip', expire_in: '1 hour' }
      expect((await runner.upload(job, new TextEncoder().encode('zip'), query)).status).toBe(201)
    }
    await runner.finish(job, 'success')
    await world.runTasks()
  }
  const [parent] = (await ana.get(`${at}/pipelines`)).body
  expect(parent.status).toBe('success')
  expect((await children(bench)).map((one) => one.status)).toEqual(['success'])
  const make = (await jobsOf(bench, parent)).find((job) => job.name === 'make')
  expect((await ana.delete(`${at}/artifacts`)).status).toBe(202)
  await world.runTasks()
  expect((await ana.get(`${at}/jobs/${make?.id}/artifacts`)).status).toBe(200)
})

test('the pipeline made for a merge request is that of its head, before a newer one of its branch', async () => {
  const bench = await openBench(world, ana)
  const sources = ['merge_request_event', 'api']
  const rules = sources.map((source) => `{if: $CI_PIPELINE_SOURCE == "${source}"}`)
  const config = `x: {script: y, rules: [${rules.join()}]}`
  await commit(bench, 'main', { '.svc-ci.yml': config })
  await commit(bench, 'topic', { a: 'a' }, { start_branch: 'main' })
  const { body } = await bench.open('topic')
  const later = await ana.post(`/projects/${bench.project.id}/pipeline`, { ref: 'topic' })
  expect([later.status, later.body.sha]).toEqual([201, body.sha])
  const now = await ana.get(`${bench.api}/1`)
  expect(now.body.head_pipeline.id).toBe(body.head_pipeline.id)
  expect(body.head_pipeline.source).toBe('merge_request_event')
})
