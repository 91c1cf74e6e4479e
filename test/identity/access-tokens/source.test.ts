import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const owner = useCaller(world, 'owner')
const maintainer = useCaller(world, 'maintainer')
const developer = useCaller(world, 'developer')
const stranger = useCaller(world, 'stranger')
let groupId: number
let projectId: number

beforeAll(async () => {
  groupId = (await createGroup(owner, 'g')).id
  projectId = (await createProject(owner, 'p', { namespace_id: groupId })).id
  for (const [user, level] of [
    [maintainer, 40],
    [developer, 30],
  ] as const) {
    await owner.post(`/projects/${projectId}/members`, { user_id: user.id, access_level: level })
  }
})

const path = () => `/projects/${projectId}/access_tokens`
const input = { name: 'ci', scopes: ['api'] }

describe('project access tokens', () => {
  test('come with a bot that has the role of the token', async () => {
    const made = await maintainer.post(path(), { ...input, access_level: 30 })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      access_level: 30,
      resource_type: 'project',
      resource_id: projectId,
      token: expect.stringMatching(/^svcpat-/),
    })
    const bot = (await world.as(made.body.token).get('/user')).body
    expect(bot).toMatchObject({ bot: true, name: 'ci' })
    expect(bot.username).toMatch(new RegExp(`^project_${projectId}_bot_[0-9a-f]{32}$`))
    expect((await world.as(made.body.token).get(`/projects/${projectId}`)).status).toBe(200)
    const members = (await owner.get(`/projects/${projectId}/members`)).body
    expect(members).toContainEqual(expect.objectContaining({ id: bot.id, access_level: 30 }))
    expect((await maintainer.get(path())).body[0]).toMatchObject({ access_level: 30 })
    expect((await maintainer.get(path())).body[0]).not.toHaveProperty('token')
    const listed = (await world.root.get('/users?without_project_bots=true&per_page=100')).body
    expect(listed.map((user: { id: number }) => user.id)).not.toContain(bot.id)
  })
  test('lacking the role is 401 or 400, never 403; a hidden project is 404', async () => {
    const made = (await maintainer.post(path(), input)).body
    const one = `${path()}/${made.id}`
    const answers = async (caller: Caller) =>
      Promise.all([
        caller.get(path()),
        caller.get(one),
        caller.post(path(), input),
        caller.delete(one),
        caller.post(`${one}/rotate`),
      ]).then((replies) => replies.map((reply) => reply.status))
    expect(await answers(developer)).toEqual([401, 401, 400, 400, 401])
    expect(await answers(stranger)).toEqual([404, 404, 404, 404, 404])
    expect(await answers(world.nobody)).toEqual([401, 401, 401, 401, 401])
    expect((await developer.post(path(), input)).body).toEqual({
      message: '400 Bad request - User does not have permission to create project access token',
    })
    expect((await stranger.post(path(), { name: 'x' })).body.error).toBe('scopes is missing')
  })
  test('never stand above who makes them', async () => {
    const reply = await maintainer.post(path(), { ...input, access_level: 50 })
    expect([reply.status, reply.body.message]).toEqual([
      400,
      '400 Bad request - Access level of the token contains permissions not held by the creating user',
    ])
    const strong = (await owner.post(path(), { ...input, access_level: 50 })).body
    expect((await maintainer.post(`${path()}/${strong.id}/rotate`)).status).toBe(400)
    expect((await owner.post(path(), { ...input, access_level: 33 })).body.error).toBe(
      'access_level does not have a valid value',
    )
  })
  test('missing ones, and those of others, answer in the words of the reference', async () => {
    const other = (await createProject(owner, 'other')).id
    const made = (await owner.post(`/projects/${other}/access_tokens`, input)).body
    for (const id of [made.id, 99999]) {
      const reply = await maintainer.get(`${path()}/${id}`)
      expect([reply.status, reply.body]).toEqual([
        404,
        { message: '404 project Access Token Not Found' },
      ])
    }
  })
  test('rotate themselves and are revoked', async () => {
    const made = (await maintainer.post(path(), { ...input, scopes: ['self_rotate'] })).body
    const self = world.as(made.token)
    const rotated = await self.post(`${path()}/self/rotate`)
    expect([rotated.status, rotated.body.access_level]).toEqual([200, 40])
    const again = await world.as(rotated.body.token).post(`${path()}/${rotated.body.id}/rotate`)
    expect(again.status).toBe(200)
    expect((await maintainer.delete(`${path()}/${again.body.id}`)).status).toBe(204)
    expect((await world.as(again.body.token).get(`/projects/${projectId}`)).status).toBe(401)
  })
  test('are refused the scope to read profiles', async () => {
    const reply = await maintainer.post(path(), { ...input, scopes: ['read_user'] })
    expect(reply.body.error).toBe('scopes does not have a valid value')
  })
})

test('group access tokens are for owners', async () => {
  const path = `/groups/${groupId}/access_tokens`
  const made = await owner.post(path, { ...input, access_level: 20 })
  expect(made.body).toMatchObject({ resource_type: 'group', resource_id: groupId })
  const bot = (await world.as(made.body.token).get('/user')).body
  expect(bot.username).toMatch(new RegExp(`^group_${groupId}_bot_`))
  expect((await world.as(made.body.token).get(`/projects/${projectId}`)).status).toBe(200)
  expect((await maintainer.get(path)).status).toBe(401)
  expect((await owner.get(`${path}/99999`)).body.message).toBe('404 group Access Token Not Found')
  expect((await owner.delete(`${path}/${made.body.id}`)).status).toBe(204)
})
