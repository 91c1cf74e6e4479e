import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let projectId: number
beforeAll(async () => {
  projectId = (
    await createProject(ana, 'p', { initialize_with_readme: true, visibility: 'public' })
  ).id
})

const withScopes = async (...scopes: string[]) => world.as(await world.token(ana.id, scopes))

describe('read_user', () => {
  const open = () => [
    '/user',
    '/users',
    `/users/${ana.id}`,
    '/user/keys',
    '/user/gpg_keys',
    '/user/emails',
    '/user/status',
    '/user/preferences',
    '/user_counts',
    `/users/${ana.id}/keys`,
    `/users/${ana.id}/followers`,
    '/users/ana/status',
  ]
  test('reads what is about users', async () => {
    const caller = await withScopes('read_user')
    for (const path of open()) expect([path, (await caller.get(path)).status]).toEqual([path, 200])
    expect((await caller.head('/user')).status).toBe(200)
  })

  test('opens nothing else, not even what is public', async () => {
    const caller = await withScopes('read_user')
    for (const path of ['/projects', `/projects/${projectId}`, '/groups', '/todos', '/issues']) {
      const { status, body } = await caller.get(path)
      expect([path, status, body.error]).toEqual([path, 403, 'insufficient_scope'])
    }
  })

  test('changes nothing of its user', async () => {
    const caller = await withScopes('read_user')
    const replies = [
      await caller.put('/user/status', { message: 'x' }),
      await caller.put('/user/preferences', { view_diffs_file_by_file: true }),
      await caller.post('/user/emails', { email: 'more@example.com' }),
      await caller.post('/user/keys', { title: 'x', key: 'x' }),
    ]
    expect(replies.map((reply) => reply.status)).toEqual([403, 403, 403, 403])
    expect((await ana.get('/user/emails')).body).not.toContainEqual(
      expect.objectContaining({ email: 'more@example.com' }),
    )
  })
})

test('read_api reads everything, and changes nothing', async () => {
  const caller = await withScopes('read_api')
  for (const path of ['/user', '/projects', `/projects/${projectId}/repository/tree`, '/todos'])
    expect((await caller.get(path)).status).toBe(200)
  expect((await caller.head('/projects')).status).toBe(200)
  const writes = [
    await caller.post('/projects', { name: 'q' }),
    await caller.put(`/projects/${projectId}`, { description: 'x' }),
    await caller.delete(`/projects/${projectId}`),
    await caller.patch('/user/status', { message: 'x' }),
  ]
  for (const { status, body } of writes)
    expect([status, body]).toEqual([
      403,
      {
        error: 'insufficient_scope',
        error_description:
          'The request requires higher privileges than provided by the access token.',
        scope: expect.stringMatching(/^api\b/),
      },
    ])
  expect((await ana.get(`/projects/${projectId}`)).body.description).not.toBe('x')
})

test.each([
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'k8s_proxy',
  'self_rotate',
])('%s opens no resource of the API', async (scope) => {
  const caller = await withScopes(scope)
  expect((await caller.get('/user')).status).toBe(403)
  expect((await caller.get('/projects')).status).toBe(403)
  expect((await caller.get('/personal_access_tokens/self')).status).toBe(200)
})

test('create_runner makes runners, and does nothing else', async () => {
  const caller = await withScopes('create_runner')
  const runner = { runner_type: 'project_type', project_id: projectId }
  expect((await caller.post('/user/runners', runner)).status).toBe(201)
  expect((await caller.get(`/projects/${projectId}/runners`)).status).toBe(403)
  expect((await caller.post('/projects', { name: 'q' })).status).toBe(403)
})

test('several scopes open what each of them opens', async () => {
  const caller = await withScopes('read_user', 'create_runner')
  expect((await caller.get('/user')).status).toBe(200)
  const runner = { runner_type: 'project_type', project_id: projectId }
  expect((await caller.post('/user/runners', runner)).status).toBe(201)
  expect((await caller.get('/projects')).status).toBe(403)
})

test('a token without any scope reads itself only', async () => {
  const caller = await withScopes()
  expect((await caller.get('/personal_access_tokens/self')).body.scopes).toEqual([])
  expect((await caller.get('/user')).status).toBe(403)
})

test('the scope is looked at before parameters and records', async () => {
  const caller = await withScopes('read_api')
  expect((await caller.post('/projects', {})).status).toBe(403)
  expect((await caller.delete('/projects/999999')).status).toBe(403)
})
