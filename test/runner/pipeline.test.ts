import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { storeLfsObject } from '../../src/repositories/lfs/objects.ts'
import { shellExecutor } from '../../src/runner/shell-executor.ts'
import { usualUnpackLimits } from '../../src/runner/unpack-room.ts'
import { runWorker } from '../../src/runner/worker.ts'
import { commitFiles } from '../support/fast-import.ts'
import { freePort } from '../support/free-port.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

let world: World
let ana: Caller
let folder: string
let count = 0
let stop = new AbortController()
let kill = new AbortController()
let working: Promise<number> | undefined

beforeAll(async () => {
  // Jobs clone from the server's own address, so it must be known beforehand.
  world = await openWorld({ port: await freePort() })
  ana = await world.user('ana')
  folder = await mkdtemp(join(tmpdir(), 'runner-'))
})
afterEach(async () => {
  stop.abort()
  kill.abort()
  await working
  stop = new AbortController()
  kill = new AbortController()
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

interface Place {
  readonly project: TestProject
  readonly path: string
}

/** A project with its files, and a runner that works for it beside the server. */
async function projectWith(
  files: Readonly<Record<string, string>>,
  concurrent = 2,
): Promise<Place> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `run${count}` })
  commitFiles(project, { files })
  const made = await ana.post('/user/runners', {
    runner_type: 'project_type',
    project_id: project.id,
  })
  working = runWorker({
    url: world.url,
    token: made.body.token,
    executor: shellExecutor,
    folder: join(folder, String(count)),
    concurrent,
    limits: { memory: 0, processes: 0 },
    unpack: usualUnpackLimits,
    version: '1',
    jobs: 0,
    stop: stop.signal,
    kill: kill.signal,
    say: () => undefined,
  })
  return { project, path: `/projects/${project.id}` }
}

async function run(place: Place): Promise<number> {
  const { status, body } = await ana.post(`${place.path}/pipeline`, { ref: 'main' })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

interface SeenJob {
  readonly id: number
  readonly name: string
  readonly status: string
  readonly failure_reason?: string
}

async function jobsOf(place: Place, pipeline: number): Promise<Record<string, SeenJob>> {
  const { body } = await ana.get(`${place.path}/pipelines/${pipeline}/jobs?per_page=100`)
  return Object.fromEntries((body as SeenJob[]).map((job) => [job.name, job]))
}

async function traceOf(place: Place, job: SeenJob | undefined): Promise<string> {
  return (await ana.get(`${place.path}/jobs/${job?.id}/trace`)).body
}

const polling = { timeout: 60_000, interval: 100 }

/** Waits until a pipeline has come to a status; background work runs meanwhile. */
async function becomes(place: Place, pipeline: number, status: string): Promise<void> {
  await vi.waitFor(async () => {
    await world.runTasks()
    const { body } = await ana.get(`${place.path}/pipelines/${pipeline}`)
    const jobs = await jobsOf(place, pipeline)
    const states = JSON.stringify(Object.values(jobs).map((job) => [job.name, job.status]))
    expect(body.status, states).toBe(status)
  }, polling)
}

async function jobBecomes(place: Place, pipeline: number, name: string, status: string) {
  await vi.waitFor(async () => {
    expect((await jobsOf(place, pipeline))[name]?.status).toBe(status)
  }, polling)
}

describe('gitstead runner', () => {
  test('ends a script that is canceled in the middle, and still runs what comes after it', async () => {
    const place = await projectWith({
      '.svc-ci.yml':
        'slow: {script: [echo begun, sleep 300], after_script: [echo "status $CI_JOB_STATUS"]}',
    })
    const pipeline = await run(place)
    await jobBecomes(place, pipeline, 'slow', 'running')
    const { slow } = await jobsOf(place, pipeline)
    await vi.waitFor(async () => expect(await traceOf(place, slow)).toContain('begun'), polling)
    await ana.post(`${place.path}/jobs/${slow?.id}/cancel`)
    await jobBecomes(place, pipeline, 'slow', 'canceled')
    expect(await traceOf(place, slow)).toContain('status canceled')
  }, 90_000)

  test('distinguishes exit codes, timeouts and missing commits', async () => {
    const place = await projectWith({
      '.svc-ci.yml': `
fails: {script: [exit 7], allow_failure: {exit_codes: 7}}
loses: {script: ["true"], variables: {GIT_FETCH_EXTRA_FLAGS: --nonsense}, allow_failure: true}
part: {script: [test -s .svc-ci.yml], variables: {GIT_FETCH_EXTRA_FLAGS: --filter blob:none}}
bare: {script: [test ! -e .svc-ci.yml], variables: {GIT_STRATEGY: empty}}
`,
    })
    const pipeline = await run(place)
    await becomes(place, pipeline, 'success')
    const jobs = await jobsOf(place, pipeline)
    expect(jobs.fails).toMatchObject({ status: 'failed', failure_reason: 'script_failure' })
    expect(jobs.loses).toMatchObject({ status: 'failed', failure_reason: 'script_failure' })
    expect(jobs.part).toMatchObject({ status: 'success' })
    expect(jobs.bare).toMatchObject({ status: 'success' })
  }, 90_000)

  test('lets its jobs end when it is stopped, and takes no more', async () => {
    const place = await projectWith(
      { '.svc-ci.yml': 'one: {script: [sleep 2, echo whole]}\ntwo: {script: [echo never]}' },
      1,
    )
    const pipeline = await run(place)
    await jobBecomes(place, pipeline, 'one', 'running')
    stop.abort()
    expect(await working).toBe(1)
    const jobs = await jobsOf(place, pipeline)
    expect(jobs.one?.status).toBe('success')
    expect(jobs.two?.status).toBe('pending')
  }, 90_000)

  test('ends its jobs when it is stopped again, and says why', async () => {
    const place = await projectWith({ '.svc-ci.yml': 'one: {script: [sleep 300]}' })
    const pipeline = await run(place)
    await jobBecomes(place, pipeline, 'one', 'running')
    stop.abort()
    kill.abort()
    await working
    expect((await jobsOf(place, pipeline)).one).toMatchObject({
      status: 'failed',
      failure_reason: 'runner_interrupted',
    })
  }, 90_000)

  test('runs nothing outside of a job that an earlier job left in the settings of the checkout', async () => {
    const place = await projectWith({
      '.gitattributes': 'a.txt filter=left\n',
      'a.txt': 'content\n',
      '.svc-ci.yml': `
x:
  script:
    - test ! -e "$CI_BUILDS_DIR/ran"
    - mkdir .git/left && cp -r .git/objects .git/refs .git/config .git/HEAD .git/left/
    - git config --file .git/left/config filter.left.smudge "touch $CI_BUILDS_DIR/ran; cat"
    - echo left > .git/commondir
    - rm a.txt
`,
    })
    await becomes(place, await run(place), 'success')
    await becomes(place, await run(place), 'success')
  }, 90_000)

  test('fetches large files from the server of the job, whatever the commit says', async () => {
    const asked: string[] = []
    const other = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/info/lfs`
    const content = Buffer.from('a large file')
    const oid = createHash('sha256').update(content).digest('hex')
    const stored = `.git/lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`
    const place = await projectWith({
      '.lfsconfig': `[lfs]
  url = ${elsewhere}
  pushurl = ${elsewhere}
[remote "origin"]
  lfsurl = ${elsewhere}
`,
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'a.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`,
      '.svc-ci.yml': `x: {script: [grep -q large ${stored}]}`,
    })
    const object = { oid, size: content.length }
    await storeLfsObject(world.ctx, place.project, object, Readable.from([content]))
    const pipeline = await run(place)
    await becomes(place, pipeline, 'success')
    expect(asked).toEqual([])
  }, 90_000)

  test('merges a merge request by itself when its pipeline succeeds', async () => {
    const place = await projectWith({
      '.svc-ci.yml': 'x: {script: [sleep 1, make --version || true]}',
    })
    await ana.post(`${place.path}/repository/commits`, {
      branch: 'own-change',
      start_branch: 'main',
      commit_message: 'Change',
      actions: [{ action: 'create', file_path: 'new.txt', content: 'x' }],
    })
    const request = await ana.post(`${place.path}/merge_requests`, {
      source_branch: 'own-change',
      target_branch: 'main',
      title: 'Take it',
    })
    await world.runTasks()
    const merge = await ana.put(`${place.path}/merge_requests/${request.body.iid}/merge`, {
      merge_when_pipeline_succeeds: true,
    })
    expect(merge.status, JSON.stringify(merge.body)).toBe(200)
    await vi.waitFor(async () => {
      await world.runTasks()
      const { body } = await ana.get(`${place.path}/merge_requests/${request.body.iid}`)
      expect(body.state).toBe('merged')
    }, polling)
  }, 90_000)
})
