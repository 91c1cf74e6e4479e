import { afterAll, beforeAll, expect, test } from 'vitest'
import { addProject } from '../support/project.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

let world: World
let ana: Caller
let path: string

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  path = `/projects/${(await addProject(world, ana, 'basic', { path: 'flags' })).id}`
})
afterAll(() => world.close())

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
