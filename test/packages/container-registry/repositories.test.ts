import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
let guest: Caller

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  guest = await world.user('guest')
})
afterAll(() => world.close())

test('repositories of images are listed for projects and groups, with tags when asked', async () => {
  const group = (await ana.post('/groups', { name: 'g', path: 'g' })).body
  const project = (await ana.post('/projects', { name: 'p', namespace_id: group.id })).body
  const at = `/projects/${project.id}/registry/repositories`
  expect((await ana.get(at)).body).toEqual([])
  const now = world.ctx.now()
  const { id } = await world.ctx.db
    .insertInto('container_repositories')
    .values({ project_id: project.id, name: 'app', created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  await world.ctx.db
    .insertInto('container_tags')
    .values(
      ['v1', 'latest'].map((name) => ({
        repository_id: id,
        name,
        digest: `sha256:${'0'.repeat(64)}`,
        total_size: 10,
        created_at: now,
      })),
    )
    .execute()
  const host = new URL(world.ctx.config.externalUrl).host
  const row = {
    id,
    name: 'app',
    path: 'g/p/app',
    project_id: project.id,
    location: `${host}/g/p/app`,
    created_at: now,
    cleanup_policy_started_at: null,
    status: null,
  }
  expect((await ana.get(at)).body).toEqual([row])
  expect((await ana.get(`${at}?tags=true&size=true`)).body).toEqual([
    {
      ...row,
      tags_count: 2,
      size: 20,
      tags: ['latest', 'v1'].map((name) => ({
        name,
        path: `g/p/app:${name}`,
        location: `${host}/g/p/app:${name}`,
      })),
    },
  ])
  const inGroup = await ana.get(`/groups/${group.id}/registry/repositories?tags_count=true`)
  expect(inGroup.body).toEqual([{ ...row, tags_count: 2 }])
  expect((await guest.get(at)).status).toBe(404)
  await ana.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  expect((await guest.get(at)).status).toBe(200)
  await ana.put(`/projects/${project.id}`, { container_registry_access_level: 'disabled' })
  expect((await ana.get(at)).status).toBe(403)
  expect((await ana.get(`/groups/${group.id}/registry/repositories`)).body).toEqual([])
})
