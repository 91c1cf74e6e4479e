import { beforeAll, describe, expect, test } from 'vitest'
import { signInWithBasic } from '../../../src/access/authentication/sign-in-basic.ts'
import { findVisibleProject } from '../../../src/access/subjects.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const owner = useCaller(world, 'owner')
const maintainer = useCaller(world, 'maintainer')
const stranger = useCaller(world, 'stranger')
let groupId: number
let publicId: number
let privateId: number

beforeAll(async () => {
  groupId = (await createGroup(owner, 'g', { visibility: 'public' })).id
  const project = async (name: string, visibility: string) =>
    (await createProject(owner, name, { namespace_id: groupId, visibility })).id
  publicId = await project('open', 'public')
  privateId = await project('closed', 'private')
  await owner.post(`/groups/${groupId}/members`, { user_id: maintainer.id, access_level: 40 })
})

const input = { name: 'd', scopes: ['read_repository'] }
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const paths = { projects: '', groups: '' }
let otherPath: string
beforeAll(async () => {
  const open = { visibility: 'public' }
  const group = await createGroup(ana, 'tokens', open)
  const project = await createProject(ana, 'p', { namespace_id: group.id, ...open })
  paths.groups = `/groups/${group.id}`
  paths.projects = `/projects/${project.id}`
  otherPath = `/projects/${(await createProject(ana, 'other')).id}`
})

test('a project’s token is made, listed, read and removed', async () => {
  const path = `/projects/${privateId}/deploy_tokens`
  const made = await maintainer.post(path, {
    name: 'deploy',
    scopes: ['write_registry', 'read_repository', 'read_registry'],
    expires_at: '2026-06-01',
  })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: made.body.id,
    name: 'deploy',
    username: `svc+deploy-token-${made.body.id}`,
    expires_at: '2026-06-01T00:00:00.000Z',
    scopes: ['read_repository', 'read_registry', 'write_registry'],
    revoked: false,
    expired: false,
    token: expect.stringMatching(/^svcdt-/),
  })
  const { token, ...shown } = made.body
  expect((await maintainer.get(path)).body).toEqual([shown])
  expect((await maintainer.get(`${path}/${made.body.id}`)).body).toEqual(shown)
  expect((await world.root.get('/deploy_tokens?per_page=100')).body).toContainEqual(shown)
  expect((await maintainer.get('/deploy_tokens')).status).toBe(403)
  expect((await maintainer.delete(`${path}/${made.body.id}`)).status).toBe(204)
  const gone = await maintainer.get(`${path}/${made.body.id}`)
  expect([gone.status, gone.body]).toEqual([404, { message: '404 Not found' }])
  await expect(
    signInWithBasic(world.ctx, { user: shown.username, password: token }),
  ).rejects.toMatchObject({ status: 401 })
})

test('strangers get 404 on a private project and 403 on a public one, never 401', async () => {
  for (const caller of [world.nobody, stranger]) {
    expect((await caller.get(`/projects/${privateId}/deploy_tokens`)).status).toBe(404)
    expect((await caller.get(`/projects/${publicId}/deploy_tokens`)).status).toBe(403)
    expect((await caller.get(`/groups/${groupId}/deploy_tokens`)).status).toBe(403)
    const wrong = await caller.post(`/projects/${privateId}/deploy_tokens`, { name: 'x' })
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'scopes is missing' }])
  }
  expect((await world.nobody.get('/deploy_tokens')).status).toBe(401)
  expect((await world.nobody.get('/deploy_tokens?active=maybe')).status).toBe(400)
})

test('a group’s tokens are listed by maintainers, made and removed by owners', async () => {
  const path = `/groups/${groupId}/deploy_tokens`
  expect((await maintainer.post(path, input)).status).toBe(403)
  const made = await owner.post(path, input)
  expect(made.status).toBe(201)
  expect((await maintainer.get(path)).body).toHaveLength(1)
  expect((await maintainer.delete(`${path}/${made.body.id}`)).status).toBe(403)
  const virtual = await owner.post(path, { name: 'v', scopes: ['read_virtual_registry'] })
  expect(virtual.body).toEqual({ error: 'scopes does not have a valid value' })
  const foreign = await owner.get(`/projects/${publicId}/deploy_tokens/${made.body.id}`)
  expect(foreign.body).toEqual({ message: '404 Not found' })
})

test.each([
  [{ name: 'x', scopes: [] }, "Scopes can't be blank"],
  [{ name: '', scopes: ['read_registry'] }, "Name can't be blank"],
  [
    { ...input, username: 'a b' },
    "Username can contain only letters, digits, '_', '-', '+', and '.'",
  ],
  [{ ...input, name: 'x'.repeat(256) }, 'Name is too long (maximum is 255 characters)'],
])('refuses %j', async (body, message) => {
  const reply = await owner.post(`/projects/${publicId}/deploy_tokens`, body)
  expect([reply.status, reply.body]).toEqual([400, { message }])
})

test.each([
  ['a time ends at that time', '2026-05-04T12:30:00+02:00', '2026-05-04T10:30:00.000Z'],
  ['a day lives through that day', '2026-05-04', '2026-05-05T00:00:00.000Z'],
])('a token that was given %s', async (_, expires_at, end) => {
  const path = `/projects/${privateId}/deploy_tokens`
  const made = (await owner.post(path, { ...input, expires_at })).body
  const find = async (query: string) =>
    (await owner.get(`${path}?${query}`)).body.find((one: { id: number }) => one.id === made.id)
  const signsIn = async () => {
    const given = { user: made.username, password: made.token }
    return (await signInWithBasic(world.ctx, given)).kind === 'deploy_token'
  }
  world.setNow(new Date(Date.parse(end) - 1).toISOString())
  expect(await find('active=true')).toMatchObject({ expired: false })
  expect(await signsIn()).toBe(true)
  world.setNow(end)
  expect(await find('active=true')).toBeUndefined()
  expect(await find('')).toMatchObject({ expired: true })
  expect(await signsIn().catch(() => false)).toBe(false)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('a token opens its project, a group’s token everything below the group, and nothing else', async () => {
  const ofGroup = (await owner.post(`/groups/${groupId}/deploy_tokens`, input)).body
  const ofProject = (await owner.post(`/projects/${privateId}/deploy_tokens`, input)).body
  const other = (await createProject(owner, 'elsewhere')).id
  const sees = async (made: { username: string; token: string }, id: number) => {
    const actor = await signInWithBasic(world.ctx, { user: made.username, password: made.token })
    return (await findVisibleProject({ ...world.ctx, actor }, String(id))) !== undefined
  }
  expect(await sees(ofGroup, privateId)).toBe(true)
  expect(await sees(ofGroup, other)).toBe(false)
  expect(await sees(ofProject, privateId)).toBe(true)
  expect(await sees(ofProject, other)).toBe(false)
  for (const headers of [
    { 'DEPLOY-TOKEN': ofProject.token },
    { 'PRIVATE-TOKEN': ofProject.token },
  ] as const) {
    expect((await world.nobody.get(`/projects/${privateId}`, { headers })).status).toBe(401)
  }
})

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

  test('is made from a form, too', async () => {
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
  ])('given the username %j has one like %s', async (username, expected) => {
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

  test('is found at the address of its own place only', async () => {
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

  test('is audited when it is made and when it is deleted', async () => {
    const { id, token } = await make({ name: 'audited' })
    await ana.delete(`${tokens()}/${id}`)
    const { body } = await ana.get(`${paths[kind]}/audit_events?per_page=100`)
    const events = body
      .filter((one: { details: { token_id?: number } }) => one.details.token_id === id)
      .map((one: { event_name: string; author_id: number }) => [one.event_name, one.author_id])
    expect(events).toEqual([
      ['deploy_token_deleted', ana.id],
      ['deploy_token_created', ana.id],
    ])
    expect(JSON.stringify(body)).not.toContain(token)
  })

  test.each([10, 20, 30, 40, 50])(
    'is seen, made and deleted as the level %i may',
    async (level) => {
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
    },
  )
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

  test('of a project are deleted with it', async () => {
    const { id } = await createProject(ana, 'brief')
    const made = (await ana.post(`/projects/${id}/deploy_tokens`, input)).body
    await ana.delete(`/projects/${id}`)
    await world.runTasks()
    const left = (await world.root.get('/deploy_tokens?per_page=100')).body
    expect(left.map((one: { id: number }) => one.id)).not.toContain(made.id)
  })
})
