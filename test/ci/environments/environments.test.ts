import { beforeAll, describe, expect, test } from 'vitest'
import { stopDueEnvironments } from '../../../src/ci/deployments/tasks.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let path: string
let sha: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'places' })
  await addMember(world, project, dev, 30)
  await addMember(world, project, rep, 20)
  path = `/projects/${project.id}`
  sha = project.git('rev-parse', 'main')
})

async function names(query: string): Promise<string[]> {
  const { body } = await dev.get(`${path}/environments?${query}`)
  return (body as { name: string }[]).map((one) => one.name)
}

async function environment(name: string, more: object = {}): Promise<string> {
  const made = await dev.post(`${path}/environments`, { name, ...more })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return `${path}/environments/${made.body.id}`
}

async function forget(one: string): Promise<void> {
  await dev.post(`${one}/stop`, { force: true })
  expect((await dev.delete(one)).status).toBe(204)
}

describe('an environment', () => {
  test('is changed attribute by attribute, but never renamed', async () => {
    const one = await environment('Kundenschulung 2', { description: 'for courses' })
    const first = (await dev.get(one)).body
    expect(first).toMatchObject({
      name: 'Kundenschulung 2',
      slug: expect.stringMatching(/^[a-z][a-z0-9-]{0,23}$/),
      description: 'for courses',
      external_url: null,
      tier: 'other',
      state: 'available',
      auto_stop_at: null,
      auto_stop_setting: 'always',
      last_deployment: null,
    })
    const changes = [
      { external_url: 'https://courses.example.com' },
      { tier: 'testing' },
      { description: 'for all courses' },
      { auto_stop_setting: 'with_action' },
      { external_url: null },
      { description: null },
    ]
    let expected = first
    for (const change of changes) {
      expected = { ...expected, ...change }
      expect((await dev.put(one, change)).status).toBe(200)
      expect((await dev.get(one)).body).toEqual(expected)
    }
    expect((await dev.put(one, { name: 'Other' })).status).toBe(400)
    expect((await dev.put(one, { tier: 'live' })).body).toEqual({
      error: 'tier does not have a valid value',
    })
    const script = await dev.put(one, { external_url: 'javascript:alert(1)' })
    expect(script.body).toEqual({
      message: { external_url: ['is blocked: Only allowed schemes are http, https'] },
    })
    expect((await rep.put(one, { tier: 'other' })).status).toBe(403)
    expect((await dev.delete(one)).status).toBe(403)
    expect((await dev.post(`${one}/stop`)).body.state).toBe('stopped')
    expect((await rep.delete(one)).status).toBe(403)
    expect((await dev.delete(one)).status).toBe(204)
    expect((await dev.get(one)).body).toEqual({ message: '404 Environment Not Found' })
  })

  test.each([
    ['production', 'production'],
    ['prod-eu', 'production'],
    ['staging', 'staging'],
    ['qa', 'testing'],
    ['review/feature-1', 'development'],
    ['elsewhere', 'other'],
  ])('called %s is of the tier %s', async (name, tier) => {
    const one = await environment(name)
    expect((await dev.get(one)).body.tier).toBe(tier)
    await forget(one)
  })

  test('is refused twice, with a name of other letters, and to those who only report', async () => {
    const one = await environment('twice')
    const again = await dev.post(`${path}/environments`, { name: 'twice' })
    expect([again.status, again.body]).toEqual([
      400,
      { message: { name: ['has already been taken'] } },
    ])
    for (const name of ['a?b', '/a', 'a/']) {
      const { status, body } = await dev.post(`${path}/environments`, { name })
      expect(status).toBe(400)
      expect(body.message.name[0]).toContain('can contain only letters')
    }
    expect((await rep.post(`${path}/environments`, { name: 'mine' })).status).toBe(403)
    expect((await rep.get(one)).status).toBe(200)
    await forget(one)
  })

  test('is found by its name, by a part of it, and by its state', async () => {
    const made = [
      await environment('alpha'),
      await environment('beta'),
      await environment('Alphabet'),
    ]
    await dev.post(`${made[1]}/stop`)
    expect(await names('name=alpha')).toEqual(['alpha'])
    expect((await names('search=LPHA')).sort()).toEqual(['Alphabet', 'alpha'])
    expect(await names('states=stopped')).toEqual(['beta'])
    expect((await names('states=available')).sort()).toEqual(['Alphabet', 'alpha'])
    expect((await names('per_page=2')).length).toBe(2)
    expect((await dev.get(`${path}/environments?search=al`)).status).toBe(400)
    expect((await dev.get(`${path}/environments?name=a&search=abc`)).body).toEqual({
      error: 'name, search are mutually exclusive',
    })
    for (const one of made) await forget(one)
  })

  test('that nothing was deployed to lately is stopped with the others like it', async () => {
    const old = await environment('old')
    world.setNow('2026-05-14T10:00:00.000Z')
    const fresh = await environment('fresh')
    const stop = (before: string) => dev.post(`${path}/environments/stop_stale`, { before })
    expect((await stop('2026-05-12T00:00:00Z')).status).toBe(400)
    expect((await stop('2026-05-06T00:00:00Z')).status).toBe(200)
    expect((await dev.get(old)).body.state).toBe('stopped')
    expect((await dev.get(fresh)).body.state).toBe('available')
    world.setNow('2026-05-04T10:00:00.000Z')
    for (const one of [old, fresh]) await forget(one)
  })
})

describe('a deployment that is noted', () => {
  async function deploy(more: object = {}) {
    return await dev.post(`${path}/deployments`, {
      environment: 'live',
      sha,
      ref: 'main',
      tag: false,
      status: 'success',
      ...more,
    })
  }

  test('must be of a commit and of a branch or tag that are there', async () => {
    const wrong = [
      [{ sha: '1'.repeat(40) }, '400 Bad request - The sha does not exist'],
      [{ ref: 'nowhere' }, '400 Bad request - The branch or tag does not exist'],
      [{ tag: true }, '400 Bad request - The branch or tag does not exist'],
    ] as const
    for (const [more, message] of wrong) {
      const { status, body } = await deploy(more)
      expect([status, body]).toEqual([400, { message }])
    }
    expect((await dev.get(`${path}/environments?name=live`)).body).toEqual([])
  })

  test('makes its environment, and starts it again when it was stopped', async () => {
    const first = await deploy()
    expect(first.body).toMatchObject({
      iid: expect.any(Number),
      sha,
      ref: 'main',
      status: 'success',
      user: { username: 'dev' },
      environment: { name: 'live' },
      deployable: null,
    })
    const one = `${path}/environments/${first.body.environment.id}`
    expect((await dev.get(one)).body.last_deployment).toMatchObject({ id: first.body.id })
    await dev.post(`${one}/stop`)
    const running = await deploy({ status: 'running' })
    expect((await dev.get(one)).body.state).toBe('stopped')
    const at = `${path}/deployments/${running.body.id}`
    expect((await dev.put(at, { status: 'success' })).body.status).toBe('success')
    expect((await dev.get(one)).body).toMatchObject({
      state: 'available',
      last_deployment: { id: running.body.id },
    })
    const back = await dev.put(at, { status: 'running' })
    expect([back.status, back.body]).toEqual([
      400,
      { message: { status: ["cannot transition from 'success' to 'running'"] } },
    ])
  })

  test('is listed by environment, status and times, in the order that is asked for', async () => {
    const ids = async (query: string) => {
      const { status, body } = await dev.get(`${path}/deployments?${query}`)
      expect(status).toBe(200)
      return (body as { id: number }[]).map((one) => one.id)
    }
    const before = await ids('per_page=100')
    world.setNow('2026-05-05T10:00:00.000Z')
    const a = (await deploy({ environment: 'list/a', status: 'failed' })).body.id
    const b = (await deploy({ environment: 'list/b' })).body.id
    world.setNow('2026-05-06T10:00:00.000Z')
    const c = (await deploy({ environment: 'list/b', status: 'running' })).body.id
    await dev.put(`${path}/deployments/${a}`, { status: 'failed' })
    expect(await ids('environment=list/b')).toEqual([b, c])
    expect(await ids('environment=list/b&sort=desc')).toEqual([c, b])
    expect(await ids('environment=none')).toEqual([])
    expect(await ids('status=failed')).toEqual([a])
    expect(await ids('status=running')).toEqual([c])
    expect(await ids('')).toEqual([...before, a, b, c])
    expect(await ids('updated_after=2026-05-06T00:00:00Z&order_by=updated_at')).toEqual([a, c])
    expect(
      await ids('finished_before=2026-05-05T12:00:00Z&status=success&environment=list/b'),
    ).toEqual([b])
    expect(await ids('finished_after=2026-05-05T00:00:00Z&order_by=finished_at')).toEqual([a, b])
    expect(await ids('per_page=1&page=2&sort=desc')).toEqual([b])
    expect((await dev.get(`${path}/deployments?order_by=name`)).status).toBe(400)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is deleted unless it runs or is what its environment shows', async () => {
    const one = await deploy({ environment: 'gone' })
    const two = await deploy({ environment: 'gone' })
    const three = await deploy({ environment: 'gone', status: 'running' })
    const at = (made: { body: { id: number } }) => `${path}/deployments/${made.body.id}`
    expect((await dev.delete(at(two))).body).toEqual({
      message: { base: ['Deployment currently deployed to environment'] },
    })
    expect((await dev.delete(at(three))).body).toEqual({
      message: { base: ['Cannot destroy running deployment'] },
    })
    expect((await rep.delete(at(one))).status).toBe(403)
    expect((await dev.delete(at(one))).status).toBe(204)
    expect((await dev.get(at(one))).status).toBe(404)
  })
})

describe('a job that deploys', () => {
  let runner: TestRunner

  async function run(yaml: string) {
    runner ??= await addRunner(world, ana, project.id)
    commitFiles(project, { files: { '.svc-ci.yml': yaml } })
    sha = project.git('rev-parse', 'main')
    const { status, body } = await dev.post(`${path}/pipeline`, { ref: 'main' })
    expect(status, JSON.stringify(body)).toBe(201)
    const job = await runner.request()
    if (!job) throw new Error('no job')
    await runner.finish(job, 'success')
    return job
  }

  test('has its times and tier from variables too', async () => {
    await run(`
ship:
  script: make
  variables: {LIFE: 1 day, TIER: staging}
  environment: {name: by/variables, auto_stop_in: $LIFE, deployment_tier: $TIER}
`)
    const [found] = (await dev.get(`${path}/environments?name=by/variables`)).body
    expect(found).toMatchObject({ tier: 'staging', auto_stop_at: '2026-05-05T10:00:00.000Z' })
  })

  test.each([
    ['always', 'stopped', '2026-05-04T11:00:30.000Z'],
    ['with_action', 'available', '2026-05-04T11:10:30.000Z'],
  ])(
    'without a stop job leaves what stops %s %s when its time is over',
    async (setting, state, later) => {
      const name = `timed/${setting}`
      const one = await environment(name, { auto_stop_setting: setting })
      await run(`ship: {script: make, environment: {name: ${name}, auto_stop_in: 1 hour}}`)
      expect((await dev.get(one)).body.auto_stop_at).toBe('2026-05-04T11:00:00.000Z')
      world.setNow(later)
      await stopDueEnvironments.handler(world.ctx, {}, new AbortController().signal)
      expect((await dev.get(one)).body).toMatchObject({ state, auto_stop_at: null })
      world.setNow('2026-05-04T10:00:00.000Z')
    },
  )
})

test('a freeze period is made, changed and removed, and jobs see it while it lasts', async () => {
  const periods = `${path}/freeze_periods`
  const night = { freeze_start: '0 9 * * *', freeze_end: '0 11 * * *', cron_timezone: 'UTC' }
  const made = await ana.post(periods, night)
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject(night)
  const one = `${periods}/${made.body.id}`
  expect((await dev.get(periods)).body).toEqual([made.body])
  expect((await dev.get(one)).body).toEqual(made.body)
  expect((await dev.post(periods, night)).status).toBe(403)
  const bad = await ana.put(one, { freeze_start: 'late' })
  expect([bad.status, bad.body]).toEqual([
    400,
    { message: { freeze_start: [' is invalid syntax'] } },
  ])
  const runner = await addRunner(world, ana, project.id)
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  const seen = async () => {
    await dev.post(`${path}/pipeline`, { ref: 'main' })
    const job = await runner.request()
    if (job) await runner.finish(job, 'success')
    const all = (job?.variables ?? []) as { key: string; value: string }[]
    return all.find((variable) => variable.key === 'CI_DEPLOY_FREEZE')?.value
  }
  expect(await seen()).toBe('true')
  const changed = await ana.put(one, { cron_timezone: 'Asia/Tokyo' })
  expect(changed.body).toMatchObject({ ...night, cron_timezone: 'Asia/Tokyo' })
  expect(await seen()).toBeUndefined()
  expect((await ana.delete(one)).status).toBe(204)
  expect((await ana.get(one)).body).toEqual({ message: '404 Freeze Period Not Found' })
})

test('a project has fifty freeze periods at most', async () => {
  const periods = `${path}/freeze_periods`
  const night = { freeze_start: '0 22 * * *', freeze_end: '0 6 * * *' }
  const made: number[] = []
  for (let count = 0; count < 50; count += 1) made.push((await ana.post(periods, night)).body.id)
  const refused = await ana.post(periods, night)
  expect([refused.status, refused.body]).toEqual([
    400,
    { message: { base: ['Maximum number of freeze periods (50) exceeded'] } },
  ])
  for (const id of made) expect((await ana.delete(`${periods}/${id}`)).status).toBe(204)
})
