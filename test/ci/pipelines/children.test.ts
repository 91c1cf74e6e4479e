import { once } from 'node:events'
import archiver from 'archiver'
import { expect, test } from 'vitest'
import { bridgeJob } from '../../../src/ci/pipelines/process/task-names.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

type Files = Readonly<Record<string, string>>

/** Commits files as a push does, and lets what follows come to its end. */
async function push(project: TestProject, files: Files, action = 'create') {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action,
    file_path,
    content,
  }))
  const body = { branch: 'main', commit_message: 'Change files', actions }
  const made = await ana.post(`/projects/${project.id}/repository/commits`, body)
  expect(made.status).toBe(201)
  await world.runTasks()
}

interface Pipeline {
  readonly id: number
  readonly source: string
  readonly status: string
}

async function pipelines(project: TestProject): Promise<Pipeline[]> {
  const at = `/projects/${project.id}/pipelines`
  const [own, children] = [await ana.get(at), await ana.get(`${at}?source=parent_pipeline`)]
  return [...own.body, ...children.body].sort((one, other) => one.id - other.id)
}

function statuses(list: readonly Pipeline[]): string[] {
  return list.map((one) => `${one.source} ${one.status}`)
}

async function zipOf(files: Files): Promise<Uint8Array> {
  const zip = archiver('zip')
  const chunks: Buffer[] = []
  zip.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const [name, content] of Object.entries(files)) zip.append(content, { name })
  const ended = once(zip, 'end')
  await zip.finalize()
  await ended
  return Buffer.concat(chunks)
}

const parent = {
  '.gitlab-ci.yml': `
waits: {trigger: {include: child.yml, strategy: depend}}
goes: {trigger: {include: child.yml}}
`,
  'child.yml': 'inner: {script: y}\nnext: {trigger: {include: deep.yml}}',
  'deep.yml': 'deepest: {script: z}',
}

test('canceling a pipeline cancels its children and theirs, waited for or not', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'canceled' })
  await push(project, parent)
  const before = await pipelines(project)
  expect(before.map((one) => one.source)).toEqual(['push', ...Array(4).fill('parent_pipeline')])
  const [first] = before
  const reply = await ana.post(`/projects/${project.id}/pipelines/${first?.id}/cancel`)
  expect(reply.status).toBe(200)
  await world.runTasks()
  expect(statuses(await pipelines(project))).toEqual([
    'push canceled',
    ...Array(4).fill('parent_pipeline canceled'),
  ])
})

test('canceling a pipeline leaves what it started in another project, also where it waits for it', async () => {
  const other = await addProject(world, ana, 'basic', { path: 'other' })
  const upstream = await addProject(world, ana, 'basic', { path: 'upstream' })
  await push(other, {
    '.gitlab-ci.yml': 'x: {script: y, rules: [{if: $CI_PIPELINE_SOURCE == "pipeline"}]}',
  })
  await push(upstream, {
    '.gitlab-ci.yml': 'waits: {trigger: {project: ana/other, strategy: depend}}',
  })
  const [first] = await pipelines(upstream)
  expect(statuses(await pipelines(other))).toEqual(['pipeline pending'])
  await ana.post(`/projects/${upstream.id}/pipelines/${first?.id}/cancel`)
  await world.runTasks()
  expect(statuses(await pipelines(upstream))).toEqual(['push canceled'])
  expect(statuses(await pipelines(other))).toEqual(['pipeline pending'])
})

test('a bridge whose server died when its child was made waits for that one, and makes no other', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'cut-off' })
  await push(project, {
    '.gitlab-ci.yml': 'waits: {trigger: {include: child.yml, strategy: depend}}',
    'child.yml': 'inner: {script: y}',
  })
  const { db, work } = world.ctx
  const [first, child] = await pipelines(project)
  const bridge = await db
    .updateTable('ci_jobs')
    .set({ status: 'pending' })
    .where('pipeline_id', '=', first?.id ?? 0)
    .returning('id')
    .executeTakeFirstOrThrow()
  await ana.post(`/projects/${project.id}/pipelines/${child?.id}/cancel`)
  await world.runTasks()
  await work.enqueue(db, bridgeJob, { job_id: bridge.id })
  await world.runTasks()
  expect(statuses(await pipelines(project))).toEqual(['push canceled', 'parent_pipeline canceled'])
})

test('a newer commit cancels the children of older pipelines, also when nothing of their parent runs', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'redundant' })
  const only = { ...parent, '.gitlab-ci.yml': 'goes: {trigger: {include: child.yml}}' }
  await push(project, only)
  expect(statuses(await pipelines(project))).toEqual([
    'push success',
    'parent_pipeline running',
    'parent_pipeline pending',
  ])
  await push(project, { 'child.yml': 'inner: {script: new}' }, 'update')
  expect(statuses(await pipelines(project))).toEqual([
    'push success',
    'parent_pipeline canceled',
    'parent_pipeline canceled',
    'push success',
    'parent_pipeline pending',
  ])
})

test('a child of a schedule is not made redundant by a push', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'scheduled' })
  await push(project, { 'child.yml': 'inner: {script: y}' })
  await push(project, { '.gitlab-ci.yml': 'goes: {trigger: {include: child.yml}}' })
  const path = `/projects/${project.id}/pipeline_schedules`
  const { body } = await ana.post(path, { description: 'now', ref: 'main', cron: '0 1 * * *' })
  await ana.post(`${path}/${body.id}/play`)
  await world.runTasks()
  await push(project, { 'a.txt': 'new' })
  expect(statuses(await pipelines(project))).toEqual([
    'push success',
    'parent_pipeline canceled',
    'schedule success',
    'parent_pipeline pending',
    'push success',
    'parent_pipeline pending',
  ])
})

const generating = `
make: {stage: build, script: generate, artifacts: {paths: [out]}}
run: {stage: test, trigger: {include: [{artifact: out/child.yml, job: make}], strategy: depend}}
`

test.each([
  ['that the job left', { 'out/child.yml': 'inner: {script: y}' }, 'running', 'pending'],
  ['that is no configuration', { 'out/child.yml': 'inner: [' }, 'failed', undefined],
  ['that it did not leave', { 'other.yml': 'inner: {script: y}' }, 'failed', undefined],
])('a child runs the file %s', async (what, files, status, child) => {
  const name = what.replaceAll(' ', '-')
  const project = await addProject(world, ana, 'basic', { path: name })
  await push(project, { '.gitlab-ci.yml': generating })
  const runner = await addRunner(world, ana, project.id)
  const job = await runner.request()
  if (!job) throw new Error('no job')
  const query = { artifact_type: 'archive', artifact_format: 'zip' }
  expect((await runner.upload(job, await zipOf(files), query)).status).toBe(201)
  await runner.finish(job, 'success')
  await world.runTasks()
  const [one, two] = await pipelines(project)
  const { body } = await ana.get(`/projects/${project.id}/pipelines/${one?.id}/bridges`)
  expect(body).toMatchObject([{ name: 'run', status }])
  expect(two?.status).toBe(child)
})

test('a configuration that is not for a child includes no artifacts', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'lonely' })
  await push(project, { '.gitlab-ci.yml': 'include: [{artifact: x.yml, job: y}]\nx: {script: y}' })
  const [one] = await pipelines(project)
  const { body } = await ana.get(`/projects/${project.id}/pipelines/${one?.id}`)
  expect(body.yaml_errors).toContain('include:artifact is for the configuration of child pipelines')
})
