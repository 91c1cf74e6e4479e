import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const ids: Record<string, number> = {}
let projectId: number

async function group(name: string, more: Record<string, unknown> = {}, owner = ana) {
  const { id } = await createGroup(owner, name, more)
  ids[name] = id
}

beforeAll(async () => {
  await group('top', { visibility: 'public' })
  await group('sub', { parent_id: ids.top, visibility: 'public' })
  await group('deep', { parent_id: ids.sub, visibility: 'public' })
  await group('friends', { visibility: 'public' })
  await group('secret')
  await group('bens', { visibility: 'public' }, ben)
  projectId = (await createProject(ana, 'p', { namespace_id: ids.sub, visibility: 'public' })).id
  await ana.post(`/projects/${projectId}/share`, { group_id: ids.friends, group_access: 30 })
  await ana.post(`/groups/${ids.top}/share`, { group_id: ids.secret, group_access: 20 })
})

/** The paths of the groups in a list, by name. */
async function paths(caller: Caller, path: string): Promise<string[]> {
  const { status, body } = await caller.get(path)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return body.map((one: { full_path: string }) => one.full_path)
}

describe('the groups of a project', () => {
  test.each([
    ['', ['top/sub', 'top']],
    ['?search=TOP', ['top/sub', 'top']],
    ['?search=friends', []],
    ['?with_shared=true', ['friends', 'secret', 'top/sub', 'top']],
    ['?with_shared=true&shared_min_access_level=30', ['friends', 'top/sub', 'top']],
    ['?with_shared=true&shared_min_access_level=40', ['top/sub', 'top']],
    ['?with_shared=true&shared_visible_only=true&search=secret', ['secret']],
    ['?per_page=1&page=2', ['top']],
  ])('above it and invited to it are listed by %j', async (query, expected) => {
    expect(await paths(ana, `/projects/${projectId}/groups${query}`)).toEqual(expected)
  })

  test('are those that are not skipped', async () => {
    const path = `/projects/${projectId}/groups?skip_groups[]=${ids.top}`
    expect(await paths(ana, path)).toEqual(['top/sub'])
  })

  test('are shown as far as the caller sees them', async () => {
    const path = `/projects/${projectId}/groups?with_shared=true`
    expect(await paths(ben, path)).toEqual(['friends', 'top/sub', 'top'])
    expect(await paths(world.nobody, path)).toEqual(['friends', 'top/sub', 'top'])
    const [first] = (await ana.get(path)).body
    expect(first).toEqual({
      id: ids.friends,
      web_url: `${world.app.config.externalUrl}/groups/friends`,
      name: 'Friends',
      avatar_url: null,
      full_name: 'Friends',
      full_path: 'friends',
    })
  })

  test.each([
    ['', ['friends', 'secret']],
    ['?relation=direct', ['friends']],
    ['?relation[]=inherited', ['friends', 'secret']],
    ['?search=sec', ['secret']],
    ['?min_access_level=50', ['friends', 'secret']],
  ])('invited to it are listed by %j', async (query, expected) => {
    expect(await paths(ana, `/projects/${projectId}/invited_groups${query}`)).toEqual(expected)
  })

  test('invited to it are known to those who see them', async () => {
    const path = `/projects/${projectId}/invited_groups`
    expect(await paths(ben, path)).toEqual(['friends'])
    expect(await paths(ben, `${path}?min_access_level=10`)).toEqual([])
  })

  test.each([
    ['shared_min_access_level=x', 'shared_min_access_level is invalid'],
    ['skip_groups=x', 'skip_groups is invalid'],
    ['with_shared=x', 'with_shared is invalid'],
  ])('are not asked for with %s', async (query, error) => {
    const reply = await ana.get(`/projects/${projectId}/groups?${query}`)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })
})

describe('the places that a project is offered', () => {
  test('to be shared with leave out those that it is shared with', async () => {
    const found = await paths(ana, `/projects/${projectId}/share_locations`)
    expect(found).not.toContain('friends')
    expect(found).toContain('bens')
    expect(await paths(ana, `/projects/${projectId}/share_locations?search=ben`)).toEqual(['bens'])
  })

  test('to be moved to take it', async () => {
    const offered = await paths(ana, `/projects/${projectId}/transfer_locations`)
    expect(offered).not.toContain('bens')
    expect(offered).not.toContain('top/sub')
    for (const full of ['top', 'friends']) {
      expect(offered).toContain(full)
      const moved = await ana.put(`/projects/${projectId}/transfer`, { namespace: full })
      expect([moved.status, moved.body.namespace.full_path]).toEqual([200, full])
    }
    const back = await ana.put(`/projects/${projectId}/transfer`, { namespace: ids.sub })
    expect(back.status).toBe(200)
  })

  test('are shown to those who may share or move it', async () => {
    await ana.post(`/projects/${projectId}/members`, { user_id: ben.id, access_level: 40 })
    expect((await ben.get(`/projects/${projectId}/share_locations`)).status).toBe(200)
    expect((await ben.get(`/projects/${projectId}/transfer_locations`)).status).toBe(403)
    await ana.put(`/projects/${projectId}/members/${ben.id}`, { access_level: 30 })
    expect((await ben.get(`/projects/${projectId}/share_locations`)).status).toBe(403)
    expect((await world.nobody.get(`/projects/${projectId}/share_locations`)).status).toBe(401)
    await ana.delete(`/projects/${projectId}/members/${ben.id}`)
  })
})

describe('the places that a group is offered', () => {
  test('are those it can be moved to: not itself, not below, not where it is', async () => {
    expect(await paths(ana, `/groups/${ids.sub}/transfer_locations`)).toEqual(['friends', 'secret'])
    expect(await paths(ana, `/groups/${ids.deep}/transfer_locations`)).toEqual([
      'friends',
      'secret',
      'top',
    ])
    expect(await paths(ana, `/groups/${ids.top}/transfer_locations?search=f`)).toEqual(['friends'])
  })

  test('all take it', async () => {
    for (const { id, full_path: full } of (await ana.get(`/groups/${ids.deep}/transfer_locations`))
      .body) {
      const moved = await ana.post(`/groups/${ids.deep}/transfer`, { group_id: id })
      expect([moved.status, moved.body.full_path]).toEqual([201, `${full}/deep`])
    }
    const back = await ana.post(`/groups/${ids.deep}/transfer`, { group_id: ids.sub })
    expect(back.status).toBe(201)
    // On its way it was in a private group.
    expect(back.body.visibility).toBe('private')
    await ana.put(`/groups/${ids.deep}`, { visibility: 'public' })
  })

  test('are shown to its owners only', async () => {
    expect((await ben.get(`/groups/${ids.top}/transfer_locations`)).status).toBe(403)
    expect((await world.nobody.get(`/groups/${ids.top}/transfer_locations`)).status).toBe(401)
  })
})

describe('groups that were shared with each other', () => {
  test('know each other from both sides, as far as the caller sees them', async () => {
    await ana.post(`/groups/${ids.deep}/share`, { group_id: ids.friends, group_access: 10 })
    expect(await paths(ana, `/groups/${ids.friends}/groups/shared`)).toEqual(['top/sub/deep'])
    expect(await paths(ana, `/groups/${ids.secret}/groups/shared`)).toEqual(['top'])
    expect(await paths(ana, `/groups/${ids.deep}/invited_groups`)).toEqual(['friends', 'secret'])
    expect(await paths(ben, `/groups/${ids.deep}/invited_groups`)).toEqual(['friends'])
    expect(await paths(ana, `/groups/${ids.deep}/invited_groups?relation=direct`)).toEqual([
      'friends',
    ])
    expect(await paths(ana, `/groups/${ids.deep}/invited_groups?search=SEC`)).toEqual(['secret'])
    expect((await ben.get(`/groups/${ids.secret}/groups/shared`)).status).toBe(404)
  })

  test('forget each other on the day on which it ends', async () => {
    const share = { group_id: ids.bens, group_access: 10, expires_at: '2026-05-06' }
    expect((await ana.post(`/groups/${ids.top}/share`, share)).status).toBe(201)
    expect(await paths(ana, `/groups/${ids.bens}/groups/shared`)).toEqual(['top'])
    world.setNow('2026-05-06T00:00:00.000Z')
    expect(await paths(ana, `/groups/${ids.bens}/groups/shared`)).toEqual([])
    expect(await paths(ana, `/groups/${ids.top}/invited_groups`)).toEqual(['secret'])
    // It can be made anew, though nobody has cleared the old one away.
    const again = await ana.post(`/groups/${ids.top}/share`, { ...share, expires_at: null })
    expect([again.status, again.body.shared_with_groups.length]).toEqual([201, 2])
    world.setNow('2026-05-04T10:00:00.000Z')
    expect((await ana.delete(`/groups/${ids.top}/share/${ids.bens}`)).status).toBe(204)
  })

  test.each([
    [{ group_access: 30 }, { error: 'group_id is missing' }],
    [{ group_id: 1 }, { error: 'group_access is missing' }],
    [{ group_id: 'x', group_access: 30 }, { error: 'group_id is invalid' }],
  ])('are not shared by %j', async (body, answer) => {
    const reply = await ana.post(`/groups/${ids.top}/share`, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test('may be the same one, as programs that share with all below a group do, which gives nobody more', async () => {
    const at = `/groups/${ids.top}`
    const members = (await ana.get(`${at}/members/all`)).body
    const projects = (await ana.get(`${at}/projects`)).body
    const itself = await ana.post(`${at}/share`, { group_id: ids.top, group_access: 50 })
    expect([itself.status, (await ana.get(`${at}/members/all`)).body]).toEqual([201, members])
    expect((await ana.get(`${at}/projects`)).body).toEqual(projects)
    expect((await ana.delete(`${at}/share/${ids.top}`)).status).toBe(204)
  })

  test('are never one that is not seen', async () => {
    const share = (group_id: number | undefined, group_access = 30) =>
      ana.post(`/groups/${ids.top}/share`, { group_id, group_access })
    expect((await share(999_999)).body).toEqual({ message: '404 Group Not Found' })
    expect((await share(ids.friends, 33)).body).toEqual({
      message: { group_access: ['is not included in the list'] },
    })
  })

  test('at once by many are shared once', async () => {
    const share = { group_id: ids.friends, group_access: 10 }
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => ana.post(`/groups/${ids.top}/share`, share)),
    )
    const statuses = replies.map((reply) => reply.status).toSorted()
    expect(statuses).toEqual([201, ...Array(9).fill(409)])
    const gone = await Promise.all(
      Array.from({ length: 5 }, () => ana.delete(`/groups/${ids.top}/share/${ids.friends}`)),
    )
    expect(gone.map((reply) => reply.status).toSorted()).toEqual([204, 404, 404, 404, 404])
  })
})

describe('those who starred a project', () => {
  test('are listed from the first on, narrowed and paged, as long as they are active', async () => {
    const fans = [await world.user('fan-a'), await world.user('fan-b'), await world.user('fan-c')]
    for (const [hour, fan] of fans.entries()) {
      world.setNow(`2026-05-04T1${hour}:00:00.000Z`)
      await fan.post(`/projects/${projectId}/star`)
    }
    world.setNow('2026-05-04T10:00:00.000Z')
    const names = async (query = '') =>
      (await ana.get(`/projects/${projectId}/starrers${query}`)).body.map(
        (one: { user: { username: string } }) => one.user.username,
      )
    expect(await names()).toEqual(['fan-a', 'fan-b', 'fan-c'])
    expect(await names('?search=FAN-B')).toEqual(['fan-b'])
    expect(await names('?per_page=1&page=3')).toEqual(['fan-c'])
    await world.root.post(`/users/${fans[1]?.id}/block`)
    expect(await names()).toEqual(['fan-a', 'fan-c'])
    await world.root.post(`/users/${fans[1]?.id}/unblock`)
    const [first] = (await world.nobody.get(`/projects/${projectId}/starrers`)).body
    expect(first).toMatchObject({
      starred_since: '2026-05-04T10:00:00.000Z',
      user: { username: 'fan-a', web_url: `${world.app.config.externalUrl}/fan-a` },
    })
  })

  test('at once count once each', async () => {
    const { id } = await createProject(ana, 'starry', { visibility: 'public' })
    const path = `/projects/${id}`
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, at) => (at % 2 ? ana : ben).post(`${path}/star`)),
    )
    const statuses = replies.map((reply) => reply.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(2)
    expect(statuses.filter((status) => status === 304)).toHaveLength(10)
    expect((await ana.get(path)).body.star_count).toBe(2)
    await Promise.all([ana.post(`${path}/unstar`), ben.post(`${path}/unstar`)])
    expect((await ana.get(path)).body.star_count).toBe(0)
  })

  test('are gone with their account', async () => {
    const { id } = await createProject(ana, 'left', { visibility: 'public' })
    const fan = await world.user('leaver')
    await fan.post(`/projects/${id}/star`)
    await world.root.delete(`/users/${fan.id}?hard_delete=true`)
    await world.runTasks()
    expect((await ana.get(`/projects/${id}`)).body.star_count).toBe(0)
    expect((await ana.get(`/projects/${id}/starrers`)).body).toEqual([])
  })
})

describe('namespaces', () => {
  test('count members and projects below them, without those that have ended', async () => {
    const count = async () => (await ana.get(`/namespaces/${ids.top}`)).body
    expect(await count()).toMatchObject({ members_count_with_descendants: 1, projects_count: 1 })
    const member = { user_id: ben.id, access_level: 30, expires_at: '2026-05-06' }
    await ana.post(`/groups/${ids.deep}/members`, member)
    expect((await count()).members_count_with_descendants).toBe(2)
    world.setNow('2026-05-06T00:00:00.000Z')
    expect((await count()).members_count_with_descendants).toBe(1)
    world.setNow('2026-05-04T10:00:00.000Z')
    await createProject(ana, 'q', { namespace_id: ids.deep })
    expect((await count()).projects_count).toBe(2)
    const { body } = await ana.get('/projects/top%2Fsub%2Fdeep%2Fq')
    await ana.delete(`/projects/${body.id}`)
    expect((await count()).projects_count).toBe(1)
    await ana.delete(`/groups/${ids.deep}/members/${ben.id}`)
  })

  test.each([
    ['ana', 200],
    ['ANA', 200],
    ['top%2Fsub', 200],
    ['Top%2FSUB', 200],
    ['top/sub', 404],
    ['bens', 404],
    ['ben', 404],
    ['0', 404],
    ['-1', 404],
    ['9007199254740993', 404],
    ['%20', 404],
  ])('by the name %j answer %i', async (name, status) => {
    expect((await ana.get(`/namespaces/${name}`)).status).toBe(status)
  })

  test('of users exist, and are suggested another name; projects are none', async () => {
    const asked = async (path: string) => (await ana.get(`/namespaces/${path}/exists`)).body
    expect(await asked('Ben')).toEqual({ exists: true, suggests: ['Ben1'] })
    expect(await asked('p')).toEqual({ exists: false, suggests: [] })
    for (const name of ['ben1', 'ben2', 'ben3', 'ben4']) await group(name, {}, ben)
    const { suggests } = await asked('ben')
    expect(suggests).toHaveLength(1)
    // Beyond four tries a number of the clock follows, which nobody has.
    expect(suggests[0]).toMatch(/^ben\d{2,}$/)
    expect(await asked(suggests[0])).toEqual({ exists: false, suggests: [] })
  })
})
