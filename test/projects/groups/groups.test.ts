import { describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

async function group(caller: Caller, path: string, more: Record<string, unknown> = {}) {
  return createGroup(caller, path, more)
}

describe('creating a group', () => {
  test('gives a private group with the caller as its owner', async () => {
    const body = await group(ana, 'team', { description: 'Us' })
    expect(body).toMatchObject({
      name: 'Team',
      full_path: 'team',
      full_name: 'Team',
      visibility: 'private',
      parent_id: null,
      description: 'Us',
      project_creation_level: 'developer',
      subgroup_creation_level: 'maintainer',
      default_branch_protection: 2,
      archived: false,
      shared_with_groups: [],
      web_url: `${world.app.config.externalUrl}/groups/team`,
    })
    expect((await ana.get('/groups/team')).body.id).toBe(body.id)
    expect((await ben.get('/groups/team')).status).toBe(404)
  })

  test('asks for name and path', async () => {
    const reply = await ana.post('/groups', {})
    expect([reply.status, reply.body]).toEqual([400, { error: 'name is missing, path is missing' }])
  })

  test('a path that is taken by a group, a user or the server is refused', async () => {
    await group(ana, 'mine')
    for (const path of ['mine', 'MINE', 'ben']) {
      const reply = await ana.post('/groups', { name: 'x', path })
      expect([reply.status, reply.body]).toEqual([
        400,
        { message: 'Failed to save group {:path=>["has already been taken"]}' },
      ])
    }
    for (const path of ['api', 'admin', 'a b', '-a', 'a.git', 'x/y']) {
      expect((await ana.post('/groups', { name: 'x', path })).status).toBe(400)
    }
  })

  test('a subgroup is no more visible than its parent, and needs a right there', async () => {
    const parent = await group(ana, 'closed')
    const open = { name: 'sub', path: 'sub', parent_id: parent.id, visibility: 'public' }
    const reply = await ana.post('/groups', open)
    expect(reply.status).toBe(400)
    expect(reply.body.message).toContain(':visibility_level')
    expect((await ben.post('/groups', { ...open, visibility: 'private' })).status).toBe(404)
    const sub = await group(ana, 'sub', { parent_id: parent.id })
    expect(sub).toMatchObject({ full_path: 'closed/sub', full_name: 'Closed / Sub' })
    const shown = await group(ana, 'shown', { visibility: 'public' })
    expect((await ben.post('/groups', { ...open, parent_id: shown.id })).status).toBe(403)
  })

  test('external users make no groups at the top', async () => {
    const guest = await world.user('guest', { external: true })
    expect((await guest.post('/groups', { name: 'g', path: 'g' })).status).toBe(403)
  })

  test('groups are nested twenty deep at most', async () => {
    let parent = await group(ana, 'd1')
    for (let depth = 2; depth <= 20; depth += 1) {
      parent = await group(ana, `d${depth}`, { parent_id: parent.id })
    }
    const reply = await ana.post('/groups', { name: 'd21', path: 'd21', parent_id: parent.id })
    expect(reply.status).toBe(400)
  })
})

describe('listing groups', () => {
  test('shows what the caller sees, by name; members see what belongs to them', async () => {
    const cay = await world.user('cay')
    const top = await group(cay, 'l-top')
    const sub = await group(cay, 'l-sub', { parent_id: top.id })
    await group(cay, 'l-public', { visibility: 'public' })
    await group(cay, 'l-internal', { visibility: 'internal' })
    const seen = async (caller: Caller, query = '') =>
      (await caller.get(`/groups?search=l-${query}`)).body.map((one: { path: string }) => one.path)
    expect(await seen(cay)).toEqual(['l-internal', 'l-public', 'l-sub', 'l-top'])
    expect(await seen(ben)).toEqual(['l-internal', 'l-public'])
    expect(await seen(world.nobody)).toEqual(['l-public'])
    expect(await seen(ben, '&all_available=false')).toEqual([])
    expect(await seen(cay, '&owned=true&top_level_only=true')).toEqual([
      'l-internal',
      'l-public',
      'l-top',
    ])
    expect(await seen(cay, `&skip_groups[]=${top.id}&sort=desc`)).toEqual([
      'l-sub',
      'l-public',
      'l-internal',
    ])
    const below = await cay.get(`/groups/${top.id}/subgroups`)
    expect(below.body.map((one: { id: number }) => one.id)).toEqual([sub.id])
  })

  test('descendants are all below, subgroups only those directly below', async () => {
    const dee = await world.user('dee')
    const top = await group(dee, 'tree-top')
    const mid = await group(dee, 'tree-mid', { parent_id: top.id })
    await group(dee, 'tree-low', { parent_id: mid.id })
    const paths = async (route: string) =>
      (await dee.get(`/groups/${top.id}/${route}`)).body.map((one: { path: string }) => one.path)
    expect(await paths('subgroups')).toEqual(['tree-mid'])
    expect(await paths('descendant_groups')).toEqual(['tree-low', 'tree-mid'])
  })

  test('projects of a group: its own, with subgroups, and those of subgroups only when asked', async () => {
    const eve = await world.user('eve')
    const top = await group(eve, 'p-top')
    const sub = await group(eve, 'p-sub', { parent_id: top.id })
    for (const [name, namespace_id] of [
      ['one', top.id],
      ['two', sub.id],
    ]) {
      expect((await eve.post('/projects', { name, namespace_id })).status).toBe(201)
    }
    const names = async (query: string) =>
      (await eve.get(`/groups/${top.id}/projects${query}`)).body.map(
        (one: { name: string }) => one.name,
      )
    expect(await names('')).toEqual(['one'])
    expect((await names('?include_subgroups=true')).sort()).toEqual(['one', 'two'])
    const detail = await eve.get(`/groups/${top.id}`)
    expect(detail.body.projects.map((one: { name: string }) => one.name)).toEqual(['one'])
    expect((await eve.get(`/groups/${top.id}?with_projects=false`)).body.projects).toBeUndefined()
  })
})
