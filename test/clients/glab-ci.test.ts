import { once } from 'node:events'
import archiver from 'archiver'
import { beforeAll, expect, test } from 'vitest'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner, type TestRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let runner: TestRunner

const config = `
build: {stage: build, script: make, artifacts: {paths: [out]}}
child: {stage: test, trigger: {include: child.yml}}
ship: {stage: deploy, script: ship, when: manual}
`

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'printed' })
  runner = await addRunner(world, ana, project.id)
  const made = await ana.post(`/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add jobs',
    actions: [
      { action: 'create', file_path: '.gitlab-ci.yml', content: config },
      { action: 'create', file_path: 'child.yml', content: 'inner: {script: y}' },
    ],
  })
  expect(made.status).toBe(201)
  await world.runTasks()
})

/** The program names projects by their encoded path, and asks with the header that stock clients use. */
const at = (path: string) => `/projects/ana%2Fprinted${path}`

async function good(method: string, path: string, body?: unknown) {
  const reply = await ana.call(method, path, body)
  expect(`${method} ${path} ${reply.status < 300}`).toBe(`${method} ${path} true`)
  return reply.body
}

async function zipped(): Promise<Buffer> {
  const zip = archiver('zip')
  const chunks: Buffer[] = []
  zip.on('data', (chunk: Buffer) => chunks.push(chunk))
  zip.append('made', { name: 'out/a' })
  const ended = once(zip, 'end')
  await zip.finalize()
  await ended
  return Buffer.concat(chunks)
}

test('glab ci list, status, view and trace show a pipeline while it runs', async () => {
  const list = await good('GET', at('/pipelines?page=1&per_page=30&order_by=id&sort=desc'))
  const [newest] = list.filter((one: { source: string }) => one.source === 'push')
  expect(newest).toMatchObject({ ref: 'main', source: 'push' })
  expect(newest.web_url).toContain(`/-/pipelines/${newest.id}`)
  const latest = await good('GET', at('/pipelines/latest?ref=main'))
  expect(latest.status).toMatch(/^(pending|running)$/)
  expect(latest.detailed_status.text).toEqual(expect.any(String))
  const commit = await good('GET', at('/repository/commits/main'))
  expect(commit.last_pipeline.sha).toBe(latest.sha)
  const jobs = await good(
    'GET',
    at(`/pipelines/${newest.id}/jobs?include_retried=false&per_page=100`),
  )
  expect(jobs.map((job: { name: string }) => job.name)).toEqual(['ship', 'build'])
  const job = await runner.request()
  if (!job) throw new Error('no job')
  await runner.append(job, 0, 'one\n')
  // It asks every three seconds and skips what it has printed.
  expect((await ana.get(at(`/jobs/${job.id}/trace`))).body).toBe('one\n')
  const query = { artifact_type: 'archive', artifact_format: 'zip' }
  await runner.upload(job, await zipped(), query)
  await runner.append(job, 4, 'two\n')
  expect((await ana.get(at(`/jobs/${job.id}/trace`))).body).toBe('one\ntwo\n')
  expect((await good('GET', at(`/jobs/${job.id}`))).status).toBe('running')
  await runner.finish(job, 'success', 'one\ntwo\n')
  await world.runTasks()
  const bridges = await good('GET', at(`/pipelines/${newest.id}/bridges?per_page=100`))
  expect(bridges[0]).toMatchObject({ name: 'child', downstream_pipeline: { status: 'pending' } })
  const statuses = await good('GET', at(`/repository/commits/${newest.sha}/statuses?all=true`))
  expect(statuses).toContainEqual(expect.objectContaining({ name: 'build', status: 'success' }))
})

test('glab ci play, retry, cancel and delete change it', async () => {
  const list = await good('GET', at('/pipelines?source=push'))
  const { id } = list[0]
  const jobs = await good('GET', at(`/pipelines/${id}/jobs`))
  const named = (name: string) => jobs.find((job: { name: string }) => job.name === name).id
  expect(await good('POST', at(`/jobs/${named('ship')}/play`))).toMatchObject({
    status: 'pending',
  })
  expect(await good('POST', at(`/jobs/${named('ship')}/cancel`))).toMatchObject({
    status: 'canceled',
  })
  const again = await good('POST', at(`/jobs/${named('build')}/retry`))
  expect(again).toMatchObject({ name: 'build', status: 'pending' })
  expect(await good('POST', at(`/pipelines/${id}/cancel`))).toMatchObject({ status: 'canceled' })
})

test('glab ci run, run-trig, get, lint and artifact work on a branch', async () => {
  const variables = [{ key: 'A', value: 'b', variable_type: 'env_var' }]
  const made = await good('POST', at('/pipeline'), { ref: 'main', variables })
  expect(made).toMatchObject({ source: 'api', ref: 'main' })
  const shown = await good('GET', at(`/pipelines/${made.id}/variables`))
  expect(shown).toEqual([{ key: 'A', value: 'b', variable_type: 'env_var', raw: false }])
  const trigger = await good('POST', at('/triggers'), { description: 'from a shell' })
  const form = new URLSearchParams({ token: trigger.token, ref: 'main', 'variables[B]': 'c' })
  const triggered = await world.nobody.post(at('/trigger/pipeline'), undefined, { raw: form })
  expect(triggered.body).toMatchObject({ source: 'trigger' })
  const lint = { content: config, dry_run: true, ref: 'main', include_jobs: true }
  expect(await good('POST', at('/ci/lint'), lint)).toMatchObject({ valid: true, errors: [] })
  const broken = await good('POST', at('/ci/lint'), { ...lint, content: 'x: [' })
  expect(broken.valid).toBe(false)
  await good('POST', at(`/pipelines/${triggered.body.id}/cancel`))
  const job = await runner.request()
  if (!job) throw new Error('no job')
  await runner.upload(job, await zipped(), { artifact_type: 'archive', artifact_format: 'zip' })
  await runner.finish(job, 'success')
  await world.runTasks()
  const [ship] = await good('GET', at(`/pipelines/${made.id}/jobs?scope[]=manual`))
  await good('POST', at(`/jobs/${ship.id}/play`))
  const last = await runner.request()
  if (last) await runner.finish(last, 'success')
  await world.runTasks()
  const archive = await ana.get(at('/jobs/artifacts/main/download?job=build'))
  expect(archive.status).toBe(200)
  expect(archive.headers.get('content-type')).toContain('application/zip')
  expect((await ana.delete(at(`/pipelines/${triggered.body.id}`))).status).toBe(204)
})

// `glab ci` itself asks by REST alone; this is what `glab api graphql` sends.
test('glab api graphql asks for the pipelines that glab ci lists', async () => {
  const query = `query($path: ID!) {
    project(fullPath: $path) { pipelines(ref: "main") { count nodes { ref source status } } }
  }`
  const reply = await fetch(`${world.url}/api/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'PRIVATE-TOKEN': ana.token ?? '',
    },
    body: JSON.stringify({ query, variables: { path: 'ana/printed' } }),
  })
  const listed = await good('GET', at('/pipelines?ref=main&per_page=100'))
  const { data, errors } = (await reply.json()) as {
    data: { project: { pipelines: { count: number; nodes: { source: string }[] } } }
    errors?: unknown
  } // as the query asks
  expect(errors).toBeUndefined()
  expect(data.project.pipelines.count).toBe(listed.length)
  expect(data.project.pipelines.nodes).toContainEqual(
    expect.objectContaining({ ref: 'main', source: 'push' }),
  )
})
