import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let count = 0

async function project(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createProject(owner, `p${count}`, more)
}

async function group(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createGroup(owner, `g${count}`, more)
}

const encoded = encodeURIComponent
const taken = ['has already been taken']

describe('the name of a new project', () => {
  test.each([
    ['Many   Words Here', 'many-words-here'],
    ['Ünïcode Näme', 'unicode-name'],
    ['a--b', 'a-b'],
    ['v1.2 (old)', undefined],
    ['_under', '_under'],
    ['UPPER', 'upper'],
    ['1st', '1st'],
    ['a.b', 'a.b'],
  ])('%j gives the path %j', async (name, path) => {
    const reply = await ana.post('/projects', { name })
    if (path === undefined) return expect(reply.status).toBe(400)
    expect([reply.status, reply.body.path, reply.body.name]).toEqual([201, path, name])
  })

  test.each(['', '   ', '-a', '!', 'x/y', '<b>', 'a\u0000b', 'x'.repeat(256)])(
    'is not %j',
    async (name) => {
      const { status, body } = await ana.post('/projects', { name, path: `ok-${count++}` })
      expect(status).toBe(400)
      expect(JSON.stringify(body)).toContain('name')
    },
  )

  test('may hold emoji and any letters beside a path of its own', async () => {
    const reply = await ana.post('/projects', { name: 'Привет 🚀', path: 'hello' })
    expect([reply.status, reply.body.name]).toEqual([201, 'Привет 🚀'])
  })

  test('is trimmed, and taken whatever its letters’ case', async () => {
    const made = await createProject(ana, '  Spaced  ', { path: 'spaced' })
    expect(made.name).toBe('Spaced')
    const again = await ana.post('/projects', { name: 'SPACED', path: 'spaced-2' })
    expect([again.status, again.body]).toEqual([
      400,
      { message: { 'project_namespace.name': taken, name: taken } },
    ])
    // Elsewhere it is free.
    expect((await ben.post('/projects', { name: 'Spaced' })).status).toBe(201)
  })

  test.each([
    'badges',
    'blame',
    'blob',
    'builds',
    'commits',
    'create',
    'create_dir',
    'edit',
    'files',
    'find_file',
    'new',
    'preview',
    'raw',
    'refs',
    'tree',
    'update',
    'wikis',
    'TREE',
  ])('with the path %j is refused, as the server needs that', async (path) => {
    const { status, body } = await ana.post('/projects', { name: `n ${path}`, path })
    expect([status, Object.keys(body.message)]).toEqual([400, ['path']])
  })

  test.each(['admin', 'api', 'groups', 'users', 'v2', 'explore', 's', 'robots.txt', 'OAuth'])(
    'and the path of a new group at the top are different things: %j is reserved for it',
    async (path) => {
      const reply = await ana.post('/groups', { name: `n ${path}`, path })
      expect([reply.status, reply.body.message]).toEqual([
        400,
        expect.stringContaining('Failed to save group {:path=>['),
      ])
      expect((await ana.post('/projects', { name: `p ${path}`, path })).status).toBe(201)
    },
  )
})

describe('a new project', () => {
  test('is as visible as the instance presets, and no more than its group', async () => {
    const { root } = world
    await root.put('/application/settings', { default_project_visibility: 'internal' })
    expect((await project()).visibility).toBe('internal')
    const closed = await group()
    expect((await project({ namespace_id: closed.id })).visibility).toBe('private')
    const wished = { name: 'wished', namespace_id: closed.id, visibility: 'internal' }
    expect((await ana.post('/projects', wished)).body).toEqual({
      message: { visibility_level: ['internal is not allowed in a private group.'] },
    })
    await root.put('/application/settings', { default_project_visibility: 'private' })
  })

  test('is made no more visible than the instance lets anybody but administrators', async () => {
    const { root } = world
    await root.put('/application/settings', { restricted_visibility_levels: ['public'] })
    const refused = await ana.post('/projects', { name: 'too open', visibility: 'public' })
    expect([refused.status, Object.keys(refused.body.message)]).toEqual([400, ['visibility_level']])
    expect((await ana.get('/projects/ana%2Ftoo-open')).status).toBe(404)
    const own = await project()
    expect((await ana.put(`/projects/${own.id}`, { visibility: 'public' })).status).toBe(400)
    expect((await root.put(`/projects/${own.id}`, { visibility: 'public' })).status).toBe(200)
    await root.put('/application/settings', { restricted_visibility_levels: [] })
  })

  test('counts against the limit of the namespace’s owner, whoever makes it', async () => {
    const few = await world.user('few')
    await world.root.put(`/users/${few.id}`, { projects_limit: 2 })
    const first = await project({}, few)
    await project({}, few)
    const over = await few.post('/projects', { name: 'third' })
    expect([over.status, over.body.message]).toEqual([403, expect.stringContaining('limit of 2')])
    expect((await world.root.post(`/projects/user/${few.id}`, { name: 'gift' })).status).toBe(403)
    const fork = await few.post(`/projects/${(await project({ visibility: 'public' })).id}/fork`)
    expect(fork.status).toBe(403)
    const moved = await project({}, few).catch(() => undefined)
    expect(moved).toBeUndefined()
    // In a group there is no limit, and one that goes makes room.
    const team = await group({}, few)
    expect((await few.post('/projects', { name: 'third', namespace_id: team.id })).status).toBe(201)
    await few.delete(`/projects/${first.id}`)
    expect((await few.post('/projects', { name: 'third' })).status).toBe(201)
  })

  test('is not moved into a namespace that is full', async () => {
    const full = await world.user('full')
    const team = await group({}, full)
    const { id } = await project({ namespace_id: team.id }, full)
    await world.root.put(`/users/${full.id}`, { projects_limit: 0 })
    const reply = await full.put(`/projects/${id}/transfer`, { namespace: 'full' })
    expect([reply.status, reply.body.message]).toEqual([403, expect.stringContaining('limit of 0')])
  })

  test('of an external user is made in groups alone', async () => {
    const guest = await world.user('guest', { external: true })
    expect((await guest.post('/projects', { name: 'own' })).status).toBe(403)
    const team = await group()
    await ana.post(`/groups/${team.id}/members`, { user_id: guest.id, access_level: 30 })
    const made = await guest.post('/projects', { name: 'theirs', namespace_id: team.id })
    expect([made.status, made.body.creator_id]).toEqual([201, guest.id])
  })

  test.each([
    [{ topics: ['x'.repeat(256)] }, { topics: ['is too long (maximum is 255 characters)'] }],
    [
      { topics: Array.from({ length: 101 }, (_, at) => `t${at}`) },
      { topics: ['is too long (maximum is 100 topics)'] },
    ],
    [
      { description: 'x'.repeat(2001) },
      { description: ['is too long (maximum is 2000 characters)'] },
    ],
    [{ default_branch: 'a..b' }, { default_branch: ['is not a valid branch name'] }],
    [
      { import_url: 'file:///etc/passwd' },
      { import_url: ['is blocked: Only allowed schemes are http, https'] },
    ],
    [
      { import_url: 'http://127.0.0.1/x.git' },
      {
        import_url: [
          expect.stringMatching(
            /^is blocked: requests to \S+ are not allowed: .*GITSTEAD_OUTBOUND_ALLOW/,
          ),
        ],
      },
    ],
  ])('is not made with %j', async (more, message) => {
    count += 1
    const reply = await ana.post('/projects', { name: `not-${count}`, ...more })
    expect([reply.status, reply.body]).toEqual([400, { message }])
    expect((await ana.get(`/projects/ana%2Fnot-${count}`)).status).toBe(404)
  })

  test('with SHA-256 says so, and takes commits of that length', async () => {
    const made = await project({ repository_object_format: 'sha256', initialize_with_readme: true })
    expect(made).toHaveProperty('repository_object_format', 'sha256')
    expect(await project()).toHaveProperty('repository_object_format', 'sha1')
    const odd = await ana.post('/projects', { name: 'odd', repository_object_format: 'md5' })
    expect(odd.body).toEqual({ error: 'repository_object_format does not have a valid value' })
  })
})

describe('the old paths of a project', () => {
  test('all lead to where it is, with what was asked for below', async () => {
    const made = await project({ visibility: 'public' })
    const olds = [made.path_with_namespace]
    for (const path of [`second-${made.id}`, `third-${made.id}`]) {
      const { body } = await ana.put(`/projects/${made.id}`, { path })
      olds.push(body.path_with_namespace)
    }
    const team = await group({ visibility: 'public' })
    await ana.put(`/projects/${made.id}/transfer`, { namespace: team.id })
    const base = `${world.app.config.externalUrl}/api/v4/projects/${made.id}`
    for (const old of olds) {
      const reply = await ben.get(`/projects/${encoded(old)}/badges?name=x&per_page=1`)
      expect([reply.status, reply.headers.get('location')]).toEqual([
        301,
        `${base}/badges?name=x&per_page=1`,
      ])
      expect(reply.body).toContain('This resource has been moved permanently to')
      for (const verb of ['post', 'put', 'patch', 'delete', 'head'] as const) {
        const written = await ben[verb](`/projects/${encoded(old)}`)
        expect(written.status).toBe(405)
      }
    }
  })

  test('are those of others as soon as they take them, and not given back', async () => {
    const first = await project({ visibility: 'public' })
    await ana.put(`/projects/${first.id}`, { path: `away-${first.id}` })
    const second = await project({ name: 'taker', path: first.path })
    const old = encoded(first.path_with_namespace)
    expect((await ana.get(`/projects/${old}`)).body.id).toBe(second.id)
    await ana.put(`/projects/${second.id}`, { path: `gone-${second.id}` })
    // Whoever had the path last is found by it.
    expect((await ana.get(`/projects/${old}`)).headers.get('location')).toContain(
      `/projects/${second.id}`,
    )
    await ana.delete(`/projects/${second.id}`)
    expect((await ana.get(`/projects/${old}`)).status).toBe(404)
  })

  test('lead back when the project takes its own again', async () => {
    const made = await project()
    await ana.put(`/projects/${made.id}`, { path: `b-${made.id}` })
    const back = await ana.put(`/projects/${made.id}`, { path: made.path })
    expect(back.body.path_with_namespace).toBe(made.path_with_namespace)
    expect((await ana.get(`/projects/${encoded(made.path_with_namespace)}`)).status).toBe(200)
    expect((await ana.get(`/projects/ana%2Fb-${made.id}`)).status).toBe(301)
  })

  test('are answered with 404 for a project that the caller may not see', async () => {
    const made = await project({ visibility: 'public' })
    await ana.put(`/projects/${made.id}`, { path: `hidden-${made.id}`, visibility: 'private' })
    const old = `/projects/${encoded(made.path_with_namespace)}`
    for (const caller of [ben, world.nobody])
      for (const verb of ['get', 'put', 'delete'] as const)
        expect((await caller[verb](old)).body).toEqual({ message: '404 Project Not Found' })
  })
})

describe('moving a project', () => {
  test('takes an owner, whatever one is in the target', async () => {
    const team = await group()
    await ana.post(`/groups/${team.id}/members`, { user_id: ben.id, access_level: 50 })
    const { id } = await project()
    for (const [access_level, status] of [
      [30, 403],
      [40, 403],
      [50, 200],
    ] as const) {
      await ana.delete(`/projects/${id}/members/${ben.id}`)
      await ana.post(`/projects/${id}/members`, { user_id: ben.id, access_level })
      const reply = await ben.put(`/projects/${id}/transfer`, { namespace: team.id })
      expect(reply.status).toBe(status)
    }
  })

  test('into the own namespace makes its owner one of the project', async () => {
    const team = await group()
    const { id } = await project({ namespace_id: team.id })
    await ana.post(`/projects/${id}/members`, { user_id: ana.id, access_level: 50 })
    expect((await ana.get(`/projects/${id}`)).body.owner).toBeUndefined()
    const moved = await ana.put(`/projects/${id}/transfer`, { namespace: 'ana' })
    expect([moved.status, moved.body.owner.username]).toEqual([200, 'ana'])
    expect((await ana.get(`/projects/${id}/members`)).body).toMatchObject([
      { id: ana.id, access_level: 50 },
    ])
  })

  test('out of a group shuts out who was there by the group', async () => {
    const team = await group()
    await ana.post(`/groups/${team.id}/members`, { user_id: ben.id, access_level: 40 })
    const { id } = await project({ namespace_id: team.id })
    expect((await ben.get(`/projects/${id}`)).status).toBe(200)
    await ana.put(`/projects/${id}/transfer`, { namespace: 'ana' })
    expect((await ben.get(`/projects/${id}`)).status).toBe(404)
  })

  test.each([
    [{}, 400, { error: 'namespace is missing' }],
    [{ namespace: '' }, 404, { message: '404 Namespace Not Found' }],
    [{ namespace: 999_999 }, 404, { message: '404 Namespace Not Found' }],
    [{ namespace: 'nowhere/at/all' }, 404, { message: '404 Namespace Not Found' }],
  ])('to %j answers %i', async (body, status, answer) => {
    const { id } = await project()
    const reply = await ana.put(`/projects/${id}/transfer`, body)
    expect([reply.status, reply.body]).toEqual([status, answer])
  })

  test('to two places at once ends in one of them, and is found there', async () => {
    const targets = [await group(), await group()]
    const { id } = await project()
    const replies = await Promise.all(
      targets.map((one) => ana.put(`/projects/${id}/transfer`, { namespace: one.id })),
    )
    expect(replies.map((reply) => reply.status)).toEqual([200, 200])
    const { body } = await ana.get(`/projects/${id}`)
    expect(targets.map((one) => one.id)).toContain(body.namespace.id)
    expect((await ana.get(`/projects/${encoded(body.path_with_namespace)}`)).body.id).toBe(id)
  })
})
