import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

async function group(path: string, more: Record<string, unknown> = {}, owner = ana) {
  return createGroup(owner, path, more)
}

describe('namespaces', () => {
  test('are the own one and the groups one belongs to; administrators see all', async () => {
    const team = await group('team', { visibility: 'public' })
    const sub = await group('sub', { parent_id: team.id })
    const kinds = async (caller: Caller, query = '') =>
      (await caller.get(`/namespaces${query}`)).body.map(
        (one: { full_path: string }) => one.full_path,
      )
    expect(await kinds(ana)).toEqual(['ana', 'team', 'team/sub'])
    expect(await kinds(ana, '?top_level_only=true&search=te')).toEqual(['team'])
    expect(await kinds(ana, '?search=team/s&full_path_search=true')).toEqual(['team/sub'])
    expect(await kinds(ben)).toEqual(['ben'])
    expect((await kinds(world.root)).length).toBeGreaterThan(4)
    await ana.post(`/groups/${sub.id}/members`, { user_id: ben.id, access_level: 30 })
    expect(await kinds(ben)).toEqual(['ben', 'team/sub'])
    expect(await kinds(ben, '?owned_only=true')).toEqual(['ben'])
    expect((await world.nobody.get('/namespaces')).status).toBe(401)
  })

  test('show more to those who administer them', async () => {
    const own = await ana.get('/namespaces/team')
    expect(own.body).toMatchObject({
      kind: 'group',
      parent_id: null,
      web_url: `${world.app.config.externalUrl}/groups/team`,
      members_count_with_descendants: 2,
      projects_count: 0,
      billable_members_count: 2,
      plan: 'default',
    })
    const seen = await ben.get('/namespaces/team%2Fsub')
    expect(seen.body.billable_members_count).toBeNull()
    expect(seen.body).not.toHaveProperty('plan')
    const personal = await ana.get('/namespaces/ana')
    expect(personal.body).toMatchObject({
      kind: 'user',
      web_url: `${world.app.config.externalUrl}/ana`,
    })
  })

  test('need membership, even public ones', async () => {
    const reply = await ben.get('/namespaces/team')
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Namespace Not Found' }])
    expect((await ben.get('/namespaces/ana')).status).toBe(404)
    expect((await world.root.get('/namespaces/ana')).status).toBe(200)
  })

  test('exist or not below one parent, with a suggestion that collides with no path or name', async () => {
    const asked = async (path: string) => (await ben.get(`/namespaces/${path}`)).body
    expect(await asked('nobody-here/exists')).toEqual({ exists: false, suggests: [] })
    expect(await asked('TEAM/exists')).toEqual({ exists: true, suggests: ['TEAM1'] })
    await group('team1')
    await group('other', { name: 'Team2' })
    expect(await asked('team/exists')).toEqual({ exists: true, suggests: ['team3'] })
    expect(await asked('sub/exists')).toEqual({ exists: false, suggests: [] })
    const parent = (await ana.get('/groups/team')).body.id
    expect(await asked(`sub/exists?parent_id=${parent}`)).toEqual({
      exists: true,
      suggests: ['sub1'],
    })
    expect(await asked('sub/exists?parent_id=99999')).toEqual({ exists: false, suggests: [] })
    expect((await ben.get('/namespaces/sub/exists?parent_id=x')).status).toBe(400)
  })

  test('look-ups are limited to twenty a minute for each user', async () => {
    const cay = await world.user('cay')
    for (let time = 0; time < 20; time += 1) {
      expect((await cay.get('/namespaces/x/exists')).status).toBe(200)
    }
    const over = await cay.get('/namespaces/x/exists')
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '60'])
  })
})

describe('group activity', () => {
  test('counts what was made in the last ninety days in the group and below', async () => {
    const top = await group('active')
    const sub = await group('below', { parent_id: top.id })
    const project = await createProject(ana, 'p', { namespace_id: sub.id })
    for (const title of ['one', 'two']) {
      expect((await ana.post(`/projects/${project.id}/issues`, { title })).status).toBe(201)
    }
    const count = async (caller: Caller, what: string) =>
      (await caller.get(`/analytics/group_activity/${what}?group_path=active`)).body
    expect(await count(ana, 'issues_count')).toEqual({ issues_count: 2 })
    expect(await count(ana, 'merge_requests_count')).toEqual({ merge_requests_count: 0 })
    expect(await count(ana, 'new_members_count')).toEqual({ new_members_count: 1 })
    world.setNow('2026-08-03T10:00:00.001Z')
    expect(await count(ana, 'issues_count')).toEqual({ issues_count: 0 })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('refuses in order: sign-in, parameter, group', async () => {
    const path = '/analytics/group_activity/issues_count'
    expect((await world.nobody.get(path)).status).toBe(401)
    expect((await ana.get(path)).body).toEqual({ error: 'group_path is missing' })
    expect((await ana.get(`${path}?group_path=none`)).body).toEqual({
      message: '404 Group Not Found',
    })
  })
})
