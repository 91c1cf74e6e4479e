import { beforeAll, describe, expect, test } from 'vitest'
import { commitFiles } from '../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { addRunner, type TestRunner } from '../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let dev: Caller
let count = 0

beforeAll(async () => {
  await world.root.put(`/users/${ana.id}`, { name: 'Ana Bell' })
  dev = await world.user('dev')
})

interface Place {
  readonly project: TestProject
  readonly path: string
  readonly runner: TestRunner
}

async function projectWith(yaml: string): Promise<Place> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `deploy${count}` })
  await addMember(world, project, dev, 30)
  commitFiles(project, { files: { '.svc-ci.yml': yaml } })
  const runner = await addRunner(world, ana, project.id)
  return { project, path: `/projects/${project.id}`, runner }
}

async function run(place: Place, by = dev): Promise<number> {
  const { body } = await by.post(`${place.path}/pipeline`, { ref: 'main' })
  return body.id
}

async function jobNamed(place: Place, name: string, pipeline: number) {
  const { body } = await ana.get(`${place.path}/pipelines/${pipeline}/jobs`)
  return (body as { name: string; id: number; status: string }[]).find((job) => job.name === name)
}

async function environmentNamed(place: Place, name: string) {
  const { body } = await ana.get(`${place.path}/environments?name=${encodeURIComponent(name)}`)
  return body[0]
}

const ship = `
ship:
  script: make
  environment: {name: review/$CI_COMMIT_REF_NAME, url: "https://$CI_ENVIRONMENT_SLUG.example.com", on_stop: end, auto_stop_in: 2 days}
end:
  script: rm
  when: manual
  environment: {name: review/$CI_COMMIT_REF_NAME, action: stop}
`

describe('a job with an environment', () => {
  test('makes it, deploys to it, and stops it by its stop job', async () => {
    const place = await projectWith(ship)
    const pipeline = await run(place)
    const job = await place.runner.request()
    if (!job) throw new Error('no job')
    const sent = new Map(
      job.variables.map((one: { key: string; value: string }) => [one.key, one.value]),
    )
    const before = await environmentNamed(place, 'review/main')
    expect(sent.get('CI_ENVIRONMENT_SLUG')).toBe(before.slug)
    expect(before).toMatchObject({ state: 'available', tier: 'development' })
    expect((await ana.get(`${place.path}/deployments`)).body).toMatchObject([
      { status: 'running', ref: 'main', environment: { id: before.id } },
    ])
    await place.runner.finish(job, 'success')
    const one = await ana.get(`${place.path}/environments/${before.id}`)
    expect(one.body).toMatchObject({
      external_url: `https://${before.slug}.example.com`,
      auto_stop_at: '2026-05-06T10:00:00.000Z',
      last_deployment: { status: 'success', deployable: { name: 'ship' } },
    })
    const { body: project } = await ana.get(place.path)
    expect(one.body.project.name_with_namespace).toBe(project.name_with_namespace)
    expect(project.name_with_namespace).toBe(`Ana Bell / ${project.name}`)
    expect((await dev.delete(`${place.path}/environments/${before.id}`)).status).toBe(403)
    const stopping = await dev.post(`${place.path}/environments/${before.id}/stop`)
    expect(stopping.body.state).toBe('stopping')
    expect((await jobNamed(place, 'end', pipeline))?.status).toBe('pending')
    const end = await place.runner.request()
    if (!end) throw new Error('no job')
    await place.runner.finish(end, 'success')
    expect((await environmentNamed(place, 'review/main')).state).toBe('stopped')
    expect((await dev.delete(`${place.path}/environments/${before.id}`)).status).toBe(204)
  })

  test('is stopped when its time is over', async () => {
    const place = await projectWith(ship)
    const pipeline = await run(place)
    const job = await place.runner.request()
    if (job) await place.runner.finish(job, 'success')
    world.setNow('2026-05-06T10:01:00.000Z')
    await world.runTasks()
    expect((await jobNamed(place, 'end', pipeline))?.status).toBe('pending')
    expect((await environmentNamed(place, 'review/main')).state).toBe('stopping')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('of an older pipeline does not overwrite what a newer one deployed', async () => {
    const place = await projectWith('ship: {script: make, environment: production}')
    const older = await run(place)
    const newer = await run(place)
    const cancel = await jobNamed(place, 'ship', older)
    await dev.post(`${place.path}/jobs/${cancel?.id}/cancel`)
    const job = await place.runner.request()
    if (job) await place.runner.finish(job, 'success')
    expect((await jobNamed(place, 'ship', newer))?.status).toBe('success')
    await ana.put(place.path, { ci_forward_deployment_rollback_allowed: false })
    const again = await dev.post(`${place.path}/jobs/${cancel?.id}/retry`)
    expect(await place.runner.request()).toBeUndefined()
    const refused = await ana.get(`${place.path}/jobs/${again.body.id}`)
    expect(refused.body).toMatchObject({
      status: 'failed',
      failure_reason: 'failed_outdated_deployment_job',
    })
    await ana.put(place.path, { ci_forward_deployment_rollback_allowed: true })
    await dev.post(`${place.path}/jobs/${again.body.id}/retry`)
    expect(await place.runner.request()).toBeDefined()
  })
})

describe('a protected environment', () => {
  const yaml = 'ship: {script: make, environment: production}'

  test('takes deployments of those alone whom its protection names', async () => {
    const place = await projectWith(yaml)
    await ana.post(`${place.path}/protected_environments`, {
      name: 'production',
      deploy_access_levels: [{ access_level: 40 }],
    })
    const pipeline = await run(place)
    expect(await place.runner.request()).toBeUndefined()
    const job = await jobNamed(place, 'ship', pipeline)
    expect((await ana.get(`${place.path}/jobs/${job?.id}`)).body).toMatchObject({
      failure_reason: 'protected_environment_failure',
    })
    const noted = { environment: 'production', ref: 'main', tag: false, status: 'success' }
    const sha = place.project.git('rev-parse', 'main')
    expect((await dev.post(`${place.path}/deployments`, { ...noted, sha })).status).toBe(403)
    await run(place, ana)
    expect(await place.runner.request()).toBeDefined()
  })

  test('waits for approvals of others than who started the job', async () => {
    const place = await projectWith(yaml)
    const kim = await world.user(`kim${count}`)
    await addMember(world, place.project, kim, 40)
    await ana.post(`${place.path}/protected_environments`, {
      name: 'production',
      deploy_access_levels: [{ access_level: 30 }],
      approval_rules: [{ access_level: 40, required_approvals: 1 }],
    })
    const pipeline = await run(place, ana)
    expect((await jobNamed(place, 'ship', pipeline))?.status).toBe('manual')
    const [deployment] = (await ana.get(`${place.path}/deployments`)).body
    expect(deployment.status).toBe('blocked')
    const approval = `${place.path}/deployments/${deployment.id}/approval`
    expect((await dev.post(approval, { status: 'approved' })).status).toBe(403)
    expect((await ana.post(approval, { status: 'approved' })).status).toBe(400)
    const job = await jobNamed(place, 'ship', pipeline)
    await ana.post(`${place.path}/jobs/${job?.id}/play`)
    expect((await jobNamed(place, 'ship', pipeline))?.status).toBe('manual')
    const given = await kim.post(approval, { status: 'approved', comment: 'go' })
    expect(given.body).toMatchObject({ status: 'approved', user: { username: kim.username } })
    expect((await jobNamed(place, 'ship', pipeline))?.status).toBe('pending')
    const shown = await ana.get(`${place.path}/deployments/${deployment.id}`)
    expect(shown.body).toMatchObject({ pending_approval_count: 0, approvals: [{ comment: 'go' }] })
  })

  test('takes no approval of somebody named who has left the project', async () => {
    const place = await projectWith(yaml)
    await ana.put(place.path, { visibility: 'public' })
    const kim = await world.user(`kim${count}`)
    await addMember(world, place.project, kim, 40)
    await ana.post(`${place.path}/protected_environments`, {
      name: 'production',
      deploy_access_levels: [{ access_level: 30 }],
      approval_rules: [{ user_id: kim.id, required_approvals: 1 }],
    })
    await run(place)
    const [deployment] = (await ana.get(`${place.path}/deployments`)).body
    const approval = `${place.path}/deployments/${deployment.id}/approval`
    expect((await ana.delete(`${place.path}/members/${kim.id}`)).status).toBe(204)
    expect((await kim.post(approval, { status: 'approved' })).status).toBe(403)
    await ana.post(`${place.path}/members`, { user_id: kim.id, access_level: 20 })
    expect((await kim.post(approval, { status: 'approved' })).status).toBe(200)
  })

  test('ends a job whose deployment was rejected', async () => {
    const place = await projectWith(yaml)
    const kim = await world.user(`kim${count}`)
    await addMember(world, place.project, kim, 40)
    await ana.post(`${place.path}/protected_environments`, {
      name: 'production',
      deploy_access_levels: [{ access_level: 30 }],
      approval_rules: [{ user_id: kim.id, required_approvals: 1 }],
    })
    const pipeline = await run(place)
    const [deployment] = (await ana.get(`${place.path}/deployments`)).body
    await kim.post(`${place.path}/deployments/${deployment.id}/approval`, { status: 'rejected' })
    const job = await jobNamed(place, 'ship', pipeline)
    expect((await ana.get(`${place.path}/jobs/${job?.id}`)).body.failure_reason).toBe(
      'deployment_rejected',
    )
  })
})

describe('an environment that is stopped by a job of a protected branch', () => {
  const protectMain = (place: Place) =>
    ana.post(`${place.path}/protected_branches`, {
      name: 'main',
      push_access_level: 40,
      merge_access_level: 40,
    })

  async function shipped(): Promise<Place & { readonly at: string; readonly pipeline: number }> {
    const place = await projectWith(ship)
    const pipeline = await run(place, ana)
    const job = await place.runner.request()
    if (!job) throw new Error('no job')
    await place.runner.finish(job, 'success')
    await protectMain(place)
    const { id } = await environmentNamed(place, 'review/main')
    return { ...place, pipeline, at: `${place.path}/environments/${id}` }
  }

  test('is stopped so by those alone who may run jobs there', async () => {
    const place = await shipped()
    expect((await dev.post(`${place.at}/stop`)).status).toBe(403)
    const lately = { before: '2026-05-01T00:00:00Z' }
    const long = '2026-04-01T00:00:00.000Z'
    for (const table of ['environments', 'deployments'] as const) {
      await world.ctx.db
        .updateTable(table)
        .set({ updated_at: long })
        .where('project_id', '=', place.project.id)
        .execute()
    }
    world.setNow('2026-05-10T10:00:00.000Z')
    expect((await dev.post(`${place.path}/environments/stop_stale`, lately)).status).toBe(200)
    expect((await jobNamed(place, 'end', place.pipeline))?.status).toBe('manual')
    expect((await ana.post(`${place.path}/environments/stop_stale`, lately)).status).toBe(200)
    expect((await jobNamed(place, 'end', place.pipeline))?.status).toBe('pending')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('counts as stopped when somebody says so by force, and no job runs', async () => {
    const place = await shipped()
    expect((await dev.post(`${place.at}/stop`, { force: true })).body.state).toBe('stopped')
    expect((await jobNamed(place, 'end', place.pipeline))?.status).toBe('manual')
  })
})

describe('deployments by other means', () => {
  test('are noted, changed and deleted', async () => {
    const place = await projectWith('x: {script: make}')
    const sha = place.project.git('rev-parse', 'main')
    const body = { environment: 'staging', sha, ref: 'main', tag: false, status: 'running' }
    const made = await dev.post(`${place.path}/deployments`, body)
    expect(made.body).toMatchObject({ iid: 1, status: 'running', deployable: null })
    const one = `${place.path}/deployments/${made.body.id}`
    expect((await dev.delete(one)).status).toBe(400)
    expect((await dev.put(one, { status: 'success' })).body.status).toBe('success')
    expect((await dev.put(one, { status: 'failed' })).status).toBe(400)
    expect((await dev.get(`${one}/merge_requests`)).body).toEqual([])
    expect(
      (await dev.post(`${place.path}/deployments`, { ...body, sha: 'f'.repeat(40) })).status,
    ).toBe(400)
  })

  test('freeze periods set a variable that rules see', async () => {
    const place = await projectWith(
      'ship: {script: make, rules: [{if: $CI_DEPLOY_FREEZE, when: never}, {when: on_success}]}\nx: {script: make}',
    )
    const made = await ana.post(`${place.path}/freeze_periods`, {
      freeze_start: '0 9 4 * *',
      freeze_end: '0 12 4 * *',
    })
    expect(made.body).toMatchObject({ cron_timezone: 'UTC' })
    const frozen = await run(place)
    expect(await jobNamed(place, 'ship', frozen)).toBeUndefined()
    await ana.delete(`${place.path}/freeze_periods/${made.body.id}`)
    expect(await jobNamed(place, 'ship', await run(place))).toBeDefined()
    const bad = await ana.post(`${place.path}/freeze_periods`, {
      freeze_start: 'x',
      freeze_end: 'y',
    })
    expect(bad.status).toBe(400)
  })
})

describe('a resource group', () => {
  const yaml = 'ship: {script: make, resource_group: live}'
  test.each([
    ['unordered', 1],
    ['oldest_first', 1],
    ['newest_first', 2],
  ])('in mode %s lets job number %i go next', async (mode, next) => {
    const place = await projectWith(yaml)
    const pipelines = [await run(place), await run(place), await run(place)]
    const set = await dev.put(`${place.path}/resource_groups/live`, { process_mode: mode })
    expect(set.body).toMatchObject({ key: 'live', process_mode: mode })
    expect((await dev.get(`${place.path}/resource_groups/live`)).body).toEqual(set.body)
    expect((await dev.get(`${place.path}/resource_groups/live/upcoming_jobs`)).body.length).toBe(2)
    const job = await place.runner.request()
    if (job) await place.runner.finish(job, 'success')
    const states = await Promise.all(pipelines.map((id) => jobNamed(place, 'ship', id)))
    expect(states.findIndex((one) => one?.status === 'pending')).toBe(next)
  })
})
