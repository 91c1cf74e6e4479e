import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const mona = useCaller(world, 'mona')
const stranger = useCaller(world, 'stranger')
let project: TestProject
let branches: string
let groupId: number

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  branches = `/projects/${project.id}/protected_branches`
  await addMember(world, project.id, dev.id, 30)
  await addMember(world, project.id, mona.id, 40)
  groupId = (await createGroup(ana, 'g')).id
})

describe('protected branches', () => {
  test('are for maintainers unless somebody is named', async () => {
    const made = await mona.post(branches, { name: 'rel/*' })
    expect(made.status).toBe(201)
    const level = {
      id: expect.any(Number),
      access_level: 40,
      access_level_description: 'Maintainers',
      user_id: null,
      group_id: null,
    }
    expect(made.body).toEqual({
      id: expect.any(Number),
      name: 'rel/*',
      push_access_levels: [{ ...level, deploy_key_id: null }],
      merge_access_levels: [level],
      unprotect_access_levels: [level],
      allow_force_push: false,
      code_owner_approval_required: false,
      inherited: false,
    })
    expect((await mona.post(branches, { name: 'rel/*' })).body).toEqual({
      message: "Protected branch 'rel/*' already exists",
    })
    expect((await dev.get(`${branches}/rel%2F%2A`)).body.name).toBe('rel/*')
    expect((await dev.get(`${branches}?search=el/`)).body).toHaveLength(1)
    expect((await dev.get(`${branches}?search=%25`)).body).toHaveLength(0)
  })

  test('are changed, unprotected and read by those who may', async () => {
    expect((await dev.post(branches, { name: 'x' })).status).toBe(403)
    expect((await stranger.get(branches)).status).toBe(404)
    expect((await dev.patch(`${branches}/rel%2F%2A`, { allow_force_push: true })).status).toBe(403)
    expect((await dev.delete(`${branches}/rel%2F%2A`)).status).toBe(403)
    expect((await mona.get(`${branches}/nothing`)).body).toEqual({ message: '404 Not found' })
  })

  test('refuse levels that mean nothing, nobody or somebody twice', async () => {
    const bad = await mona.post(branches, { name: 'a', unprotect_access_level: 0 })
    expect([bad.status, bad.body]).toEqual([
      400,
      { error: 'unprotect_access_level does not have a valid value' },
    ])
    const twice = await mona.post(branches, {
      name: 'a',
      push_access_level: 30,
      allowed_to_push: [{ access_level: 30 }],
    })
    expect([twice.status, twice.body]).toEqual([
      422,
      { message: ['Push access levels access level has already been taken'] },
    ])
    const outsider = await mona.post(branches, {
      name: 'a',
      allowed_to_merge: [{ user_id: stranger.id }],
    })
    expect([outsider.status, outsider.body]).toEqual([
      422,
      { message: ['Merge access levels user is not a member of the project'] },
    ])
    const group = await mona.post(branches, { name: 'a', allowed_to_push: [{ group_id: groupId }] })
    expect(group.status).toBe(422)
    const key = await mona.post(branches, { name: 'a', allowed_to_push: [{ deploy_key_id: 99 }] })
    expect(key.status).toBe(422)
    expect((await mona.get(`${branches}/a`)).status).toBe(404)
    const ignored = await mona.post(branches, {
      name: 'key-ignored',
      allowed_to_merge: [{ deploy_key_id: 99 }],
    })
    expect(ignored.body.merge_access_levels).toMatchObject([{ access_level: 40 }])
  })

  test('change level by level', async () => {
    const made = await mona.post(branches, {
      name: 'stable',
      allowed_to_push: [{ access_level: 30 }, { user_id: dev.id }],
      merge_access_level: 0,
    })
    expect(made.body.push_access_levels).toMatchObject([
      { access_level: 30, access_level_description: 'Developers + Maintainers' },
      { user_id: dev.id, access_level_description: 'dev' },
    ])
    expect(made.body.merge_access_levels).toMatchObject([{ access_level_description: 'No one' }])
    const [byRole, byUser] = made.body.push_access_levels
    const changed = await mona.patch(`${branches}/stable`, {
      allow_force_push: true,
      allowed_to_push: [
        { id: byRole.id, user_id: mona.id },
        { id: byUser.id, _destroy: true },
        { access_level: 40 },
      ],
    })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      allow_force_push: true,
      push_access_levels: [{ id: byRole.id, user_id: mona.id }, { access_level: 40 }],
      merge_access_levels: [{ access_level: 0 }],
    })
    const foreign = await mona.patch(`${branches}/stable`, {
      allowed_to_merge: [{ id: byRole.id, _destroy: true }],
    })
    expect(foreign.status).toBe(404)
    const blank = await mona.patch(`${branches}/stable`, { allow_force_push: '' })
    expect([blank.status, blank.body]).toEqual([400, { error: 'allow_force_push is empty' }])
    const all = changed.body.push_access_levels.map((level: { id: number }) => ({
      id: level.id,
      _destroy: true,
    }))
    const none = await mona.patch(`${branches}/stable`, { allowed_to_push: all })
    expect(none.body.push_access_levels).toEqual([])
  })

  test('are unprotected by those whom the rule names, and by nobody else', async () => {
    await mona.post(branches, { name: 'mine', allowed_to_unprotect: [{ user_id: dev.id }] })
    expect((await mona.delete(`${branches}/mine`)).status).toBe(403)
    expect((await mona.patch(`${branches}/mine`, { allow_force_push: true })).status).toBe(403)
    expect((await dev.delete(`${branches}/mine`)).status).toBe(204)
    expect((await dev.delete(`${branches}/mine`)).status).toBe(404)
  })

  test('of a group hold in its projects, and are changed only there', async () => {
    const inside = await createProject(ana, 'inside', { namespace_id: groupId })
    const made = await ana.post(`/groups/${groupId}/protected_branches`, { name: 'prod' })
    expect(made.status).toBe(201)
    const seen = await ana.get(`/projects/${inside.id}/protected_branches/prod`)
    expect(seen.body).toMatchObject({ name: 'prod', inherited: true })
    const path = `/projects/${inside.id}/protected_branches/prod`
    expect((await ana.delete(path)).status).toBe(404)
    const group = `/groups/${groupId}/protected_branches`
    expect((await mona.get(group)).status).toBe(404)
    expect((await ana.get(`${group}/none`)).body).toEqual({
      message: '404 ProtectedBranch Not Found',
    })
    const changed = await ana.patch(`${group}/prod`, { allowed_to_push: [{ access_level: 30 }] })
    expect(changed.body.push_access_levels).toHaveLength(2)
    expect((await ana.get(group)).body).toHaveLength(1)
    expect((await ana.delete(`${group}/prod`)).status).toBe(204)
    expect((await ana.get(group)).body).toEqual([])
  })
})

describe('protected tags', () => {
  test('are made once for each pattern, by maintainers', async () => {
    const tags = `/projects/${project.id}/protected_tags`
    const made = await mona.post(tags, { name: 'v*', create_access_level: 30 })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'v*', create_access_levels: [{ access_level: 30 }] })
    const again = await mona.post(tags, { name: 'v*' })
    expect([again.status, again.body]).toEqual([422, { message: ['Name has already been taken'] }])
    const named = await mona.post(tags, {
      name: 'w*',
      allowed_to_create: [{ user_id: dev.id }],
    })
    expect(named.body.create_access_levels).toMatchObject([{ user_id: dev.id }])
    expect((await dev.get(tags)).status).toBe(403)
    expect((await mona.get(tags)).body).toHaveLength(2)
    expect((await mona.get(`${tags}/v%2A`)).body.name).toBe('v*')
    const refused = await stranger.post(`/projects/${project.id}/repository/tags`, {})
    expect(refused.status).toBe(404)
    expect((await mona.delete(`${tags}/v%2A`)).status).toBe(204)
    expect((await mona.get(`${tags}/v%2A`)).status).toBe(404)
  })
})

describe('protected environments', () => {
  test('of a project name who may deploy and who must approve', async () => {
    const path = `/projects/${project.id}/protected_environments`
    const missing = await mona.post(path, { name: 'production' })
    expect(missing.body).toEqual({ error: 'deploy_access_levels is missing' })
    const made = await mona.post(path, {
      name: 'production',
      deploy_access_levels: [{ access_level: 40 }, { user_id: dev.id }],
      approval_rules: [{ access_level: 40, required_approvals: 2 }],
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'production',
      deploy_access_levels: [
        { access_level: 40, access_level_description: 'Maintainers', group_inheritance_type: 0 },
        { user_id: dev.id },
      ],
      required_approval_count: 0,
      approval_rules: [{ access_level: 40, required_approvals: 2 }],
    })
    const again = await mona.post(path, {
      name: 'production',
      deploy_access_levels: [{ access_level: 40 }],
    })
    expect([again.status, again.body]).toEqual([
      409,
      { message: "Environment 'production' is already protected" },
    ])
    const [first, second] = made.body.deploy_access_levels
    const both = await mona.put(`${path}/production`, {
      deploy_access_levels: [{ id: first.id, user_id: mona.id }],
    })
    expect(both.status).toBe(422)
    const changed = await mona.put(`${path}/production`, {
      deploy_access_levels: [
        { id: first.id, user_id: mona.id, access_level: null },
        { id: second.id, _destroy: true },
      ],
    })
    expect(changed.body.deploy_access_levels).toMatchObject([{ id: first.id, user_id: mona.id }])
    const bare = await mona.put(`${path}/production`, {
      approval_rules: [{ required_approvals: 1 }],
    })
    expect(bare.status).toBe(400)
    expect((await mona.get(path)).body).toHaveLength(1)
    expect((await dev.get(path)).status).toBe(403)
    expect((await mona.delete(`${path}/production`)).status).toBe(204)
    expect((await mona.get(`${path}/production`)).body).toEqual({ message: '404 Not found' })
  })

  test('of a group are tiers, for its owners, and name maintainers', async () => {
    const path = `/groups/${groupId}/protected_environments`
    const level = [{ access_level: 40 }]
    expect((await ana.post(path, { name: 'prod', deploy_access_levels: level })).status).toBe(422)
    const outsider = [{ user_id: stranger.id }]
    expect((await ana.post(path, { name: 'staging', deploy_access_levels: outsider })).status).toBe(
      422,
    )
    const nobody = await ana.post(path, { name: 'staging', deploy_access_levels: [{}] })
    expect(nobody.status).toBe(422)
    const made = await ana.post(path, { name: 'staging', deploy_access_levels: level })
    expect(made.status).toBe(201)
    const again = await ana.post(path, { name: 'staging', deploy_access_levels: level })
    expect(again.body).toEqual({ message: "Protected environment 'staging' already exists" })
    const changed = await ana.put(`${path}/staging`, { required_approval_count: 2 })
    expect(changed.body.required_approval_count).toBe(2)
    expect((await ana.get(path)).body).toHaveLength(1)
    expect((await ana.get(`${path}/staging`)).body.name).toBe('staging')
    const gone = await ana.delete(`${path}/staging`)
    expect([gone.status, gone.body.name]).toEqual([200, 'staging'])
  })
})
