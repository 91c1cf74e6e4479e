import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type GivenJob, type TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let runner: TestRunner
let path: string

const config = `
build: {stage: build, script: make, artifacts: {paths: [out]}}
test: {stage: test, script: make}
ship: {stage: deploy, script: make, when: manual}
`

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'jobs', visibility: 'public' })
  await addMember(world, project, dev, 30)
  await addMember(world, project, rep, 20)
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  runner = await addRunner(world, ana, project.id)
  path = `/projects/${project.id}`
})

async function run(by = dev): Promise<number> {
  const reply = await by.post(`${path}/pipeline`, { ref: 'main' })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

async function next(): Promise<GivenJob> {
  const job = await runner.request()
  if (!job) throw new Error('no job')
  return job
}

interface Listed {
  readonly id: number
  readonly name: string
  readonly status: string
}

async function jobNamed(pipeline: number, name: string): Promise<Listed> {
  const { body } = await dev.get(`${path}/pipelines/${pipeline}/jobs`)
  const found = (body as Listed[]).find((job) => job.name === name)
  if (!found) throw new Error(`no job ${name}`)
  return found
}

test('jobs of a project are listed by status, newest first, in pages', async () => {
  const one = await run()
  const job = await next()
  await runner.finish(job, 'failed')
  const two = await run()
  await dev.post(`${path}/pipelines/${two}/cancel`)
  const list = async (query: string) => {
    const reply = await rep.get(`${path}/jobs?${query}`)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return reply
  }
  const names = async (query: string) =>
    ((await list(query)).body as Listed[]).map((each) => `${each.name} ${each.status}`)
  const all = ['ship canceled', 'test canceled', 'build canceled', 'ship skipped', 'test skipped']
  expect(await names('')).toEqual([...all, 'build failed'])
  expect(await names('scope=failed')).toEqual(['build failed'])
  expect(await names('scope[]=failed&scope[]=skipped')).toEqual([...all.slice(3), 'build failed'])
  expect(await names('scope=running')).toEqual([])
  expect(await names('scope=waiting_for_callback')).toEqual([])
  expect(await names('per_page=2&page=2')).toEqual(all.slice(2, 4))
  // Nothing is counted, but clients that follow pages have to come to the last one.
  const seen: string[] = []
  for (let page: string | null = '1'; page; ) {
    const reply = await list(`per_page=3&page=${page}`)
    seen.push(...(reply.body as Listed[]).map((each) => `${each.name} ${each.status}`))
    page = reply.headers.get('x-next-page')
    expect(reply.headers.get('link')?.includes('rel="next"')).toBe(page !== '')
    expect(reply.headers.has('x-total')).toBe(false)
  }
  expect(seen).toEqual([...all, 'build failed'])
  const first = await list('pagination=keyset&order_by=id&sort=desc&per_page=4')
  expect(first.headers.has('x-total')).toBe(false)
  const [, more = ''] =
    /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? []
  const second = await rep.get(more)
  expect(second.body.map((each: Listed) => each.name)).toEqual(['test', 'build'])
  expect((await rep.get(`${path}/jobs?scope=ended`)).body).toEqual({
    error: 'scope does not have a valid value',
  })
  // A public project shows its pipelines to everybody, but its jobs to those who sign in.
  expect((await world.nobody.get(`${path}/jobs`)).status).toBe(401)
  expect((await world.nobody.get(`${path}/pipelines/${one}/jobs`)).status).toBe(200)
  const failed = await rep.get(`${path}/jobs/${job.id}`)
  expect(failed.body).toMatchObject({
    status: 'failed',
    failure_reason: 'script_failure',
    stage: 'build',
    tag: false,
    archived: false,
    allow_failure: false,
    pipeline: { id: one, project_id: project.id, ref: 'main', status: 'failed' },
    project: { ci_job_token_scope_enabled: expect.any(Boolean) },
  })
  const canceled = await jobNamed(two, 'build')
  expect(canceled).not.toHaveProperty('failure_reason')
})

describe('a job', () => {
  test('is retried, and the one before is hidden unless somebody asks for it', async () => {
    const pipeline = await run()
    const job = await next()
    await runner.finish(job, 'failed')
    const at = `${path}/jobs/${job.id}`
    expect((await rep.post(`${at}/retry`)).status).toBe(403)
    const again = await dev.post(`${at}/retry`)
    expect([again.status, again.body.status]).toEqual([201, 'pending'])
    const ids = async (query: string) =>
      ((await dev.get(`${path}/pipelines/${pipeline}/jobs?${query}`)).body as Listed[])
        .filter((one) => one.name === 'build')
        .map((one) => one.id)
    expect(await ids('')).toEqual([again.body.id])
    expect((await ids('include_retried=true')).sort()).toEqual([job.id, again.body.id].sort())
    expect((await dev.get(at)).status).toBe(200)
    await dev.post(`${path}/pipelines/${pipeline}/cancel`)
  })

  test('that runs is canceled when its runner has cleaned up, or at once by force', async () => {
    for (const force of [false, true]) {
      const pipeline = await run()
      const job = await next()
      const at = `${path}/jobs/${job.id}`
      expect((await rep.post(`${at}/cancel`)).status).toBe(403)
      const canceling = await dev.post(`${at}/cancel`)
      expect([canceling.status, canceling.body.status]).toEqual([201, 'canceling'])
      // Developers may not force it.
      expect((await dev.post(`${at}/cancel`, { force: true })).body.status).toBe('canceling')
      if (force) {
        expect((await ana.post(`${at}/cancel`, { force: true })).body.status).toBe('canceled')
        expect((await runner.update(job, 'success')).status).toBe(403)
      } else {
        await runner.finish(job, 'success')
        expect((await dev.get(at)).body.status).toBe('canceled')
      }
      expect((await dev.post(`${at}/cancel`)).body.status).toBe('canceled')
      await dev.post(`${path}/pipelines/${pipeline}/cancel`)
    }
  })

  test('that waits for somebody is played with variables of that run', async () => {
    const pipeline = await run()
    for (const _ of ['build', 'test']) await runner.finish(await next(), 'success')
    const ship = await jobNamed(pipeline, 'ship')
    expect(ship.status).toBe('manual')
    const at = `${path}/jobs/${ship.id}`
    expect((await rep.post(`${at}/play`)).status).toBe(403)
    const bad = await dev.post(`${at}/play`, {
      job_variables_attributes: [{ key: 'a b', value: 'x' }],
    })
    expect([bad.status, bad.body]).toEqual([400, { error: 'job_variables_attributes is invalid' }])
    const variables = [{ key: 'WHERE', value: 'north' }]
    const role = (ci_pipeline_variables_minimum_override_role: string) =>
      ana.put(path, { ci_pipeline_variables_minimum_override_role })
    await role('maintainer')
    const refused = await dev.post(`${at}/play`, { job_variables_attributes: variables })
    expect(refused.status).toBe(403)
    await role('developer')
    const played = await dev.post(`${at}/play`, { job_variables_attributes: variables })
    expect([played.status, played.body.status]).toEqual([200, 'pending'])
    const job = await next()
    const sent = job.variables as { key: string; value: string }[]
    expect(sent.find((one) => one.key === 'WHERE')?.value).toBe('north')
    expect(sent.find((one) => one.key === 'CI_JOB_MANUAL')?.value).toBe('true')
    await runner.finish(job, 'success')
    expect((await dev.get(`${path}/pipelines/${pipeline}`)).body.status).toBe('success')
    expect((await dev.post(`${at}/play`)).body).toEqual({
      message: '400 Bad request - Unplayable Job',
    })
  })

  test('keeps its artifacts for good on request, and loses them when it is erased', async () => {
    const pipeline = await run()
    const job = await next()
    await runner.upload(job, new TextEncoder().encode('archive'), { expire_in: '1 day' })
    const at = `${path}/jobs/${job.id}`
    expect((await dev.post(`${at}/erase`)).body).toEqual({
      message: '403 Forbidden - Job is not erasable!',
    })
    await runner.finish(job, 'success', 'said\n')
    const ended = (await dev.get(at)).body
    expect(ended).toMatchObject({
      artifacts_expire_at: '2026-05-05T10:00:00.000Z',
      artifacts_file: { filename: 'artifacts.zip', size: 7 },
    })
    expect(ended.artifacts.map((one: { file_type: string }) => one.file_type)).toContain('archive')
    expect((await rep.post(`${at}/artifacts/keep`)).status).toBe(403)
    const kept = await dev.post(`${at}/artifacts/keep`)
    expect([kept.status, kept.body.artifacts_expire_at]).toEqual([200, null])
    expect((await world.nobody.get(`${at}/artifacts`)).status).toBe(200)
    expect((await dev.delete(`${at}/artifacts`)).status).toBe(403)
    const erased = await dev.post(`${at}/erase`)
    expect(erased.status).toBe(201)
    expect(erased.body).toMatchObject({ erased_at: world.ctx.now(), artifacts_expire_at: null })
    expect(erased.body).not.toHaveProperty('artifacts_file')
    expect((await dev.get(`${at}/trace`)).body).toBe('')
    expect((await dev.get(`${at}/artifacts`)).status).toBe(404)
    expect((await dev.post(`${at}/artifacts/keep`)).status).toBe(404)
    expect((await dev.post(`${at}/erase`)).status).toBe(403)
    await dev.post(`${path}/pipelines/${pipeline}/cancel`)
  })

  test('reads the agents that it may use, and its project and groups', async () => {
    const group = await createGroup(ana, 'top')
    const sub = await createGroup(ana, 'sub', { parent_id: group.id })
    const inside = await addProject(world, ana, 'basic', { path: 'inside' })
    await ana.put(`/projects/${inside.id}/transfer`, { namespace: sub.id })
    commitFiles(inside, {
      files: { '.svc-ci.yml': 'x: {script: make, environment: staging}' },
    })
    const own = await addRunner(world, ana, inside.id)
    await ana.post(`/projects/${inside.id}/pipeline`, { ref: 'main' })
    const job = await own.request()
    const asked = await world.withHeader('JOB-TOKEN', job?.token ?? '').get('/job/allowed_agents')
    expect(asked.body).toMatchObject({
      allowed_agents: [],
      job: { id: job?.id },
      project: { id: inside.id, groups: [{ id: sub.id }, { id: group.id }] },
      environment: { tier: 'staging', slug: 'staging' },
      user: { username: 'ana' },
    })
    if (job) await own.finish(job, 'success')
    await run()
    const plain = await next()
    const at = world.withHeader('JOB-TOKEN', plain.token)
    const { body } = await at.get('/job/allowed_agents')
    expect(body.project.groups).toEqual([])
    expect(body).not.toHaveProperty('environment')
    expect((await dev.get('/job')).body).toEqual({ message: '404 Job Not Found' })
    await runner.finish(plain, 'success')
    expect((await at.get('/job')).status).toBe(401)
  })
})
