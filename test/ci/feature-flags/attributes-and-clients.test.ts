import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let flags: string
let lists: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'flags' })
  await addMember(world, project.id, dev.id, 30)
  await addMember(world, project.id, rep.id, 20)
  flags = `/projects/${project.id}/feature_flags`
  lists = `/projects/${project.id}/feature_flags_user_lists`
})

const all = [{ environment_scope: '*' }]
const always = { name: 'default', parameters: {}, scopes: all }

async function made(name: string, more: object = {}) {
  const reply = await dev.post(flags, { name, ...more })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body
}

describe('a feature flag', () => {
  test('is switched on and without strategies unless more is said', async () => {
    expect(await made('plain')).toEqual({
      name: 'plain',
      description: null,
      active: true,
      version: 'new_version_flag',
      created_at: '2026-05-04T10:00:00.000Z',
      updated_at: '2026-05-04T10:00:00.000Z',
      scopes: [],
      strategies: [],
    })
    const more = { description: 'says what', active: false, strategies: [always] }
    expect(await made('more', more)).toMatchObject({
      description: 'says what',
      active: false,
      strategies: [{ name: 'default', parameters: {}, scopes: all, user_list: null }],
    })
    for (const name of ['plain', 'more']) await dev.delete(`${flags}/${name}`)
  })

  test.each([
    ['a', 201],
    ['a-b_c9', 201],
    ['x'.repeat(63), 201],
    ['x'.repeat(64), 400],
    ['9a', 400],
    ['-a', 400],
    ['a-', 400],
    ['a_', 400],
    ['A', 400],
    ['a b', 400],
    ['ä', 400],
    ['a/b', 400],
    ['', 400],
  ])('may be called %j: %i', async (name, status) => {
    const reply = await dev.post(flags, { name })
    expect(reply.status).toBe(status)
    if (status === 201) expect((await dev.delete(`${flags}/${name}`)).status).toBe(204)
    else expect(JSON.stringify(reply.body)).toMatch(/Name can contain only|name/)
  })

  test('has a name that no other flag of the project has', async () => {
    await made('one')
    await made('two')
    const taken = { message: ['Name has already been taken'] }
    for (const reply of [
      await dev.post(flags, { name: 'one' }),
      await dev.put(`${flags}/two`, { name: 'one' }),
    ]) {
      expect([reply.status, reply.body]).toEqual([400, taken])
    }
    expect((await dev.put(`${flags}/two`, { name: 'two' })).status).toBe(200)
    const other = await addProject(world, dev, 'basic', { path: 'other-flags' })
    const elsewhere = `/projects/${other.id}/feature_flags`
    expect((await dev.post(elsewhere, { name: 'one' })).status).toBe(201)
    expect((await dev.get(`${elsewhere}/two`)).status).toBe(404)
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => dev.post(flags, { name: 'raced' })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400])
    for (const name of ['one', 'two', 'raced']) await dev.delete(`${flags}/${name}`)
  })

  test('is read and changed by Developers, and by nobody with less', async () => {
    await made('roles')
    const at = `${flags}/roles`
    const calls = [
      (by: Caller) => by.get(flags),
      (by: Caller) => by.get(at),
      (by: Caller) => by.put(at, { description: 'x' }),
      (by: Caller) => by.post(flags, { name: 'bad name' }),
      (by: Caller) => by.get(lists),
      (by: Caller) => by.post(lists, { name: 'x' }),
    ]
    const statuses = async (by: Caller) => {
      const found = []
      for (const call of calls) found.push((await call(by)).status)
      return found
    }
    expect(await statuses(dev)).toEqual([200, 200, 200, 400, 200, 400])
    expect(await statuses(rep)).toEqual(Array(6).fill(403))
    expect(await statuses(await world.user('stranger'))).toEqual(Array(6).fill(404))
    expect(await statuses(world.nobody)).toEqual(Array(6).fill(404))
    await ana.put(`/projects/${project.id}`, { visibility: 'public' })
    expect(await statuses(world.nobody)).toEqual(Array(6).fill(401))
    await ana.put(`/projects/${project.id}`, { feature_flags_access_level: 'disabled' })
    expect(await statuses(dev)).toEqual(Array(6).fill(403))
    await ana.put(`/projects/${project.id}`, {
      visibility: 'private',
      feature_flags_access_level: 'enabled',
    })
    expect((await rep.delete(at)).status).toBe(403)
    await ana.post(`/projects/${project.id}/archive`)
    expect(await statuses(dev)).toEqual([200, 200, 403, 403, 200, 403])
    await ana.post(`/projects/${project.id}/unarchive`)
    expect((await dev.delete(at)).status).toBe(204)
    expect((await dev.delete(at)).status).toBe(404)
  })

  test('is listed by name, in pages, and by whether it is on', async () => {
    for (const [name, active] of [
      ['list-b', true],
      ['list-a', false],
      ['list-c', true],
    ] as const) {
      await made(name, { active })
    }
    const names = async (query: string) => {
      const reply = await dev.get(`${flags}?${query}`)
      return [reply.headers.get('x-total'), ...reply.body.map((one: { name: string }) => one.name)]
    }
    expect(await names('')).toEqual(['3', 'list-a', 'list-b', 'list-c'])
    expect(await names('scope=enabled')).toEqual(['2', 'list-b', 'list-c'])
    expect(await names('scope=disabled')).toEqual(['1', 'list-a'])
    expect(await names('per_page=2&page=2')).toEqual(['3', 'list-c'])
    expect((await dev.get(`${flags}?scope=all`)).status).toBe(400)
    for (const name of ['list-a', 'list-b', 'list-c']) await dev.delete(`${flags}/${name}`)
  })

  test('is one of at most a thousand', async () => {
    const now = world.ctx.now()
    const rows = Array.from({ length: 999 }, (_, index) => ({
      iid: 10_000 + index,
      project_id: project.id,
      name: `many${index}`,
      active: true,
      created_at: now,
      updated_at: now,
    }))
    await world.ctx.db.insertInto('feature_flags').values(rows).execute()
    await made('last')
    const refused = await dev.post(flags, { name: 'more' })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: ['Maximum number of feature flags (1000) exceeded'] },
    ])
    await world.ctx.db.deleteFrom('feature_flags').execute()
  })
})

describe('a strategy', () => {
  test.each([
    ['default', {}],
    ['gradualRolloutUserId', { groupId: 'abc', percentage: '0' }],
    ['gradualRolloutUserId', { groupId: 'a'.repeat(32), percentage: '100' }],
    ['userWithId', { userIds: 'a, b,c@example.com' }],
    ['userWithId', { userIds: '' }],
    ['flexibleRollout', { groupId: 'g', rollout: '50', stickiness: 'userId' }],
    ['flexibleRollout', { groupId: 'g', rollout: '7', stickiness: 'random' }],
  ])('%s takes the parameters %j', async (name, parameters) => {
    const flag = await made('good', { strategies: [{ name, parameters, scopes: all }] })
    expect(flag.strategies).toMatchObject([{ name, parameters }])
    await dev.delete(`${flags}/good`)
  })

  test('takes parameters as the text of JSON, and numbers as their digits', async () => {
    const parameters = { groupId: 'abc', percentage: 40 }
    for (const given of [parameters, JSON.stringify(parameters)]) {
      const strategies = [{ name: 'gradualRolloutUserId', parameters: given }]
      const flag = await made('forms', { strategies })
      expect(flag.strategies[0].parameters).toEqual({ groupId: 'abc', percentage: '40' })
      await dev.delete(`${flags}/forms`)
    }
  })

  test.each([
    ['default', { any: 'x' }, 'parameters are invalid'],
    ['gradualRolloutUserId', { groupId: 'abc' }, 'parameters are invalid'],
    ['gradualRolloutUserId', { groupId: 'abc', percentage: '-1' }, 'percentage is invalid'],
    ['gradualRolloutUserId', { groupId: 'abc', percentage: '1.5' }, 'percentage is invalid'],
    ['gradualRolloutUserId', { groupId: 'ABC', percentage: '1' }, 'groupId is invalid'],
    ['userWithId', {}, 'parameters are invalid'],
    ['userWithId', { userIds: 'x'.repeat(10_001) }, 'userIds is invalid'],
    ['flexibleRollout', { groupId: 'g', rollout: '101', stickiness: 'userId' }, 'rollout'],
    ['flexibleRollout', { groupId: 'g', rollout: '1', stickiness: 'ip' }, 'stickiness'],
    ['flexibleRollout', { groupId: 'g', rollout: '1' }, 'parameters are invalid'],
    ['default', 'no map', 'strategies is invalid'],
    ['default', [1], 'strategies is invalid'],
    ['somethingElse', {}, 'does not have a valid value'],
  ])('%s refuses the parameters %j', async (name, parameters, says) => {
    const refused = await dev.post(flags, { name: 'bad', strategies: [{ name, parameters }] })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining(says),
    ])
    expect((await dev.get(`${flags}/bad`)).status).toBe(404)
  })

  test('changes its name, parameters and scopes, and keeps what is not said', async () => {
    const flag = await made('changing', {
      strategies: [
        always,
        {
          name: 'userWithId',
          parameters: { userIds: 'a' },
          scopes: [{ environment_scope: 'live' }],
        },
      ],
    })
    const [first, second] = flag.strategies
    const change = async (strategies: object[]) => {
      const reply = await dev.put(`${flags}/changing`, { strategies })
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
      return reply.body.strategies
    }
    expect(await change([{ id: second.id, parameters: { userIds: 'b' } }])).toEqual([
      first,
      { ...second, parameters: { userIds: 'b' } },
    ])
    const rollout = { groupId: 'g', percentage: '5' }
    const [, named] = await change([
      { id: second.id, name: 'gradualRolloutUserId', parameters: rollout },
    ])
    expect(named).toMatchObject({
      id: second.id,
      name: 'gradualRolloutUserId',
      scopes: second.scopes,
    })
    const [scope] = second.scopes
    const [, moved] = await change([
      {
        id: second.id,
        scopes: [{ id: scope.id, environment_scope: 'staging' }, { environment_scope: 'qa/*' }],
      },
    ])
    expect(moved.scopes).toEqual([
      { id: scope.id, environment_scope: 'staging' },
      { id: expect.any(Number), environment_scope: 'qa/*' },
    ])
    expect(await change([{ id: first.id, _destroy: true }])).toEqual([moved])
    // What is to be removed and was never there is nothing.
    expect(await change([{ name: 'default', parameters: {}, _destroy: true }])).toEqual([moved])
    await dev.delete(`${flags}/changing`)
  })

  test('has each scope once, however it is given', async () => {
    const twice = [{ environment_scope: 'live' }, { environment_scope: 'live' }, {}]
    const flag = await made('twice', { strategies: [{ ...always, scopes: twice }] })
    const [{ id, scopes }] = flag.strategies
    expect(scopes.map((one: { environment_scope: string }) => one.environment_scope)).toEqual([
      'live',
      '*',
    ])
    const same = [{ id: scopes[1].id, environment_scope: 'live' }]
    const refused = await dev.put(`${flags}/twice`, { strategies: [{ id, scopes: same }] })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: ['Scopes environment scope has already been taken'] },
    ])
    await dev.delete(`${flags}/twice`)
  })

  test('of another flag is not found, and nothing of such a change is kept', async () => {
    const one = await made('mine', { strategies: [always] })
    const other = await made('theirs', { strategies: [always] })
    const theirs = other.strategies[0]
    const own = one.strategies[0]
    for (const strategies of [
      [{ id: theirs.id, parameters: {} }],
      [{ id: theirs.id, _destroy: true }],
      [{ id: own.id, scopes: [{ id: theirs.scopes[0].id, environment_scope: 'x' }] }],
      [{ id: own.id, _destroy: true }, { id: 999_999 }],
    ]) {
      const refused = await dev.put(`${flags}/mine`, {
        name: 'renamed',
        active: false,
        strategies,
      })
      expect(refused.status).toBe(404)
    }
    expect((await dev.get(`${flags}/mine`)).body).toEqual(one)
    expect((await dev.get(`${flags}/theirs`)).body).toEqual(other)
    for (const name of ['mine', 'theirs']) await dev.delete(`${flags}/${name}`)
  })
})

describe('a list of users', () => {
  test('is made, read, renamed and filled by its number in the project', async () => {
    const first = await dev.post(lists, { name: 'first', user_xids: 'a,b' })
    expect(first.body).toEqual({
      id: expect.any(Number),
      iid: expect.any(Number),
      project_id: project.id,
      name: 'first',
      user_xids: 'a,b',
      created_at: '2026-05-04T10:00:00.000Z',
      updated_at: '2026-05-04T10:00:00.000Z',
    })
    const second = await dev.post(lists, { name: 'second', user_xids: '' })
    expect(second.body.iid).toBe(first.body.iid + 1)
    const at = `${lists}/${second.body.iid}`
    const taken = { message: ['Name has already been taken'] }
    for (const reply of [
      await dev.put(at, { name: 'first' }),
      await dev.post(lists, { name: 'first', user_xids: 'x' }),
    ]) {
      expect([reply.status, reply.body]).toEqual([400, taken])
    }
    const changed = await dev.put(at, { name: 'renamed', user_xids: 'c' })
    expect(changed.body).toMatchObject({ name: 'renamed', user_xids: 'c', iid: second.body.iid })
    expect((await dev.get(at)).body).toEqual(changed.body)
    expect((await dev.get(`${lists}/9999`)).status).toBe(404)
    expect((await dev.get(`${lists}/one`)).status).toBe(400)
    expect((await dev.post(lists, { name: 'third' })).body).toEqual({
      error: 'user_xids is missing',
    })
    for (const { body } of [first, second]) await dev.delete(`${lists}/${body.iid}`)
    expect((await dev.get(lists)).body).toEqual([])
  })

  test('of another project is taken by no strategy, and one by no other kind of strategy', async () => {
    const other = await addProject(world, dev, 'basic', { path: 'listing' })
    const elsewhere = `/projects/${other.id}/feature_flags_user_lists`
    const foreign = (await dev.post(elsewhere, { name: 'x', user_xids: 'secret' })).body
    const own = (await dev.post(lists, { name: 'own', user_xids: 'a' })).body
    const use = (name: string, user_list_id: number | null) =>
      dev.post(flags, { name: 'using', strategies: [{ name, parameters: {}, user_list_id }] })
    expect((await use('gitlabUserList', foreign.id)).body).toEqual({
      message: ['Strategies user list must belong to the same project'],
    })
    expect((await use('gitlabUserList', null)).status).toBe(400)
    expect((await use('default', own.id)).status).toBe(400)
    const good = await use('gitlabUserList', own.id)
    expect(good.body.strategies[0].user_list).toEqual({
      id: own.id,
      iid: own.iid,
      name: 'own',
      user_xids: 'a',
    })
    const [{ id }] = good.body.strategies
    const plain = await dev.put(`${flags}/using`, {
      strategies: [{ id, name: 'default', user_list_id: null }],
    })
    expect(plain.body.strategies).toMatchObject([{ name: 'default', user_list: null }])
    expect((await dev.delete(`${lists}/${own.iid}`)).status).toBe(204)
    await dev.delete(`${flags}/using`)
  })
})

describe('a program that reads feature flags', () => {
  let key: string
  const client = () => `/projects/${project.id}/feature_flags_client`

  beforeAll(async () => {
    key = (await dev.post(`${client()}/reset_token`)).body.instance_id
  })

  /** The names of the flags that a program of an environment gets. */
  async function seen(environment?: string, id: string | number = project.id) {
    const headers = {
      'UNLEASH-INSTANCEID': key,
      ...(environment === undefined ? {} : { 'UNLEASH-APPNAME': environment }),
    }
    const path = `/feature_flags/unleash/${id}/client/features`
    const { status, body } = await world.nobody.get(path, { headers })
    return status === 200 ? body.features.map((one: { name: string }) => one.name) : status
  }

  test('is configured by Developers, who alone see its key', async () => {
    expect((await dev.get(client())).body).toEqual({
      api_url: `${world.ctx.config.externalUrl}/api/v4/feature_flags/unleash/${project.id}`,
      instance_id: key,
    })
    expect(key).toMatch(/^svcffct-/)
    for (const call of [
      rep.get(client()),
      rep.post(`${client()}/reset_token`),
      dev.get(`/projects/${project.id}`),
    ]) {
      const { status, body } = await call
      expect([200, 403]).toContain(status)
      expect(JSON.stringify(body)).not.toContain(key)
    }
    const rows = await world.ctx.db.selectFrom('feature_flag_clients').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(key)
  })

  test('gets what is for its environment: by name, by patterns, and what is for all', async () => {
    const scoped = (name: string, ...scopes: string[]) =>
      made(name, {
        strategies: [
          { ...always, scopes: scopes.map((environment_scope) => ({ environment_scope })) },
        ],
      })
    await scoped('everywhere', '*')
    await scoped('live', 'production')
    await scoped('reviews', 'review/*')
    await scoped('ends', '*-eu')
    await scoped('between', 'app-*-eu', 'staging')
    await made('nowhere', { strategies: [{ name: 'default', parameters: {} }] })
    await made('none')
    expect(await seen('production')).toEqual(['everywhere', 'live'])
    expect(await seen('production2')).toEqual(['everywhere'])
    expect(await seen('review/one')).toEqual(['everywhere', 'reviews'])
    expect(await seen('review/')).toEqual(['everywhere', 'reviews'])
    expect(await seen('review')).toEqual(['everywhere'])
    expect(await seen('app-1-eu')).toEqual(['everywhere', 'ends', 'between'])
    expect(await seen('app-eu')).toEqual(['everywhere', 'ends'])
    expect(await seen('staging')).toEqual(['everywhere', 'between'])
    expect(await seen()).toEqual(['everywhere'])
    expect(await seen('staging', encodeURIComponent(project.fullPath))).toEqual([
      'everywhere',
      'between',
    ])
    for (const name of ['everywhere', 'live', 'reviews', 'ends', 'between', 'nowhere', 'none'])
      await dev.delete(`${flags}/${name}`)
  })

  test('is refused while the project keeps no flags, and after the project is gone', async () => {
    await made('there', { strategies: [always] })
    expect(await seen()).toEqual(['there'])
    await ana.put(`/projects/${project.id}`, { feature_flags_access_level: 'private' })
    expect(await seen()).toEqual(['there'])
    await ana.put(`/projects/${project.id}`, { feature_flags_access_level: 'disabled' })
    expect(await seen()).toBe(401)
    await ana.put(`/projects/${project.id}`, { feature_flags_access_level: 'enabled' })
    expect(await seen('x', 999_999)).toBe(401)
    expect(await seen('x', 'no%2Fproject')).toBe(401)
    expect((await ana.delete(`/projects/${project.id}`)).status).toBe(202)
    const gone = await seen()
    expect([401, ['there']]).toContainEqual(gone)
  })
})
