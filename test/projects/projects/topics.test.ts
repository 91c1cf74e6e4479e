import { expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

test('topics are made by administrators, seen by anybody, the most used first', async () => {
  await createProject(ana, 'one', { topics: ['ruby', 'web'] })
  await createProject(ana, 'two', { topics: ['web'] })
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

test('a topic has a name, a title, a text and a picture, and each of them changes', async () => {
  const { root } = world
  const { body } = await root.post('/topics', { name: 'lisp', title: 'Lisp' })
  const path = `/topics/${body.id}`
  const put = async (changes: Record<string, unknown>) => (await root.put(path, changes)).body
  expect(await put({ name: 'scheme' })).toMatchObject({ name: 'scheme', title: 'Lisp' })
  expect(await put({ description: 'Lots of parentheses' })).toMatchObject({
    name: 'scheme',
    description: 'Lots of parentheses',
  })
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const form = new FormData()
  form.set('avatar', new Blob([png], { type: 'image/png' }), 'lambda.png')
  const shown = await root.put(path, undefined, { raw: form })
  expect(shown.body.avatar_url).toContain(`/uploads/-/system/topic/avatar/${body.id}/lambda.png`)
  const file = await fetch(`${world.url}${new URL(shown.body.avatar_url).pathname}`)
  expect(Buffer.from(await file.arrayBuffer()).equals(png)).toBe(true)
  expect((await put({ avatar: '' })).avatar_url).toBeNull()
  expect((await world.nobody.get(path)).body).toMatchObject({ name: 'scheme', avatar_url: null })
})

test.each([
  [{ title: 'x' }, { error: 'name is missing' }],
  [{ name: 'x' }, { error: 'title is missing' }],
  [{ name: ' ', title: 'x' }, { message: { name: ["can't be blank"] } }],
  [{ name: 'x', title: '' }, { message: { title: ["can't be blank"] } }],
  [
    { name: 'x'.repeat(256), title: 'x' },
    { message: { name: ['is too long (maximum is 255 characters)'] } },
  ],
])('a topic is not made of %j', async (body, answer) => {
  const reply = await world.root.post('/topics', body)
  expect([reply.status, reply.body]).toEqual([400, answer])
})

test('a topic that is deleted leaves its projects, and one of that name may come again', async () => {
  await createProject(ana, 'three', { topics: ['fleeting', 'kept'] })
  const [topic] = (await ana.get('/topics?search=fleeting')).body
  for (const caller of [ana, world.nobody]) {
    expect((await caller.delete(`/topics/${topic.id}`)).status).toBe(caller === ana ? 403 : 401)
    expect((await caller.put(`/topics/${topic.id}`, { title: 'x' })).status).toBe(
      caller === ana ? 403 : 401,
    )
  }
  expect((await world.root.delete(`/topics/${topic.id}`)).status).toBe(204)
  expect((await ana.get('/projects/ana%2Fthree')).body.topics).toEqual(['kept'])
  await ana.put('/projects/ana%2Fthree', { topics: ['fleeting'] })
  expect((await ana.get('/topics?search=fleeting')).body).toMatchObject([
    { total_projects_count: 1 },
  ])
  await ana.delete('/projects/ana%2Fthree')
  expect((await ana.get('/topics?search=fleeting')).body).toMatchObject([
    { total_projects_count: 0 },
  ])
})
