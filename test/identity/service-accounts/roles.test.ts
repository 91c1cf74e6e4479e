import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, type Reply, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let owner: Caller
let groupId: number
let projectId: number
beforeAll(async () => {
  root = world.root
  owner = await world.user('owner')
  groupId = (await createGroup(owner, 'g')).id
  projectId = (await createProject(owner, 'p', { namespace_id: groupId })).id
})

const answer = ({ status, body }: Reply) => [status, body]
const made = (reply: Reply) => {
  expect([reply.status, reply.body.message]).toEqual([201, undefined])
  return reply.body
}
const scopes = ['api']

describe.each(['groups', 'projects'] as const)('service accounts of %s', (kind) => {
  const source = () => `/${kind}/${kind === 'groups' ? groupId : projectId}`
  const accounts = () => `${source()}/service_accounts`
  let admin: Caller
  let accountId: number
  let one: string
  let tokens: string
  beforeAll(async () => {
    // Each caller makes ten a minute at most.
    admin = await world.user(`admin-${kind}`, { admin: true })
    accountId = made(await admin.post(accounts(), { username: `first-${kind}` })).id
    one = `${accounts()}/${accountId}`
    tokens = `${one}/personal_access_tokens`
  })

  /** All eight, those that remove something last. */
  async function answers(by: Caller): Promise<number[]> {
    const removable = made(await admin.post(accounts()))
    const rotated = made(await admin.post(tokens, { name: 't', scopes }))
    const revoked = made(await admin.post(tokens, { name: 't', scopes }))
    const replies = [
      await by.get(accounts()),
      await by.post(accounts()),
      await by.patch(one, { name: 'Changed' }),
      await by.get(tokens),
      await by.post(tokens, { name: 't', scopes }),
      await by.post(`${tokens}/${rotated.id}/rotate`),
      await by.delete(`${tokens}/${revoked.id}`),
      await by.delete(`${accounts()}/${removable.id}`),
    ]
    return replies.map((reply) => reply.status)
  }
  const all = [200, 201, 200, 200, 201, 200, 204, 204]
  const none = (status: number) => Array(8).fill(status)

  test.each([10, 20, 30, 40, 50])('for members of the level %i', async (level) => {
    const member = await world.user(`${kind}-${level}`)
    made(await owner.post(`${source()}/members`, { user_id: member.id, access_level: level }))
    const may = level >= (kind === 'groups' ? 50 : 40)
    expect(await answers(member)).toEqual(may ? all : none(403))
  })

  test('for strangers, nobody and administrators', async () => {
    const stranger = await world.user(`stranger-${kind}`)
    expect(await answers(stranger)).toEqual(none(404))
    expect(await answers(world.nobody)).toEqual(none(401))
    const reader = world.as(await world.token(owner.id, ['read_api']))
    expect(await answers(reader)).toEqual([200, 403, 403, 200, 403, 403, 403, 403])
    expect(await answers(root)).toEqual(all)
  })

  test('are asked for the caller and the place before their parameters', async () => {
    const stranger = await world.user(`late-${kind}`)
    const wrong = { name: 't', scopes: ['none'] }
    expect((await world.nobody.post(tokens, wrong)).status).toBe(401)
    expect((await stranger.post(tokens, wrong)).status).toBe(404)
    expect(answer(await owner.post(tokens, wrong))).toEqual([
      400,
      { error: 'scopes does not have a valid value' },
    ])
    expect(answer(await owner.get(`${accounts()}?sort=up`))).toEqual([
      400,
      { error: 'sort does not have a valid value' },
    ])
  })

  test('are found in their own place alone', async () => {
    const ofInstance = made(await root.post('/service_accounts'))
    const path = (await owner.post(`/${kind}`, { name: `${kind}-b`, path: `${kind}-b` })).body.id
    const beside = `/${kind}/${path}/service_accounts`
    for (const reply of [
      await owner.patch(`${beside}/${accountId}`, { name: 'x' }),
      await owner.delete(`${beside}/${accountId}`),
      await owner.get(`${beside}/${accountId}/personal_access_tokens`),
      await owner.patch(`${accounts()}/${ofInstance.id}`, { name: 'x' }),
      await owner.delete(`${accounts()}/${owner.id}`),
      await owner.delete(`${accounts()}/99999`),
    ])
      expect(answer(reply)).toEqual([404, { message: '404 User Not Found' }])
    expect((await owner.get(beside)).body).toEqual([])
  })

  test('have tokens of their own: that of another account is not found', async () => {
    const other = made(await owner.post(accounts()))
    const path = `${accounts()}/${other.id}/personal_access_tokens`
    const { id } = made(await owner.post(tokens, { name: 't', scopes }))
    expect(answer(await owner.delete(`${path}/${id}`))).toEqual([
      404,
      { message: '404 Personal Access Token Not Found' },
    ])
    expect((await owner.post(`${path}/${id}/rotate`)).status).toBe(404)
    expect((await owner.get(path)).body).toEqual([])
    const listed = (await owner.get(`${tokens}?state=active&per_page=100`)).body
    expect(listed.map((one: { id: number }) => one.id)).toContain(id)
  })

  test.each([
    [{ name: ' ' }, "Name can't be blank"],
    [{ scopes: [] }, "Scopes can't be blank"],
    [{ scopes: ['sudo'] }, 'Scopes can only contain available scopes'],
    [{ description: 'x'.repeat(256) }, 'Description is too long (maximum is 255 characters)'],
    [{ name: '', scopes: [] }, "Name can't be blank, Scopes can't be blank"],
  ])('get no token with %j', async (wrong, message) => {
    const before = (await owner.get(tokens)).headers.get('x-total')
    const reply = await owner.post(tokens, { name: 't', scopes, ...wrong })
    expect(answer(reply)).toEqual([422, { message }])
    expect((await owner.get(tokens)).headers.get('x-total')).toBe(before)
  })

  test('get tokens of these scopes, which reach no further', async () => {
    const wanted = ['read_api', 'read_repository', 'read_user', 'self_rotate']
    const input = { name: 'Reads', description: 'Looks only', scopes: wanted }
    const token = made(await owner.post(tokens, { ...input, expires_at: '2026-06-01' }))
    expect(token).toMatchObject({ ...input, expires_at: '2026-06-01', user_id: accountId })
    const reader = world.as(token.token)
    expect((await reader.get('/user')).body.id).toBe(accountId)
    expect((await reader.post('/projects', { name: 'x' })).status).toBe(403)
    const rotated = await reader.post('/personal_access_tokens/self/rotate')
    expect(rotated.body).toMatchObject({ ...input, expires_at: '2026-05-11' })
  })

  test('make no projects and groups of their own, and no tokens of others', async () => {
    const token = made(await owner.post(tokens, { name: 't', scopes }))
    const robot = world.as(token.token)
    expect((await robot.post('/groups', { name: 'r', path: `r-${kind}` })).status).toBe(403)
    expect((await robot.post(accounts())).status).toBe(404)
    expect((await robot.get(`/personal_access_tokens?user_id=${owner.id}`)).status).toBe(401)
  })

  test('are paged by number, and by keyset', async () => {
    const all = (await owner.get(`${accounts()}?per_page=100`)).body
    const ids = all.map((one: { id: number }) => one.id)
    expect(ids).toEqual([...ids].sort((one, other) => other - one))
    const second = await owner.get(`${accounts()}?per_page=2&page=2`)
    expect(second.body).toEqual(all.slice(2, 4))
    expect(second.headers.get('x-total')).toBe(String(all.length))
    const seen: number[] = []
    let path = `${accounts()}?pagination=keyset&per_page=2&order_by=id&sort=desc`
    for (let pages = 0; path !== '' && pages < 20; pages++) {
      const reply = await owner.get(path)
      seen.push(...reply.body.map((one: { id: number }) => one.id))
      const next = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
      path = next ? next.slice(next.indexOf('/api/v4') + 7) : ''
    }
    expect(seen).toEqual(ids)
  })
})

test('administrators may keep the accounts of groups to themselves, those of projects not', async () => {
  const setting = 'allow_top_level_group_owners_to_create_service_accounts'
  await root.put('/application/settings', { [setting]: false })
  expect(answer(await owner.post(`/groups/${groupId}/service_accounts`))).toEqual([
    400,
    {
      message:
        '400 Bad request - User does not have permission to create a service account in this namespace.',
    },
  ])
  expect((await owner.get(`/groups/${groupId}/service_accounts`)).status).toBe(200)
  made(await root.post(`/groups/${groupId}/service_accounts`))
  made(await owner.post(`/projects/${projectId}/service_accounts`))
  await root.put('/application/settings', { [setting]: true })
  made(await owner.post(`/groups/${groupId}/service_accounts`))
})

test('one makes ten accounts a minute in groups and projects at most', async () => {
  const eager = await world.user('eager')
  const { id } = await createProject(eager, 'busy')
  const replies = []
  for (let n = 0; n < 11; n++) replies.push(await eager.post(`/projects/${id}/service_accounts`))
  expect(replies.map((reply) => reply.status)).toEqual([...Array(10).fill(201), 429])
  expect((await eager.get(`/projects/${id}/service_accounts`)).body).toHaveLength(10)
})

describe('service accounts of the instance', () => {
  test('are for administrators, who are asked for before parameters', async () => {
    const { id } = made(await root.post('/service_accounts'))
    for (const [by, status] of [
      [owner, 403],
      [world.nobody, 401],
    ] as const) {
      expect((await by.get('/service_accounts?sort=up')).status).toBe(status)
      expect((await by.post('/service_accounts', { name: { a: 1 } })).status).toBe(status)
      expect((await by.patch(`/service_accounts/${id}`, { name: 'x' })).status).toBe(status)
    }
    expect((await root.get('/service_accounts?sort=up')).body).toEqual({
      error: 'sort does not have a valid value',
    })
  })

  test('are changed in each part alone, and get tokens as any user does', async () => {
    const input = { name: 'Robot', username: 'robot', email: 'robot@example.com' }
    const account = made(await root.post('/service_accounts', input))
    expect(account).toEqual({ id: account.id, ...input })
    const patch = async (changes: object) =>
      answer(await root.patch(`/service_accounts/${account.id}`, changes))
    expect(await patch({ name: 'R2' })).toEqual([200, { ...account, name: 'R2' }])
    expect(await patch({ username: 'r2' })).toEqual([
      200,
      { ...account, name: 'R2', username: 'r2' },
    ])
    expect(await patch({ email: 'owner@example.com' })).toEqual([
      400,
      { message: '400 Bad request - Email has already been taken' },
    ])
    const path = `/users/${account.id}/personal_access_tokens`
    const { token } = made(await root.post(path, { name: 't', scopes }))
    expect((await world.as(token).get('/user')).body).toMatchObject({ username: 'r2', bot: true })
    expect((await root.delete(`/users/${account.id}`)).status).toBe(204)
    await world.runTasks()
    expect((await world.as(token).get('/user')).status).toBe(401)
    expect(await patch({ name: 'x' })).toEqual([404, { message: '404 Not found' }])
  })

  test('may be given a role anywhere, unlike those of a group or project', async () => {
    const account = made(await root.post('/service_accounts'))
    const own = made(await root.post(`/projects/${projectId}/service_accounts`))
    const member = (user_id: number) =>
      owner.post(`/groups/${groupId}/members`, { user_id, access_level: 30 })
    expect((await member(account.id)).status).toBe(201)
    // The group stands above the project.
    expect((await member(own.id)).status).toBe(400)
  })
})
