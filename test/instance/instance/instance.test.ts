import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

describe('application settings', () => {
  test('are for administrators, and change what was sent', async () => {
    expect((await ana.get('/application/settings')).status).toBe(403)
    expect((await world.nobody.put('/application/settings', {})).status).toBe(401)
    const before = (await root.get('/application/settings')).body
    const after = await root.put('/application/settings', {
      default_projects_limit: '5',
      after_sign_up_text: 'hello',
      restricted_visibility_levels: 'public',
      max_personal_access_token_lifetime: 30,
    })
    expect([after.status, after.body]).toEqual([
      200,
      {
        ...before,
        default_projects_limit: 5,
        after_sign_up_text: 'hello',
        restricted_visibility_levels: ['public'],
        max_personal_access_token_lifetime: 30,
      },
    ])
    const bad = await root.put('/application/settings', { default_project_visibility: 'secret' })
    expect(bad.body).toEqual({ error: 'default_project_visibility does not have a valid value' })
    await root.put('/application/settings', {
      max_personal_access_token_lifetime: null,
      restricted_visibility_levels: [],
    })
    expect(
      (await root.get('/application/settings')).body.max_personal_access_token_lifetime,
    ).toBeNull()
  })
  test('count at once: a new user gets the new limit', async () => {
    await root.put('/application/settings', { default_projects_limit: 7 })
    const user = await root.post('/users', {
      username: 'limited',
      name: 'x',
      email: 'limited@example.org',
      force_random_password: true,
    })
    expect(user.body.projects_limit).toBe(7)
  })
  test('a rate limit counts at once, and its answer is text', async () => {
    await root.put('/application/settings', {
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 3,
      throttle_authenticated_api_period_in_seconds: 60,
    })
    const replies = []
    for (let call = 0; call < 4; call++) replies.push(await ana.get('/user'))
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 429])
    expect(replies[3]?.body).toBe('Retry later')
    expect(replies[3]?.headers.get('retry-after')).toBe('60')
    await root.put('/application/settings', { throttle_authenticated_api_enabled: false })
    expect((await ana.get('/user')).status).toBe(200)
  })
})

test('statistics are texts of digits', async () => {
  const { body } = await root.get('/application/statistics')
  expect(Number(body.users)).toBeGreaterThanOrEqual(2)
  expect(Object.values(body).every((value) => /^[\d,]+$/.test(String(value)))).toBe(true)
})

test('appearance and plan limits are kept', async () => {
  await root.put('/application/appearance', { title: 'Ours' })
  await root.put('/application/appearance', { description: 'd' })
  expect((await root.get('/application/appearance')).body).toMatchObject({
    title: 'Ours',
    description: 'd',
  })
  await root.put('/application/plan_limits', { plan_name: 'default', npm_max_file_size: 5 })
  expect((await root.get('/application/plan_limits')).body).toMatchObject({
    npm_max_file_size: 5,
    conan_max_file_size: 3_221_225_472,
  })
})

test('features are switched, shown and forgotten', async () => {
  const on = await root.post('/features/generic_alert_fingerprinting', { value: true })
  expect([on.status, on.body]).toEqual([
    201,
    {
      name: 'generic_alert_fingerprinting',
      state: 'on',
      gates: [{ key: 'boolean', value: true }],
      definition: null,
    },
  ])
  const offers = () => world.ctx.settings.offers('generic_alert_fingerprinting')
  expect([offers(), world.ctx.settings.offers('anything_else')]).toEqual([true, true])
  await root.post('/features/generic_alert_fingerprinting', { value: false })
  expect(offers()).toBe(false)
  const empty = { key: '', feature_group: '', user: '', group: '', project: '', force: false }
  expect((await root.post('/features/x', { value: '20', ...empty })).body.gates[1]).toEqual({
    key: 'percentage_of_time',
    value: 20,
  })
  const share = await root.post('/features/x', { value: '30' })
  expect(share.body).toMatchObject({
    state: 'conditional',
    gates: [
      { key: 'boolean', value: false },
      { key: 'percentage_of_time', value: 30 },
    ],
  })
  const some = await root.post('/features/y', { value: 'true', user: 'ana,ben' })
  expect(some.body.gates).toContainEqual({ key: 'actors', value: ['user:ana', 'user:ben'] })
  expect((await root.get('/features')).body).toHaveLength(3)
  for (const _ of [1, 2]) {
    expect((await root.delete('/features/generic_alert_fingerprinting')).status).toBe(204)
  }
  const deleted = world.ctx.db.selectFrom('audit_events').where('action', '=', 'feature_deleted')
  expect(await deleted.select('id').execute()).toHaveLength(1)
  expect(offers()).toBe(true)
  expect((await ana.get('/features')).status).toBe(403)
})

test('the queue shows its real counts', async () => {
  const { db } = world.ctx
  const now = world.ctx.now()
  await db
    .insertInto('tasks')
    .values({ name: 'x', payload: '{}', run_at: '2027-01-01T00:00:00.000Z', created_at: now })
    .execute()
  const { body } = await root.get('/sidekiq/compound_metrics')
  expect(body.queues.default.backlog).toBe(1)
  expect(body.jobs).toMatchObject({ enqueued: 1, dead: 0 })
  expect(body.processes[0].pid).toBe(process.pid)
  for (const name of ['queue_metrics', 'process_metrics', 'job_stats']) {
    expect((await root.get(`/sidekiq/${name}`)).status).toBe(200)
  }
})

test('there is no licence', async () => {
  expect((await root.get('/license')).status).toBe(404)
  expect((await ana.get('/license')).status).toBe(403)
})
