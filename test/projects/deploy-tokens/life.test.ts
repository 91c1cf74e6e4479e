import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const paths = { projects: '', groups: '' }
let otherPath: string
beforeAll(async () => {
  const open = { visibility: 'public' }
  const group = await createGroup(ana, 'g', open)
  const project = await createProject(ana, 'p', { namespace_id: group.id, ...open })
  paths.groups = `/groups/${group.id}`
  paths.projects = `/projects/${project.id}`
  otherPath = `/projects/${(await createProject(ana, 'other')).id}`
})

const input = { name: 'd', scopes: ['read_repository'] }

describe.each(['projects', 'groups'] as const)('a deploy token of %s', (kind) => {
  const tokens = () => `${paths[kind]}/deploy_tokens`

  async function make(more: Record<string, unknown> = {}) {
    const { status, body } = await ana.post(tokens(), { ...input, ...more })
    expect([status, body.message ?? body.error]).toEqual([201, undefined])
    return body
  }

  test.each([
    ['a list', ['read_registry', 'read_repository']],
    ['a text with commas', 'read_registry, read_repository'],
    ['twice the same', ['read_repository', 'read_registry', 'read_repository']],
  ])('has its scopes in their order, given as %s', async (_, scopes) => {
    expect((await make({ scopes })).scopes).toEqual(['read_repository', 'read_registry'])
  })

  test('is made by a form, too', async () => {
    const form = new URLSearchParams([
      ['name', 'form'],
      ['scopes[]', 'read_registry'],
      ['scopes[]', 'write_registry'],
      ['username', 'robot'],
      ['expires_at', ''],
    ])
    const { status, body } = await ana.post(tokens(), undefined, { raw: form })
    expect([status, body]).toMatchObject([
      201,
      { scopes: ['read_registry', 'write_registry'], username: 'robot', expires_at: null },
    ])
  })

  test.each([null, '', undefined])('has no end when it is given %j', async (expires_at) => {
    expect(await make({ expires_at })).toMatchObject({ expires_at: null, expired: false })
  })

  test.each([
    [null, /^svc\+deploy-token-\d+$/],
    ['', /^svc\+deploy-token-\d+$/],
    ['a-b_c+d.E9', /^a-b_c\+d\.E9$/],
    ['x'.repeat(255), /^x{255}$/],
  ])('is called by the username %j as %s', async (username, expected) => {
    expect((await make({ username })).username).toMatch(expected)
  })

  test.each([
    [{ name: undefined }, { error: 'name is missing' }],
    [{ name: undefined, scopes: undefined }, { error: 'name is missing, scopes is missing' }],
    [{ scopes: ['api'] }, { error: 'scopes does not have a valid value' }],
    [{ scopes: ['read_repository', 'sudo'] }, { error: 'scopes does not have a valid value' }],
    [{ scopes: '' }, { message: "Scopes can't be blank" }],
    [{ name: '  ' }, { message: "Name can't be blank" }],
    [{ expires_at: 'tomorrow' }, { error: 'expires_at is invalid' }],
    [
      { username: 'x'.repeat(256) },
      { message: 'Username is too long (maximum is 255 characters)' },
    ],
    [
      { name: '', scopes: [], username: 'ä' },
      {
        message:
          "Name can't be blank, Scopes can't be blank, Username can contain only letters, digits, '_', '-', '+', and '.'",
      },
    ],
  ])('is not made with %j', async (more, answer) => {
    const before = (await ana.get(`${tokens()}?per_page=100`)).body
    const reply = await ana.post(tokens(), { ...input, ...more })
    expect([reply.status, reply.body]).toEqual([400, answer])
    expect((await ana.get(`${tokens()}?per_page=100`)).body).toEqual(before)
  })

  test('shows its secret once, and is kept as a digest', async () => {
    const { token, ...shown } = await make()
    expect(token).toMatch(/^svcdt-[\w-]{20,}$/)
    for (const path of [`${tokens()}/${shown.id}`, `${tokens()}?per_page=100`])
      expect(JSON.stringify((await ana.get(path)).body)).not.toContain(token)
    const row = await world.ctx.db
      .selectFrom('deploy_tokens')
      .selectAll()
      .where('id', '=', shown.id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(token)
  })

  test('is found in its own place alone', async () => {
    const { id } = await make()
    const elsewhere = [otherPath, paths[kind === 'projects' ? 'groups' : 'projects']]
    for (const place of elsewhere)
      for (const verb of ['get', 'delete'] as const) {
        const reply = await ana[verb](`${place}/deploy_tokens/${id}`)
        expect([reply.status, reply.body]).toEqual([404, { message: '404 Not found' }])
      }
    const odd = await ana.get(`${tokens()}/x`)
    expect([odd.status, odd.body]).toEqual([400, { error: 'token_id is invalid' }])
    expect((await ana.delete(`${tokens()}/${id}`)).status).toBe(204)
    expect((await ana.delete(`${tokens()}/${id}`)).status).toBe(404)
  })

  test('is listed with the others by id, in pages, or only while it is active', async () => {
    const ended = await make({ expires_at: '2026-05-04T12:00:00Z' })
    const lasting = await make()
    const ids = async (query: string) =>
      (await ana.get(`${tokens()}?per_page=100&${query}`)).body.map((one: { id: number }) => one.id)
    const all = await ids('')
    expect(all).toEqual(all.toSorted((a: number, b: number) => a - b))
    world.setNow('2026-05-04T13:00:00.000Z')
    expect(await ids('active=true')).not.toContain(ended.id)
    expect(await ids('active=true')).toContain(lasting.id)
    for (const query of ['active=false', 'active=', ''])
      expect(await ids(query)).toContain(ended.id)
    expect((await ana.get(`${tokens()}/${ended.id}`)).body.expired).toBe(true)
    world.setNow('2026-05-04T10:00:00.000Z')
    const page = await ana.get(`${tokens()}?per_page=1&page=2`)
    expect([page.body[0].id, page.headers.get('x-total')]).toEqual([all[1], String(all.length)])
  })

  test('is on the audit trail when it comes and when it goes', async () => {
    const { id, token } = await make({ name: 'audited' })
    await ana.delete(`${tokens()}/${id}`)
    const { body } = await ana.get(`${paths[kind]}/audit_events?per_page=100`)
    const told = body
      .filter((one: { details: { token_id?: number } }) => one.details.token_id === id)
      .map((one: { event_name: string; author_id: number }) => [one.event_name, one.author_id])
    expect(told).toEqual([
      ['deploy_token_deleted', ana.id],
      ['deploy_token_created', ana.id],
    ])
    expect(JSON.stringify(body)).not.toContain(token)
  })

  test.each([10, 20, 30, 40, 50])('at level %i is seen and made as the role may', async (level) => {
    const { id } = await make()
    await ana.post(`${paths[kind]}/members`, { user_id: ben.id, access_level: level })
    const seen = level >= 40
    const made = kind === 'projects' ? level >= 40 : level >= 50
    const replies = [
      await ben.get(tokens()),
      await ben.get(`${tokens()}/${id}`),
      await ben.post(tokens(), input),
      await ben.delete(`${tokens()}/${id}`),
    ]
    expect(replies.map((reply) => reply.status)).toEqual([
      seen ? 200 : 403,
      seen ? 200 : 403,
      made ? 201 : 403,
      made ? 204 : 403,
    ])
    await ana.delete(`${paths[kind]}/members/${ben.id}?skip_subresources=true`)
  })
})

describe('all deploy tokens of the instance', () => {
  test('are for administrators, from the first on, in pages and only the active ones', async () => {
    const { body } = await world.root.get('/deploy_tokens?per_page=100')
    const ids = body.map((one: { id: number }) => one.id)
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => a - b))
    expect(body[0]).not.toHaveProperty('token')
    const page = await world.root.get('/deploy_tokens?per_page=2&page=2')
    expect(page.body.map((one: { id: number }) => one.id)).toEqual(ids.slice(2, 4))
    const { id } = (
      await ana.post(`${otherPath}/deploy_tokens`, { ...input, expires_at: '2026-05-05' })
    ).body
    world.setNow('2026-05-07T00:00:00.000Z')
    const active = (await world.root.get('/deploy_tokens?active=true&per_page=100')).body
    expect(active.map((one: { id: number }) => one.id)).not.toContain(id)
    world.setNow('2026-05-04T10:00:00.000Z')
    expect((await ana.get('/deploy_tokens')).status).toBe(403)
  })

  test('of a project that is gone are gone with it', async () => {
    const { id } = await createProject(ana, 'brief')
    const made = (await ana.post(`/projects/${id}/deploy_tokens`, input)).body
    await ana.delete(`/projects/${id}`)
    await world.runTasks()
    const left = (await world.root.get('/deploy_tokens?per_page=100')).body
    expect(left.map((one: { id: number }) => one.id)).not.toContain(made.id)
  })
})
