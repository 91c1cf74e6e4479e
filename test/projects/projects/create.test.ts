import { describe, expect, test } from 'vitest'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

const taken = ['has already been taken']

describe('creating a project', () => {
  test('gives a private, empty project in the own namespace with the caller as owner', async () => {
    const { status, body } = await ana.post('/projects', { name: 'My First Project' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'My First Project',
      path: 'my-first-project',
      path_with_namespace: 'ana/my-first-project',
      name_with_namespace: 'ana / My First Project',
      visibility: 'private',
      empty_repo: true,
      default_branch: 'main',
      namespace: { kind: 'user', path: 'ana', parent_id: null },
      owner: { username: 'ana' },
      permissions: { project_access: { access_level: 50 }, group_access: null },
      merge_method: 'merge',
      issues_enabled: true,
      repository_access_level: 'enabled',
      ci_default_git_depth: 20,
      http_url_to_repo: `${world.app.config.externalUrl}/ana/my-first-project.git`,
    })
    expect(await world.ctx.git.exists(body.id)).toBe(true)
  })

  test('takes name or path, and asks for one', async () => {
    const byPath = await ana.post('/projects', { path: 'by_path' })
    expect(byPath.body).toMatchObject({ name: 'by_path', path: 'by_path' })
    const neither = await ana.post('/projects', { description: 'x' })
    expect([neither.status, neither.body]).toEqual([
      400,
      { error: 'name, path are missing, at least one parameter must be provided' },
    ])
  })

  test('refuses nobody, and the namespaces of others without telling that they exist', async () => {
    expect((await world.nobody.post('/projects', { name: 'x' })).status).toBe(401)
    const bens = await world.ctx.db
      .selectFrom('namespaces')
      .select('id')
      .where('path', '=', 'ben')
      .executeTakeFirstOrThrow()
    for (const namespace_id of [bens.id, 999_999]) {
      const reply = await ana.post('/projects', { name: 'x', namespace_id })
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Namespace Not Found' }])
    }
  })

  test.each([
    '-x',
    'x.git',
    'x.atom',
    'a..b',
    'x-',
    'tree',
    'a b',
    '',
    'ä',
    'a/b',
    '.x',
    'x'.repeat(256),
  ])('refuses the path %j', async (path) => {
    const { status, body } = await ana.post('/projects', { name: 'ok', path })
    expect(status).toBe(400)
    expect(Object.keys(body.message)).toContain('path')
  })

  test('says which of name and path is taken', async () => {
    await ana.post('/projects', { name: 'Taken', path: 'taken' })
    const both = await ana.post('/projects', { name: 'taken', path: 'TAKEN' })
    expect([both.status, both.body]).toEqual([
      400,
      { message: { 'project_namespace.name': taken, name: taken, path: taken } },
    ])
    const path = await ana.post('/projects', { name: 'Other', path: 'taken' })
    expect(path.body).toEqual({ message: { path: taken } })
    const name = await ana.post('/projects', { name: 'Taken', path: 'other' })
    expect(name.body).toEqual({ message: { 'project_namespace.name': taken, name: taken } })
  })

  test('is refused from a template that is none', async () => {
    for (const template of [{ template_name: 'rails' }, { template_project_id: 799_999 }]) {
      const reply = await ana.post('/projects', { name: 'templated', ...template })
      const [value] = Object.values(template)
      expect([reply.status, reply.body]).toEqual([
        400,
        { message: { template_name: [`'${value}' is unknown or invalid`] } },
      ])
    }
    expect((await ana.get('/projects/ana%2Ftemplated')).status).toBe(404)
    const none = await ana.post('/projects', { name: 'templated', template_name: '' })
    expect(none.status).toBe(201)
  })

  test('fifty times at once with the same name makes one project', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => ben.post('/projects', { name: 'race' })),
    )
    const statuses = replies.map((reply) => reply.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400)).toHaveLength(49)
  })

  test('legacy booleans and access levels set each other, and settings are kept', async () => {
    const { body } = await ana.post('/projects', {
      name: 'settled',
      issues_enabled: false,
      wiki_access_level: 'private',
      public_builds: false,
      merge_method: 'ff',
      topics: ['b', 'a', 'B'],
    })
    expect(body).toMatchObject({
      issues_enabled: false,
      issues_access_level: 'disabled',
      wiki_enabled: true,
      wiki_access_level: 'private',
      public_jobs: false,
      merge_method: 'ff',
      topics: ['b', 'a'],
      tag_list: ['b', 'a'],
    })
    expect(body._links.issues).toBeUndefined()
    const row = await world.ctx.db
      .selectFrom('projects')
      .select('settings')
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow()
    expect(Object.keys(JSON.parse(row.settings)).sort()).toEqual([
      'issues_access_level',
      'merge_method',
      'public_jobs',
      'wiki_access_level',
    ])
  })

  test('a project that never came to be shown is cleared away by its task', async () => {
    const { body } = await ana.post('/projects', { name: 'half' })
    await world.ctx.db
      .updateTable('projects')
      .set({ pending_delete: 1 })
      .where('id', '=', body.id)
      .execute()
    expect((await ana.get(`/projects/${body.id}`)).status).toBe(404)
    world.setNow('2026-05-04T10:10:00.000Z')
    await world.runTasks()
    expect(await world.ctx.git.exists(body.id)).toBe(false)
    expect((await ana.post('/projects', { name: 'half' })).status).toBe(201)
    expect((await ana.get('/projects/ana%2Fsettled')).status).toBe(200)
  })
})
