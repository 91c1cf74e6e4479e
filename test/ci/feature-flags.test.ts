import { beforeAll, describe, expect, test } from 'vitest'
import { addProject } from '../support/project.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let path: string

beforeAll(async () => {
  path = `/projects/${(await addProject(world, ana, 'basic', { path: 'flags' })).id}`
})

test('a feature flag has strategies with scopes, which are added, changed and removed', async () => {
  const made = await ana.post(`${path}/feature_flags`, {
    name: 'new_page',
    version: 'new_version_flag',
    strategies: [
      {
        name: 'userWithId',
        parameters: { userIds: 'a,b' },
        scopes: [{ environment_scope: 'production' }],
      },
    ],
  })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    name: 'new_page',
    active: true,
    version: 'new_version_flag',
    strategies: [{ name: 'userWithId', scopes: [{ environment_scope: 'production' }] }],
  })
  const [strategy] = made.body.strategies
  const changed = await ana.put(`${path}/feature_flags/new_page`, {
    name: 'page',
    active: false,
    strategies: [
      { id: strategy.id, scopes: [{ id: strategy.scopes[0].id, _destroy: true }] },
      { name: 'default', parameters: {}, scopes: [{ environment_scope: '*' }] },
    ],
  })
  expect(changed.body).toMatchObject({ name: 'page', active: false })
  expect(changed.body.strategies[0].scopes).toEqual([])
  expect(changed.body.strategies[1]).toMatchObject({ name: 'default' })
  const removed = await ana.put(`${path}/feature_flags/page`, {
    strategies: [{ id: strategy.id, _destroy: true }],
  })
  expect(removed.body.strategies).toHaveLength(1)
  expect((await ana.get(`${path}/feature_flags?scope=enabled`)).body).toEqual([])
  expect((await ana.delete(`${path}/feature_flags/page`)).status).toBe(204)
})

test('ids mean nothing in a new feature flag', async () => {
  const scopes = [{ id: 0, environment_scope: 'production' }]
  const strategies = [{ id: 0, name: 'default', parameters: {}, scopes }]
  const made = await ana.post(`${path}/feature_flags`, { name: 'from-go', strategies })
  expect(made.status).toBe(201)
  expect(made.body.strategies[0].scopes).toMatchObject([{ environment_scope: 'production' }])
  expect(made.body.strategies[0].scopes[0].id).not.toBe(0)
  const changed = await ana.put(`${path}/feature_flags/from-go`, { strategies })
  expect(changed.status).toBe(404)
  expect((await ana.delete(`${path}/feature_flags/from-go`)).status).toBe(204)
})

test.each([
  [{ name: 'Bad Name' }],
  [{ name: 'one', strategies: [{ name: 'flexibleRollout', parameters: {} }] }],
  [
    {
      name: 'two',
      strategies: [
        { name: 'gradualRolloutUserId', parameters: { groupId: 'x', percentage: '101' } },
      ],
    },
  ],
  [{ name: 'three', strategies: [{ name: 'gitlabUserList', parameters: {} }] }],
  [{ name: 'four', strategies: [{ name: 'gitlabUserList', parameters: {}, user_list_id: 99 }] }],
])('a feature flag such as %j is refused, and nothing of it kept', async (body) => {
  expect((await ana.post(`${path}/feature_flags`, body)).status).toBe(400)
  expect((await ana.get(`${path}/feature_flags/${encodeURIComponent(body.name)}`)).status).toBe(404)
})

test('a user list that a strategy uses is not deleted', async () => {
  const lists = `${path}/feature_flags_user_lists`
  const made = await ana.post(lists, { name: 'testers', user_xids: 'a,b' })
  expect(made.body).toMatchObject({ iid: 1, name: 'testers', user_xids: 'a,b' })
  await ana.post(`${path}/feature_flags`, {
    name: 'listed',
    strategies: [{ name: 'gitlabUserList', parameters: {}, user_list_id: made.body.id }],
  })
  expect((await ana.delete(`${lists}/1`)).status).toBe(409)
  await ana.delete(`${path}/feature_flags/listed`)
  expect((await ana.put(`${lists}/1`, { user_xids: 'c' })).body.user_xids).toBe('c')
  expect((await ana.delete(`${lists}/1`)).status).toBe(204)
})

test('user lists are found by what is written, wildcards of SQL or not', async () => {
  const lists = `${path}/feature_flags_user_lists`
  for (const name of ['half_50%', 'halfx500']) await ana.post(lists, { name, user_xids: 'a' })
  const found = async (search: string) =>
    (await ana.get(`${lists}?search=${encodeURIComponent(search)}`)).body.map(
      (one: { name: string }) => one.name,
    )
  expect(await found('HALF')).toEqual(['half_50%', 'halfx500'])
  expect(await found('half_')).toEqual(['half_50%'])
  expect(await found('50%')).toEqual(['half_50%'])
  expect(await found('\\')).toEqual([])
})

describe('programs that read feature flags', () => {
  const unleash = (suffix = '') => `/feature_flags/unleash/${path.split('/').at(-1)}${suffix}`
  let key: string

  beforeAll(async () => {
    expect((await ana.get(`${path}/feature_flags_client`)).status).toBe(404)
    const made = await ana.post(`${path}/feature_flags_client/reset_token`)
    expect(made.status).toBe(201)
    key = made.body.instance_id
    const lists = `${path}/feature_flags_user_lists`
    const list = await ana.post(lists, { name: 'friends', user_xids: 'x,y' })
    const scopes = (scope: string) => [{ environment_scope: scope }]
    await ana.post(`${path}/feature_flags`, {
      name: 'for_reviews',
      description: 'all of them',
      strategies: [
        { name: 'default', parameters: {}, scopes: scopes('review/*') },
        {
          name: 'gitlabUserList',
          parameters: {},
          user_list_id: list.body.id,
          scopes: scopes('review/one'),
        },
      ],
    })
    await ana.post(`${path}/feature_flags`, {
      name: 'off_live',
      active: false,
      strategies: [{ name: 'default', parameters: {}, scopes: scopes('live') }],
    })
  })

  test('get those of their environment, with lists of users as users', async () => {
    const headers = { 'UNLEASH-INSTANCEID': key, 'UNLEASH-APPNAME': 'review/one' }
    const reply = await world.nobody.get(unleash('/client/features'), { headers })
    expect(reply.body).toEqual({
      version: 1,
      features: [
        {
          name: 'for_reviews',
          description: 'all of them',
          enabled: true,
          strategies: [
            { name: 'default', parameters: {} },
            { name: 'userWithId', parameters: { userIds: 'x,y' } },
          ],
        },
      ],
    })
    const live = await world.nobody.get(unleash(`/features?instance_id=${key}&app_name=live`))
    expect(live.body.features).toEqual([
      { name: 'off_live', enabled: false, strategies: [{ name: 'default', parameters: {} }] },
    ])
  })

  test('announce themselves and send numbers as their libraries do', async () => {
    const headers = { 'UNLEASH-INSTANCEID': key }
    const about = { appName: 'live', instanceId: key, strategies: ['default'], interval: 1000 }
    const announced = await world.nobody.post(unleash('/client/register'), about, { headers })
    expect(announced.status).toBe(200)
    const numbers = { appName: 'live', bucket: { toggles: {} } }
    const sent = await world.nobody.post(unleash('/client/metrics'), numbers, { headers })
    expect(sent.status).toBe(200)
  })

  test('are refused without the key, with that of another project, and with an old one', async () => {
    const other = await addProject(world, ana, 'basic', { path: 'other-flags' })
    const elsewhere = `/feature_flags/unleash/${other.id}?instance_id=${key}`
    for (const url of [unleash(), unleash('?instance_id=x'), elsewhere, `${elsewhere}0`]) {
      expect((await world.nobody.get(url)).status).toBe(401)
    }
    expect((await ana.get(unleash())).status).toBe(401)
    const good = await world.nobody.get(unleash(`?instance_id=${key}`))
    expect(good.status).toBe(200)
    const reset = await ana.post(`${path}/feature_flags_client/reset_token`)
    expect((await world.nobody.get(unleash(`?instance_id=${key}`))).status).toBe(401)
    expect((await ana.get(`${path}/feature_flags_client`)).body).toEqual(reset.body)
  })
})
