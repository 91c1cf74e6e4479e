import { once } from 'node:events'
import archiver from 'archiver'
import { describe, expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type GivenJob, type TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

interface Place {
  readonly project: TestProject
  readonly runner: TestRunner
  readonly path: string
}

async function placeWith(files: Readonly<Record<string, string>>): Promise<Place> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `p${count}` })
  commitFiles(project, { files })
  const path = `/projects/${project.id}`
  return { project, runner: await addRunner(world, ana, project.id), path }
}

async function run({ path }: Place, by = ana, more: object = {}): Promise<number> {
  const reply = await by.post(`${path}/pipeline`, { ref: 'main', ...more })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  await world.runTasks()
  return reply.body.id
}

async function zipOf(content: string): Promise<Uint8Array> {
  const zip = archiver('zip')
  const chunks: Buffer[] = []
  zip.on('data', (chunk: Buffer) => chunks.push(chunk))
  zip.append(content, { name: 'out.txt' })
  const ended = once(zip, 'end')
  await zip.finalize()
  await ended
  return Buffer.concat(chunks)
}

/** Runs the next job of a place to its end; with an archive that holds a text, when given. */
async function finishNext({ runner }: Place, content?: string): Promise<GivenJob> {
  const job = await runner.request()
  if (!job) throw new Error('no job')
  if (content !== undefined) await runner.upload(job, await zipOf(content))
  await runner.finish(job, 'success')
  await world.runTasks()
  return job
}

const builds = { '.svc-ci.yml': 'build: {script: make, artifacts: {paths: [out.txt]}}' }

/** Lets the jobs of one project reach another. */
async function letIn(to: Place, from: Place): Promise<void> {
  const body = { target_project_id: from.project.id }
  expect((await ana.post(`${to.path}/job_token_scope/allowlist`, body)).status).toBe(201)
}

/** As a runner does: with the token of the dependency. */
async function download({ runner }: Place, dependency: { id: number; token: string }) {
  const headers = { 'JOB-TOKEN': dependency.token }
  return await runner.call('GET', `/jobs/${dependency.id}/artifacts`, undefined, headers)
}

describe('a job that needs one of another project', () => {
  test('gets the artifacts of its newest successful pipeline, and of no other job there', async () => {
    const library = await placeWith(builds)
    await run(library)
    const old = await finishNext(library, 'old')
    await run(library)
    const newest = await finishNext(library, 'new')
    const app = await placeWith({
      '.svc-ci.yml': `
variables: {LIBRARY: ${library.project.fullPath}}
use: {script: make, needs: [{project: $LIBRARY, ref: main, job: build, artifacts: true}]}
`,
    })
    await letIn(library, app)
    await run(app)
    const job = await app.runner.request()
    expect(job?.dependencies).toEqual([
      {
        id: newest.id,
        name: 'build',
        token: job?.token,
        artifacts_file: { filename: 'artifacts.zip', size: expect.any(Number) },
      },
    ])
    expect((await download(app, job?.dependencies[0])).status).toBe(200)
    expect((await download(app, { id: old.id, token: job?.token ?? '' })).status).toBe(403)
  })

  test('fails when there are none, unless it can do without', async () => {
    const library = await placeWith(builds)
    const need = `project: ${library.project.fullPath}, ref: main, job: build`
    const app = await placeWith({
      '.svc-ci.yml': `
must: {script: make, needs: [{${need}}]}
may: {script: make, needs: [{${need}, optional: true}]}
none: {script: make, needs: [{${need}, artifacts: false}]}
`,
    })
    const pipeline = await run(app)
    const given = [await app.runner.request(), await app.runner.request()]
    expect(given.map((job) => [job?.job_info.name, job?.dependencies])).toEqual([
      ['may', []],
      ['none', []],
    ])
    const { body } = await ana.get(`${app.path}/pipelines/${pipeline}/jobs?scope=failed`)
    expect(body).toMatchObject([{ name: 'must', failure_reason: 'missing_dependency_failure' }])
  })

  test('fails when its user may not read the pipelines there', async () => {
    const secret = await placeWith(builds)
    await run(secret)
    await finishNext(secret, 'secret')
    const app = await placeWith({
      '.svc-ci.yml': `use: {script: make, needs: [{project: ${secret.project.fullPath}, ref: main, job: build}]}`,
    })
    const dev = await world.user('dev')
    await addMember(world, app.project, dev, 30)
    await letIn(secret, app)
    const pipeline = await run(app, dev)
    expect(await app.runner.request()).toBeUndefined()
    const { body } = await ana.get(`${app.path}/pipelines/${pipeline}/jobs`)
    expect(body[0].failure_reason).toBe('missing_dependency_failure')
  })
})

test('a job gets nothing of a private project that does not let its project in', async () => {
  const library = await placeWith(builds)
  await run(library)
  await finishNext(library, 'kept')
  const app = await placeWith({
    '.svc-ci.yml': `use: {script: make, needs: [{project: ${library.project.fullPath}, ref: main, job: build}]}`,
  })
  const failed = await run(app)
  expect(await app.runner.request()).toBeUndefined()
  const { body } = await ana.get(`${app.path}/pipelines/${failed}/jobs`)
  expect(body[0].failure_reason).toBe('missing_dependency_failure')
  await ana.put(library.path, { visibility: 'public' })
  await run(app)
  expect((await app.runner.request())?.dependencies).toHaveLength(1)
})

test('a job gets what artifacts:access keeps from its user only of jobs beside it', async () => {
  const place = await placeWith({
    '.svc-ci.yml': `
build: {stage: build, script: make, artifacts: {paths: [out.txt], access: maintainer}}
use: {stage: test, script: make}
`,
  })
  const dev = await world.user('kept-out')
  await addMember(world, place.project, dev, 30)
  await run(place)
  const first = await finishNext(place, 'first')
  await finishNext(place)
  await run(place, dev)
  const second = await finishNext(place, 'second')
  const use = await place.runner.request()
  const token = use?.token ?? ''
  expect((await download(place, { id: second.id, token })).status).toBe(200)
  expect((await download(place, { id: first.id, token })).status).toBe(403)
  await run(place)
  await finishNext(place, 'third')
  const own = await place.runner.request()
  expect((await download(place, { id: first.id, token: own?.token ?? '' })).status).toBe(200)
})

test('artifacts that are not public stay so, whatever the runner says', async () => {
  const place = await placeWith({
    '.svc-ci.yml': 'build: {script: make, artifacts: {paths: [out.txt], public: false}}',
  })
  await run(place)
  const job = await place.runner.request()
  if (!job) throw new Error('no job')
  const sent = await place.runner.upload(job, await zipOf('own'), { accessibility: 'public' })
  expect(sent.status).toBe(201)
  await place.runner.finish(job, 'success')
  await ana.put(place.path, { visibility: 'public' })
  const at = `${place.path}/jobs/${job.id}/artifacts/out.txt`
  const stranger = await world.user('passing')
  expect([(await stranger.get(at)).status, (await ana.get(at)).body]).toEqual([403, 'own'])
})

test('artifacts for Developers are theirs in an archived project too', async () => {
  const place = await placeWith({
    '.svc-ci.yml': 'build: {script: make, artifacts: {paths: [out.txt], access: developer}}',
  })
  const dev = await world.user('reading')
  await addMember(world, place.project, dev, 30)
  await run(place)
  const { id } = await finishNext(place, 'old')
  await ana.post(`${place.path}/archive`)
  expect((await dev.get(`${place.path}/jobs/${id}/artifacts/out.txt`)).body).toBe('old')
})

test('a job of a child gets the artifacts of its parent, and of no other pipeline', async () => {
  const place = await placeWith({
    '.svc-ci.yml': `
build: {stage: build, script: make, artifacts: {paths: [out.txt]}}
child: {stage: test, trigger: {include: child.yml}, variables: {PARENT: $CI_PIPELINE_ID}}
`,
    'child.yml': 'use: {script: make, needs: [{pipeline: $PARENT, job: build}]}',
    'stray.yml': 'use: {script: make, needs: [{pipeline: $OTHER, job: build}]}',
  })
  const parent = await run(place)
  const build = await finishNext(place, 'built')
  const used = await place.runner.request()
  expect(used?.dependencies).toMatchObject([{ id: build.id, name: 'build' }])
  expect((await download(place, used?.dependencies[0])).status).toBe(200)

  await ana.put(place.path, { ci_config_path: 'stray.yml' })
  const variables = [{ key: 'OTHER', value: String(parent) }]
  const stray = await run(place, ana, { variables })
  expect(await place.runner.request()).toBeUndefined()
  const { body } = await ana.get(`${place.path}/pipelines/${stray}/jobs`)
  expect(body[0].failure_reason).toBe('missing_dependency_failure')
})

describe('artifacts by the name of a ref', () => {
  const latest = ({ path }: Place, more = '') =>
    ana.get(`${path}/jobs/artifacts/main/raw/out.txt?job=build${more}`)

  test('are those of the newest success, or of the newest that has some when asked for', async () => {
    const place = await placeWith(builds)
    await run(place)
    await finishNext(place, 'first')
    await run(place)
    await finishNext(place)
    expect((await latest(place)).status).toBe(404)
    const recent = await latest(place, '&search_recent_successful_pipelines=true')
    expect([recent.status, recent.body]).toEqual([200, 'first'])
    await run(place)
    const failed = await place.runner.request()
    if (!failed) throw new Error('no job')
    await place.runner.upload(failed, await zipOf('failed'))
    await place.runner.finish(failed, 'failed')
    expect((await latest(place, '&search_recent_successful_pipelines=true')).body).toBe('first')
  })

  test('come from the parent before its children', async () => {
    const place = await placeWith({
      '.svc-ci.yml': `${builds['.svc-ci.yml']}\nchild: {stage: .pre, trigger: {include: child.yml, strategy: depend}}`,
      'child.yml':
        'build: {script: make, artifacts: {paths: [out.txt]}}\ninner: {script: make, artifacts: {paths: [out.txt]}}',
    })
    await run(place)
    for (const content of ['child', 'inner', 'parent']) await finishNext(place, content)
    expect((await latest(place)).body).toBe('parent')
    const inner = await ana.get(`${place.path}/jobs/artifacts/main/raw/out.txt?job=inner`)
    expect(inner.body).toBe('inner')
  })
})
