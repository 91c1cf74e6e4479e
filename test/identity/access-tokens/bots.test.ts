import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let groupId: number
let projectId: number
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

let count = 0
beforeEach(async () => {
  count += 1
  groupId = (await createGroup(ana, `g${count}`)).id
  projectId = (await createProject(ana, `p${count}`, { namespace_id: groupId })).id
})

const input = { name: 'Robot', scopes: ['api'] }

describe.each(['project', 'group'] as const)('the bot of a %s token', (kind) => {
  const place = () => (kind === 'project' ? `/projects/${projectId}` : `/groups/${groupId}`)
  const make = async (more: object = {}) => {
    const made = await ana.post(`${place()}/access_tokens`, { ...input, ...more })
    expect([made.status, made.body.message]).toEqual([201, undefined])
    return made.body
  }

  test('is called after its place, and is a maintainer without an end unless the request says otherwise', async () => {
    const made = await make()
    expect(made).toMatchObject({
      access_level: 40,
      resource_type: kind,
      resource_id: kind === 'project' ? projectId : groupId,
      expires_at: '2027-05-04',
      description: null,
    })
    const user = (await root.get(`/users/${made.user_id}`)).body
    expect(user).toMatchObject({ bot: true, name: 'Robot', state: 'active' })
    const id = kind === 'project' ? projectId : groupId
    expect(user.username).toMatch(new RegExp(`^${kind}_${id}_bot_[0-9a-f]{32}$`))
    const member = (await ana.get(`${place()}/members/${made.user_id}`)).body
    expect(member).toMatchObject({ access_level: 40, expires_at: null })
  })

  test.each([10, 15, 20, 30, 40, 50])('has the level %i when asked for', async (access_level) => {
    const made = await make({ access_level })
    expect(made.access_level).toBe(access_level)
    expect((await ana.get(`${place()}/access_tokens/${made.id}`)).body).toMatchObject({
      access_level,
    })
  })

  test.each([0, 5, 25, 60])('has not the level %i', async (access_level) => {
    const reply = await ana.post(`${place()}/access_tokens`, { ...input, access_level })
    expect([reply.status, reply.body]).toEqual([
      400,
      { error: 'access_level does not have a valid value' },
    ])
  })

  test('works in its place and nowhere else', async () => {
    const bot = world.as((await make()).token)
    expect((await bot.get(place())).status).toBe(200)
    const other = await createProject(ana, `other${count}`)
    expect((await bot.get(`/projects/${other.id}`)).status).toBe(404)
    expect((await bot.get('/user')).body.bot).toBe(true)
    const below = await bot.get(`/projects/${projectId}`)
    expect(below.status).toBe(200)
  })

  test('is shut out when the token is revoked, which stays in the list', async () => {
    const made = await make()
    expect((await ana.delete(`${place()}/access_tokens/${made.id}`)).status).toBe(204)
    expect((await world.as(made.token).get('/user')).status).toBe(401)
    expect((await ana.get(`${place()}/access_tokens`)).body).toMatchObject([
      { id: made.id, revoked: true, active: false },
    ])
    expect((await ana.get(`${place()}/access_tokens?state=active`)).body).toEqual([])
  })

  test('makes no tokens of its own, which would outlive the one that it was made with', async () => {
    const bot = world.as((await make()).token)
    const reply = await bot.post('/user/personal_access_tokens', {
      name: 'Spare',
      scopes: ['self_rotate'],
    })
    expect([reply.status, reply.body]).toEqual([400, { message: 'Not permitted to create' }])
    expect((await bot.get('/personal_access_tokens')).body).toHaveLength(1)
  })

  test('is left out of lists of users that want no bots', async () => {
    const { user_id: botId } = await make()
    const ids = async (query: string) =>
      (await root.get(`/users?per_page=100&${query}`)).body.map((one: { id: number }) => one.id)
    expect(await ids('')).toContain(botId)
    expect(await ids('without_project_bots=true')).not.toContain(botId)
    expect(await ids('humans=true')).not.toContain(botId)
  })

  test.each([
    [{ name: ' ' }, "Name can't be blank"],
    [{ scopes: [] }, "Scopes can't be blank"],
    [{ expires_at: '2026-05-03' }, 'Expires at cannot be a date in the past'],
    [{ expires_at: '2027-05-05' }, 'Expires at must be before 2027-05-04'],
  ])('is not made with %j', async (wrong, sentence) => {
    const reply = await ana.post(`${place()}/access_tokens`, { ...input, ...wrong })
    expect([reply.status, reply.body]).toEqual([400, { message: `400 Bad request - ${sentence}` }])
    expect((await ana.get(`${place()}/access_tokens`)).body).toEqual([])
  })
})
