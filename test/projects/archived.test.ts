import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { type Reply, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const dan = useCaller(world, 'dan')
const stranger = useCaller(world, 'stranger')
let teamId: number
let elsewhereId: number
beforeAll(async () => {
  const open = { visibility: 'public' }
  teamId = (await createGroup(ana, 'team', open)).id
  elsewhereId = (await createGroup(ana, 'else', open)).id
})

const badge = { link_url: 'https://x.example', image_url: 'https://x.example/b.svg' }
const statusOf = (reply: Reply) => reply.status

function upload(path: string, caller = ana) {
  const form = new FormData()
  form.set('file', new Blob(['x']), 'a.txt')
  return caller.post(`${path}/uploads`, undefined, { raw: form })
}

/** What belongs to a project or group before it is archived. */
async function furnish(path: string) {
  await ana.post(`${path}/members`, { user_id: ben.id, access_level: 30 })
  await dan.post(`${path}/access_requests`)
  await ana.post(`${path}/share`, { group_id: teamId, group_access: 20 })
  await ana.post(`${path}/invitations`, { email: 'guest@example.org', access_level: 10 })
  return {
    badge: (await ana.post(`${path}/badges`, badge)).body.id,
    token: (await ana.post(`${path}/access_tokens`, { name: 't', scopes: ['api'] })).body.id,
    deploy: (await ana.post(`${path}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] }))
      .body.id,
    ...(await withAccount(path)),
  }
}

/** A service account with a token. */
async function withAccount(path: string) {
  const { body: account } = await ana.post(`${path}/service_accounts`, { name: 'robot' })
  const accountPath = `${path}/service_accounts/${account.id}`
  const token = { name: 't', scopes: ['api'] }
  const { body } = await ana.post(`${accountPath}/personal_access_tokens`, token)
  return { account: accountPath, accountToken: `${accountPath}/personal_access_tokens/${body.id}` }
}

/** Each write of what projects and groups have alike, refused with 403 unless another status stands there. */
const givingWrites: readonly [string, (path: string) => Promise<Reply>, number?][] = [
  ['change it', (path) => ana.put(path, { description: 'x' })],
  ['make it public', (path) => ana.put(path, { visibility: 'private' })],
  [
    'add a member',
    (path) => ana.post(`${path}/members`, { user_id: stranger.id, access_level: 10 }),
  ],
  ['let somebody in', (path) => ana.put(`${path}/access_requests/${dan.id}/approve`)],
  ['ask for access', (path) => stranger.post(`${path}/access_requests`)],
  [
    'invite somebody',
    (path) => ana.post(`${path}/invitations`, { email: 'x@example.org', access_level: 10 }),
  ],
  ['share it', (path) => ana.post(`${path}/share`, { group_id: elsewhereId, group_access: 10 })],
  ['add a badge', (path) => ana.post(`${path}/badges`, badge)],
  [
    'make a deploy token',
    (path) => ana.post(`${path}/deploy_tokens`, { name: 'n', scopes: ['read_repository'] }),
  ],
  // The routes of access tokens refuse in their own way (docs/contract/A-resolved §8.4).
  [
    'make an access token',
    (path) => ana.post(`${path}/access_tokens`, { name: 'n', scopes: ['api'] }),
    400,
  ],
]

describe.each(['project', 'group'] as const)('an archived %s', (kind) => {
  let path: string
  let placeId: number
  let kept: Awaited<ReturnType<typeof furnish>> & { readonly runner: number }
  beforeAll(async () => {
    const named = { name: `old ${kind}`, path: `old-${kind}`, visibility: 'public' }
    placeId = (await ana.post(`/${kind}s`, named)).body.id
    path = `/${kind}s/${placeId}`
    const of = kind === 'project' ? { project_id: placeId } : { group_id: placeId }
    const runner = await ana.post('/user/runners', { runner_type: `${kind}_type`, ...of })
    kept = { ...(await furnish(path)), runner: runner.body.id }
    expect((await ana.post(`${path}/archive`)).status).toBe(kind === 'project' ? 201 : 200)
  })

  test.each(givingWrites)('refuses to %s', async (_, write, status = 403) => {
    const before = (await ana.get(path)).body
    expect((await write(path)).status).toBe(status)
    expect((await ana.get(path)).body).toEqual(before)
  })

  test('refuses the same to administrators', async () => {
    const { root } = world
    expect((await root.put(path, { description: 'x' })).status).toBe(403)
    const member = { user_id: stranger.id, access_level: 10 }
    expect((await root.post(`${path}/members`, member)).status).toBe(403)
    const many = { user_id: [stranger.id, world.root.id], access_level: 10 }
    const several = await root.post(`${path}/members`, many)
    expect([several.status, several.body.status]).toEqual([201, 'error'])
    expect((await ana.get(`${path}/members/${stranger.id}`)).status).toBe(404)
  })

  test.each([
    '',
    '/members',
    '/members/all',
    '/access_requests',
    '/invitations',
    '/badges',
    '/deploy_tokens',
    '/access_tokens',
    '/audit_events',
    '/invited_groups',
    '/transfer_locations',
    '/custom_attributes',
  ])('still shows %j', async (list) => {
    expect((await world.root.get(`${path}${list}`)).status).toBe(200)
  })

  test('changes nobody’s access', async () => {
    const guest = `${path}/invitations/guest%40example.org`
    const refused = [
      await ana.put(`${path}/members/${ben.id}`, { access_level: 20 }),
      await world.root.put(`${path}/members/${ben.id}`, { access_level: 40 }),
      await ana.put(guest, { access_level: 40 }),
    ]
    expect(refused.map(statusOf)).toEqual([403, 403, 403])
    expect((await ana.get(`${path}/members/${ben.id}`)).body.access_level).toBe(30)
    // The routes of access tokens refuse in their own way.
    expect((await ana.post(`${path}/access_tokens/${kept.token}/rotate`)).status).toBe(401)
  })

  test('keeps its service accounts as they are, and lets them be taken away', async () => {
    const token = { name: 'n', scopes: ['api'] }
    const refused = [
      await ana.post(`${path}/service_accounts`, { name: 'another' }),
      await ana.patch(kept.account, { name: 'renamed' }),
      await ana.post(`${kept.account}/personal_access_tokens`, token),
      await ana.post(`${kept.accountToken}/rotate`),
    ]
    expect(refused.map(statusOf)).toEqual([403, 403, 403, 403])
    const { body } = await ana.get(`${path}/service_accounts`)
    expect(body).toMatchObject([{ name: 'robot' }])
    expect((await ana.get(`${kept.account}/personal_access_tokens`)).body).toHaveLength(1)
    const taken = [await ana.delete(kept.accountToken), await ana.delete(kept.account)]
    expect(taken.map(statusOf)).toEqual([204, 204])
  })

  test('keeps its runners as they are, and lets them be taken away', async () => {
    const of = kind === 'project' ? { project_id: placeId } : { group_id: placeId }
    const wanted = { runner_type: `${kind}_type`, ...of }
    const refused = [
      await ana.post('/user/runners', wanted),
      await ana.put(`/runners/${kept.runner}`, { paused: true }),
      await ana.post(`/runners/${kept.runner}/reset_authentication_token`),
      await ana.post(`${path}/runners/reset_registration_token`),
    ]
    expect(refused.map(statusOf)).toEqual([403, 403, 403, 403])
    expect((await ana.get(`/runners/${kept.runner}`)).body.paused).toBe(false)
    expect((await ana.delete(`/runners/${kept.runner}`)).status).toBe(204)
  })

  test('lets access be taken away', async () => {
    const replies = [
      await ana.delete(`${path}/members/${ben.id}`),
      await dan.delete(`${path}/access_requests/${dan.id}`),
      await ana.delete(`${path}/invitations/guest%40example.org`),
      await ana.delete(`${path}/deploy_tokens/${kept.deploy}`),
      await ana.delete(`${path}/access_tokens/${kept.token}`),
    ]
    expect(replies.map(statusOf)).toEqual([204, 204, 204, 204, 204])
    expect((await ana.delete(`${path}/badges/${kept.badge}`)).status).toBe(403)
  })

  test('takes all of it again once it is unarchived', async () => {
    await ana.post(`${path}/unarchive`)
    expect((await ana.put(path, { description: 'again' })).status).toBe(200)
    expect((await stranger.post(`${path}/access_requests`)).status).toBe(201)
    const token = { name: 'n', scopes: ['api'] }
    expect((await ana.post(`${path}/access_tokens`, token)).status).toBe(201)
    expect((await ana.post(`${path}/badges`, badge)).status).toBe(201)
  })
})

describe('an archived project', () => {
  let id: number
  let path: string
  let file: { id: number; url: string }
  beforeAll(async () => {
    id = (await createProject(ana, 'kept', { visibility: 'public', initialize_with_readme: true }))
      .id
    path = `/projects/${id}`
    file = (await upload(path)).body
    await ana.post(`${path}/archive`)
  })

  test('takes and loses no files', async () => {
    expect((await upload(path)).status).toBe(403)
    expect((await ana.delete(`${path}/uploads/${file.id}`)).status).toBe(403)
    expect((await ana.delete(`${path}${file.url}`)).status).toBe(403)
    expect((await ana.get(`${path}/uploads`)).body).toHaveLength(1)
    expect((await ana.get(`${path}/uploads/${file.id}`)).body).toBe('x')
  })

  test('is not moved', async () => {
    const reply = await ana.put(`${path}/transfer`, { namespace: elsewhereId })
    expect([reply.status, reply.body]).toEqual([403, { message: '403 Forbidden' }])
    expect((await ana.get(path)).body.path_with_namespace).toBe('ana/kept')
  })

  test('is starred, forked and tidied as before', async () => {
    expect((await ben.post(`${path}/star`)).body.star_count).toBe(1)
    expect((await ben.post(`${path}/unstar`)).body.star_count).toBe(0)
    const fork = await ben.post(`${path}/fork`)
    expect([fork.status, fork.body.archived]).toEqual([201, false])
    expect((await ana.post(`${path}/housekeeping`)).status).toBe(201)
  })

  test('is archived again without any change', async () => {
    const again = await ana.post(`${path}/archive`)
    expect([again.status, again.body.archived]).toEqual([201, true])
  })

  test('is archived and unarchived by its owners alone', async () => {
    const maintainer = await world.user('keeper')
    await ana.post(`${path}/unarchive`)
    await ana.post(`${path}/members`, { user_id: maintainer.id, access_level: 40 })
    expect((await maintainer.post(`${path}/archive`)).status).toBe(403)
    await ana.post(`${path}/archive`)
    expect((await maintainer.post(`${path}/unarchive`)).status).toBe(403)
    expect((await world.nobody.post(`${path}/unarchive`)).status).toBe(401)
  })

  test('can be deleted', async () => {
    expect((await ana.delete(path)).status).toBe(202)
    expect((await ana.get(path)).status).toBe(404)
  })
})

describe('in an archived group', () => {
  let topId: number
  let subId: number
  let insideId: number
  beforeAll(async () => {
    topId = (await createGroup(ana, 'past')).id
    subId = (await createGroup(ana, 'sub', { parent_id: topId })).id
    insideId = (await createProject(ana, 'in', { namespace_id: subId })).id
    await ana.post(`/groups/${topId}/archive`)
  })

  test('nothing is made, moved in or moved away', async () => {
    const project = await ana.post('/projects', { name: 'new', namespace_id: topId })
    expect([project.status, project.body]).toEqual([
      400,
      { message: { namespace: ['is not valid'] } },
    ])
    const group = { name: 'New', path: 'new', parent_id: topId }
    expect((await ana.post('/groups', group)).status).toBe(403)
    const own = (await createProject(ana, 'mover')).id
    expect((await ana.put(`/projects/${own}/transfer`, { namespace: topId })).status).toBe(400)
    expect((await ana.put(`/projects/${insideId}/transfer`, { namespace: 'ana' })).status).toBe(403)
    const moving = (await createGroup(ana, 'mv')).id
    expect((await ana.post(`/groups/${moving}/transfer`, { group_id: topId })).status).toBe(400)
    expect((await ana.post(`/groups/${subId}/transfer`)).status).toBe(403)
  })

  test('a project below is no less archived than one that is archived itself', async () => {
    const path = `/projects/${insideId}`
    expect((await ana.get(path)).body.archived).toBe(true)
    const member = { user_id: ben.id, access_level: 10 }
    expect((await ana.post(`${path}/members`, member)).status).toBe(403)
    expect((await ana.post(`/groups/${subId}/members`, member)).status).toBe(403)
    // Its own mark is another: it stays archived by the group.
    const reply = await ana.post(`${path}/unarchive`)
    expect([reply.status, reply.body.archived]).toEqual([201, true])
  })

  test('a project that was archived by itself stays so when the group is not any more', async () => {
    await ana.post(`/projects/${insideId}/archive`)
    await ana.post(`/groups/${topId}/unarchive`)
    expect((await ana.get(`/projects/${insideId}`)).body.archived).toBe(true)
    await ana.post(`/projects/${insideId}/unarchive`)
    expect((await ana.get(`/projects/${insideId}`)).body.archived).toBe(false)
    await ana.post(`/groups/${topId}/archive`)
  })

  test('is deleted with all below', async () => {
    expect((await ana.delete(`/groups/${topId}`)).status).toBe(202)
    expect((await ana.get(`/projects/${insideId}`)).status).toBe(404)
  })
})
