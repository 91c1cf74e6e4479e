import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let count = 0

async function group(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createGroup(owner, `g${count}`, more)
}

async function project(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createProject(owner, `p${count}`, more)
}

const paths = (reply: { body: { full_path: string }[] }) => reply.body.map((one) => one.full_path)

describe('changing a group', () => {
  test('changes what is sent', async () => {
    const { id } = await group()
    const { status, body } = await ana.put(`/groups/${id}`, {
      description: 'Us',
      project_creation_level: 'maintainer',
      default_branch_protection: 4,
      emails_disabled: true,
      share_with_group_lock: true,
      request_access_enabled: false,
      membership_lock: true,
    })
    expect([status, body]).toMatchObject([
      200,
      {
        description: 'Us',
        project_creation_level: 'maintainer',
        default_branch_protection: 4,
        default_branch_protection_defaults: { developer_can_initial_push: true },
        emails_enabled: false,
        emails_disabled: true,
        share_with_group_lock: true,
        request_access_enabled: false,
        membership_lock: true,
      },
    ])
    expect((await ben.put(`/groups/${id}`, { description: 'x' })).status).toBe(404)
  })

  test('a new path moves everything below; projects redirect, groups do not', async () => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const made = await project({ namespace_id: sub.id })
    const { body } = await ana.put(`/groups/${top.id}`, { path: 'renamed', name: 'Renamed' })
    expect([body.full_path, body.full_name]).toEqual(['renamed', 'Renamed'])
    expect((await ana.get(`/groups/${sub.id}`)).body).toMatchObject({
      full_path: `renamed/${sub.path}`,
      full_name: `Renamed / ${sub.name}`,
    })
    const now = `renamed/${sub.path}/${made.path}`
    expect((await ana.get(`/projects/${encodeURIComponent(now)}`)).body.id).toBe(made.id)
    const old = encodeURIComponent(made.path_with_namespace)
    expect((await ana.get(`/projects/${old}`)).status).toBe(301)
    expect((await ana.get(`/groups/${top.path}`)).status).toBe(404)
    const taken = await group()
    const clash = await ana.put(`/groups/${taken.id}`, { path: 'renamed' })
    expect([clash.status, clash.body]).toEqual([
      400,
      { message: { path: ['has already been taken'] } },
    ])
  })

  test('is not lowered below what it contains', async () => {
    const top = await group({ visibility: 'public' })
    await project({ namespace_id: top.id, visibility: 'public' })
    const reply = await ana.put(`/groups/${top.id}`, { visibility: 'private' })
    expect(reply.status).toBe(400)
    expect(reply.body.message.visibility_level[0]).toContain('projects with higher visibility')
  })

  test('archived, it is read-only with all below', async () => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const made = await project({ namespace_id: sub.id })
    const reply = await ana.post(`/groups/${top.id}/archive`)
    expect([reply.status, reply.body.archived]).toEqual([200, true])
    expect((await ana.get(`/groups/${sub.id}`)).body.archived).toBe(true)
    expect((await ana.get(`/projects/${made.id}`)).body.archived).toBe(true)
    expect((await ana.put(`/projects/${made.id}`, { description: 'x' })).status).toBe(403)
    expect((await ana.post('/projects', { name: 'x', namespace_id: sub.id })).status).toBe(400)
    const back = await ana.post(`/groups/${top.id}/unarchive`)
    expect([back.status, back.body.archived]).toEqual([200, false])
    expect((await ana.put(`/projects/${made.id}`, { description: 'x' })).status).toBe(200)
  })
})

describe('deleting a group', () => {
  test('removes subgroups, projects and repositories, and frees the path', async () => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const made = await project({ namespace_id: sub.id })
    const reply = await ana.delete(`/groups/${top.id}`)
    expect([reply.status, reply.body]).toEqual([202, { message: '202 Accepted' }])
    for (const path of [`/groups/${top.id}`, `/groups/${sub.id}`, `/projects/${made.id}`]) {
      expect((await ana.get(path)).status).toBe(404)
    }
    const old = encodeURIComponent(made.path_with_namespace)
    expect((await ana.get(`/projects/${old}`)).status).toBe(404)
    await group({ name: top.name, path: top.path })
    await world.runTasks()
    expect(await world.ctx.git.exists(made.id)).toBe(false)
    const left = await world.ctx.db
      .selectFrom('namespaces')
      .select('id')
      .where('id', 'in', [top.id, sub.id])
      .execute()
    expect(left).toEqual([])
  })

  test('is in nobody else’s hands, whatever paths they take', async () => {
    const top = await group()
    const made = await project({ namespace_id: top.id })
    await ana.post(`/groups/${top.id}/members`, { user_id: ben.id, access_level: 30 })
    await group({ path: `${top.path}-deleted-${top.id}` }, ben)
    await project({ namespace_id: top.id, path: `${made.path}-deleted-${made.id}` }, ben)
    expect((await ana.delete(`/projects/${made.id}`)).status).toBe(202)
    expect((await ana.delete(`/groups/${top.id}`)).status).toBe(202)
    expect((await ana.get(`/groups/${top.id}`)).status).toBe(404)
  })

  test('needs an owner', async () => {
    const { id } = await group()
    await ana.post(`/groups/${id}/members`, { user_id: ben.id, access_level: 40 })
    expect((await ben.delete(`/groups/${id}`)).status).toBe(403)
  })
})

describe('moving a group', () => {
  test('takes everything with it, and lowers what would be too visible', async () => {
    const target = await group()
    const moved = await group({ visibility: 'public' })
    const made = await project({ namespace_id: moved.id, visibility: 'public' })
    const reply = await ana.post(`/groups/${moved.id}/transfer`, { group_id: target.id })
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { full_path: `${target.path}/${moved.path}`, visibility: 'private', parent_id: target.id },
    ])
    const full = `${target.path}/${moved.path}/${made.path}`
    const seen = await ana.get(`/projects/${encodeURIComponent(full)}`)
    expect([seen.status, seen.body.visibility]).toEqual([200, 'private'])
    await ana.post(`/groups/${target.id}/members`, { user_id: ben.id, access_level: 30 })
    expect((await ben.get(`/projects/${made.id}`)).status).toBe(200)
    const top = await ana.post(`/groups/${moved.id}/transfer`)
    expect(top.body).toMatchObject({ full_path: moved.path, parent_id: null })
    expect((await ben.get(`/projects/${made.id}`)).status).toBe(404)
  })

  test('is refused below itself, twice, and where the path is taken', async () => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const to = (id: number, group_id?: number) => ana.post(`/groups/${id}/transfer`, { group_id })
    expect((await to(top.id, sub.id)).body.message).toContain('one of its subgroup')
    expect((await to(sub.id, top.id)).body.message).toContain('already associated')
    expect((await to(top.id)).body.message).toContain('already a root group')
    const twin = await group({ path: `twin${top.id}` })
    await group({ path: `twin${top.id}`, parent_id: top.id })
    expect((await to(twin.id, top.id)).body.message).toContain('same path')
    const bens = await group({}, ben)
    await ben.post(`/groups/${bens.id}/members`, { user_id: ana.id, access_level: 40 })
    expect((await to(twin.id, bens.id)).body.message).toContain('permissions')
  })

  test('an administrator moves a project into a group', async () => {
    const top = await group()
    const made = await project()
    expect((await ana.post(`/groups/${top.id}/projects/${made.id}`)).status).toBe(404)
    const reply = await world.root.post(`/groups/${top.id}/projects/${made.id}`)
    expect([reply.status, reply.body.projects.length]).toEqual([201, 1])
  })
})

describe('sharing a group', () => {
  test('gives the invited members the lower of both levels in all below', async () => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const made = await project({ namespace_id: sub.id })
    const team = await group()
    await ana.post(`/groups/${team.id}/members`, { user_id: ben.id, access_level: 50 })
    const share = { group_id: team.id, group_access: 30 }
    const reply = await ana.post(`/groups/${top.id}/share`, share)
    expect([reply.status, reply.body.shared_with_groups]).toMatchObject([
      201,
      [{ group_id: team.id, group_access_level: 30, expires_at: null, member_role_id: null }],
    ])
    const seen = await ben.get(`/projects/${made.id}`)
    expect(seen.body.permissions.group_access.access_level).toBe(30)
    expect(paths(await ben.get(`/groups?search=${sub.path}`))).toEqual([sub.full_path])
    expect(paths(await ana.get(`/groups/${team.id}/groups/shared`))).toEqual([top.full_path])
    expect(paths(await ana.get(`/groups/${sub.id}/invited_groups`))).toEqual([team.full_path])
    expect(paths(await ana.get(`/groups/${sub.id}/invited_groups?relation=direct`))).toEqual([])
    expect(paths(await ana.get(`/projects/${made.id}/groups`))).toEqual([
      top.full_path,
      sub.full_path,
    ])
    expect(paths(await ana.get(`/projects/${made.id}/invited_groups`))).toEqual([team.full_path])
    expect((await ana.post(`/groups/${top.id}/share`, share)).status).toBe(409)
    expect((await ana.delete(`/groups/${top.id}/share/${team.id}`)).status).toBe(204)
    expect((await ana.delete(`/groups/${top.id}/share/${team.id}`)).status).toBe(404)
    expect((await ben.get(`/projects/${made.id}`)).status).toBe(404)
  })

  test('places to share with and to move to are listed', async () => {
    const mine = await group({ name: 'Place A', path: 'place-a' })
    const other = await group({ name: 'Place B', path: 'place-b' })
    const made = await project({ namespace_id: mine.id })
    const query = '?search=place'
    expect(paths(await ana.get(`/projects/${made.id}/transfer_locations${query}`))).toEqual([
      'place-b',
    ])
    expect(paths(await ana.get(`/groups/${mine.id}/transfer_locations${query}`))).toEqual([
      'place-b',
    ])
    await ana.post(`/projects/${made.id}/share`, { group_id: other.id, group_access: 10 })
    expect(paths(await ana.get(`/projects/${made.id}/share_locations${query}`))).toEqual([
      'place-a',
    ])
    const shared = await ana.get(`/groups/${other.id}/projects/shared`)
    expect(shared.body.map((one: { id: number }) => one.id)).toEqual([made.id])
  })
})
