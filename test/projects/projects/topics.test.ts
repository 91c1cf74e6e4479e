import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
})
afterAll(() => world.close())

test('topics are made by administrators, seen by anybody, the most used first', async () => {
  await ana.post('/projects', { name: 'one', topics: ['ruby', 'web'] })
  await ana.post('/projects', { name: 'two', topics: ['web'] })
  const list = (await world.nobody.get('/topics')).body
  expect(list).toMatchObject([
    { name: 'web', title: 'web', total_projects_count: 2 },
    { name: 'ruby', total_projects_count: 1 },
  ])
  const made = await world.root.post('/topics', { name: 'git', title: 'Git', description: 'd' })
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: made.body.id,
      name: 'git',
      title: 'Git',
      description: 'd',
      total_projects_count: 0,
      organization_id: 1,
      avatar_url: null,
    },
  ])
  expect((await ana.post('/topics', { name: 'x', title: 'x' })).status).toBe(403)
  expect((await world.nobody.get('/topics?search=GI')).body).toHaveLength(1)
  expect((await world.nobody.get('/topics?without_projects=true')).body).toHaveLength(1)
  const twice = await world.root.post('/topics', { name: 'GIT', title: 'x' })
  expect([twice.status, twice.body]).toEqual([
    400,
    { message: { name: ['has already been taken'] } },
  ])
  const changed = await world.root.put(`/topics/${made.body.id}`, { title: 'New' })
  expect(changed.body).toMatchObject({ title: 'New', description: 'd' })
  expect((await world.root.delete(`/topics/${made.body.id}`)).status).toBe(204)
  expect((await world.root.get(`/topics/${made.body.id}`)).body.message).toBe('404 Topic Not Found')
})

test('merging takes the projects along', async () => {
  const [web, ruby] = (await world.root.get('/topics')).body
  const reply = await world.root.post('/topics/merge', {
    source_topic_id: ruby.id,
    target_topic_id: web.id,
  })
  expect([reply.status, reply.body.total_projects_count]).toEqual([201, 2])
  expect((await ana.get('/projects/ana%2Fone')).body.topics).toEqual(['web'])
  const same = { source_topic_id: web.id, target_topic_id: web.id }
  expect((await world.root.post('/topics/merge', same)).status).toBe(400)
})
