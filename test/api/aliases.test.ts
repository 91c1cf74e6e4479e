import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

test('notes are found behind one encoded segment that names what they hang on', async () => {
  const ana = await world.user('ana')
  const project = await ana.post('/projects', { name: 'aliased' })
  const path = `/projects/${project.body.id}`
  await ana.post(`${path}/issues`, { title: 'One' })
  const added = await ana.post(`${path}/issues%2F1/notes`, { body: 'Hello' })
  expect(added.status).toBe(201)
  const one = await ana.get(`${path}/issues%2F1/notes/${added.body.id}`)
  expect(one.body).toEqual((await ana.get(`${path}/issues/1/notes/${added.body.id}`)).body)
  expect((await ana.get(`${path}/issues%2F1/notes`)).body).toHaveLength(1)
})

test('an encoded segment that names nothing is no route, however often it is encoded', async () => {
  const ana = await world.user('bea')
  for (const noteable of ['issues', 'issues%252F1', 'wrong%2F1', '..%2F..%2Fusers', '%2F', '%00']) {
    const answer = await ana.get(`/projects/1/${noteable}/notes`)
    expect(answer.status, noteable).toBe(404)
  }
})

test('a contracted path rotates a token as its own path does', async () => {
  const cleo = await world.user('cleo')
  const { root } = world
  const made = await root.post(`/users/${cleo.id}/personal_access_tokens`, {
    name: 'ci',
    scopes: ['read_api'],
  })
  const rotated = await root.post(`/personal_access_tokens/${made.body.id}/self/rotate`)
  expect(rotated.status).toBe(200)
  expect(rotated.body.name).toBe('ci')
})
