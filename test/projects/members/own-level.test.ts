import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const owner = useCaller(world, 'owner')
const maintainer = useCaller(world, 'maintainer')
const developer = useCaller(world, 'developer')
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let groupId: number
let projectId: number

beforeAll(async () => {
  groupId = (await createGroup(owner, 'g', { visibility: 'public' })).id
  projectId = (await createProject(owner, 'p', { namespace_id: groupId, visibility: 'public' })).id
  for (const [user, level] of [
    [maintainer, 40],
    [developer, 30],
  ] as const) {
    await owner.post(`/projects/${projectId}/members`, { user_id: user.id, access_level: level })
  }
})

describe('nobody goes beyond the own level', () => {
  test('by rotating the token of a bot that stands above', async () => {
    const path = `/projects/${projectId}/access_tokens`
    const input = { name: 'top', scopes: ['api'], access_level: 50 }
    const { body: made } = await owner.post(path, input)
    const refused = await maintainer.post(`${path}/${made.id}/rotate`)
    expect([refused.status, refused.body.message]).toEqual([
      400,
      '400 Bad request - Access level of the token contains permissions not held by the rotating user',
    ])
    expect((await developer.post(`${path}/${made.id}/rotate`)).status).toBe(401)
    expect((await developer.post(`${path}/9999999/rotate`)).status).toBe(401)
    expect((await owner.post(`${path}/${made.id}/rotate`)).status).toBe(200)
  })

  test('by approving a request for access, or by an invitation', async () => {
    await ana.post(`/projects/${projectId}/access_requests`)
    const approve = `/projects/${projectId}/access_requests/${ana.id}/approve`
    expect((await maintainer.put(approve, { access_level: 50 })).status).toBe(403)
    expect((await developer.put(approve, { access_level: 30 })).status).toBe(403)
    expect((await maintainer.put(approve, { access_level: 45 })).status).toBe(400)
    expect((await maintainer.put(approve, { access_level: 40 })).status).toBe(201)
    const invitations = `/projects/${projectId}/invitations`
    const invited = { email: 'new@example.com', access_level: 50 }
    expect((await maintainer.post(invitations, invited)).body).toEqual({
      status: 'error',
      message: { 'new@example.com': '403 Forbidden' },
    })
    await owner.post(invitations, invited)
    const one = `${invitations}/new%40example.com`
    expect((await maintainer.put(one, { expires_at: '2099-01-01' })).status).toBe(403)
    expect((await maintainer.put(one, { access_level: 30 })).status).toBe(200)
  })

  test('by adding several members, of whom each is answered for', async () => {
    const path = `/projects/${projectId}/members`
    const users = { user_id: `${ben.id},${owner.id}`, access_level: 20 }
    const { status, body } = await developer.post(path, users)
    expect([status, body]).toEqual([
      201,
      { status: 'error', message: { ben: '403 Forbidden', owner: '403 Forbidden' } },
    ])
    expect((await developer.post(path, { user_id: ben.id, access_level: 20 })).status).toBe(403)
    expect((await developer.post(path, { user_id: 9999999, access_level: 20 })).status).toBe(404)
    expect((await developer.post(path, { user_id: developer.id, access_level: 20 })).status).toBe(
      409,
    )
  })

  test('by moving a group below one that somebody else owns', async () => {
    await owner.post(`/groups/${groupId}/members`, { user_id: ben.id, access_level: 40 })
    const own = await createGroup(ben, 'own')
    const moved = await ben.post(`/groups/${own.id}/transfer`, { group_id: groupId })
    expect([moved.status, moved.body.message]).toEqual([
      400,
      "Transfer failed: You don't have enough permissions.",
    ])
  })

  test('by a visibility that the instance keeps to administrators', async () => {
    await world.root.put('/application/settings', { restricted_visibility_levels: ['public'] })
    const refused = await ana.post('/projects', { name: 'open', visibility: 'public' })
    expect([refused.status, refused.body.message]).toEqual([
      400,
      { visibility_level: ['public has been restricted by your administrator'] },
    ])
    const group = { name: 'open', path: 'open-group', visibility: 'public' }
    expect((await ana.post('/groups', group)).status).toBe(400)
    expect((await world.root.post('/groups', group)).status).toBe(201)
    await world.root.put('/application/settings', { restricted_visibility_levels: [] })
  })
})
