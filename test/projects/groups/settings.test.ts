import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

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

const join = (groupId: number, user: Caller, access_level: number) =>
  ana.post(`/groups/${groupId}/members`, { user_id: user.id, access_level })

const settings: readonly (readonly [name: string, preset: unknown, other: unknown])[] = [
  ['description', '', 'Us'],
  ['visibility', 'private', 'public'],
  ['share_with_group_lock', false, true],
  ['require_two_factor_authentication', false, true],
  ['two_factor_grace_period', 48, 12],
  ['project_creation_level', 'developer', 'noone'],
  ['subgroup_creation_level', 'maintainer', 'owner'],
  ['auto_devops_enabled', null, true],
  ['emails_enabled', true, false],
  ['mentions_disabled', null, true],
  ['lfs_enabled', true, false],
  ['default_branch', null, 'trunk'],
  ['default_branch_protection', 2, 1],
  ['request_access_enabled', true, false],
  ['shared_runners_setting', 'enabled', 'disabled_and_overridable'],
  ['max_artifacts_size', null, 7],
  ['wiki_access_level', 'enabled', 'private'],
  ['prevent_sharing_groups_outside_hierarchy', false, true],
  ['prevent_forking_outside_group', null, true],
  ['membership_lock', false, true],
  ['shared_runners_minutes_limit', null, 100],
  ['extra_shared_runners_minutes_limit', null, 10],
  ['ip_restriction_ranges', null, '10.0.0.0/8'],
]

const presets = Object.fromEntries(settings.map(([name, preset]) => [name, preset]))
const others = Object.fromEntries(settings.map(([name, , other]) => [name, other]))

describe('settings of a group', () => {
  test('have their presets in a new one, are kept as they are changed, and go back', async () => {
    const { id } = await group()
    expect((await ana.get(`/groups/${id}`)).body).toMatchObject(presets)
    const changed = await ana.put(`/groups/${id}`, others)
    expect([changed.status, changed.body]).toMatchObject([200, others])
    expect((await ana.get(`/groups/${id}`)).body).toMatchObject(others)
    // Null is false for what is on or off.
    const off = { auto_devops_enabled: false, mentions_disabled: false }
    const back = { ...presets, ...off, prevent_forking_outside_group: false }
    expect((await ana.put(`/groups/${id}`, presets)).body).toMatchObject(back)
  })

  test('are given at creation as well, as JSON or as a form', async () => {
    expect(await group(others)).toMatchObject(others)
    const form = new URLSearchParams({ name: 'Form', path: 'by-form' })
    for (const [name, , other] of settings) form.set(name, String(other))
    const made = await ana.post('/groups', undefined, { raw: form })
    expect([made.status, made.body]).toMatchObject([201, others])
  })

  test.each([
    [
      'project_creation_level',
      'everybody',
      { error: 'project_creation_level does not have a valid value' },
    ],
    [
      'subgroup_creation_level',
      'developer',
      { error: 'subgroup_creation_level does not have a valid value' },
    ],
    [
      'default_branch_protection',
      5,
      { error: 'default_branch_protection does not have a valid value' },
    ],
    ['visibility', 'open', { error: 'visibility does not have a valid value' }],
    ['lfs_enabled', 'perhaps', { error: 'lfs_enabled is invalid' }],
    ['name', ' ', { error: 'name is empty' }],
    ['path', 'a b', undefined],
    ['name', 'x'.repeat(256), { message: { name: ['is too long (maximum is 255 characters)'] } }],
    [
      'description',
      'x'.repeat(501),
      { message: { description: ['is too long (maximum is 500 characters)'] } },
    ],
  ])('%s is not %j', async (name, value, body) => {
    const { id } = await group()
    const before = (await ana.get(`/groups/${id}`)).body
    const reply = await ana.put(`/groups/${id}`, { [name]: value, max_artifacts_size: 1 })
    expect(reply.status).toBe(400)
    if (body) expect(reply.body).toEqual(body)
    expect((await ana.get(`/groups/${id}`)).body).toEqual(before)
  })

  test('are changed by owners alone', async () => {
    const { id } = await group({ visibility: 'public' })
    await join(id, ben, 40)
    const refused = await ben.put(`/groups/${id}`, { description: 'x' })
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    expect((await world.nobody.put(`/groups/${id}`, { description: 'x' })).status).toBe(401)
    await ana.put(`/groups/${id}/members/${ben.id}`, { access_level: 50 })
    expect((await ben.put(`/groups/${id}`, { description: 'x' })).status).toBe(200)
  })
})

describe('who may create projects in a group', () => {
  const levels = [20, 30, 40, 50]
  test.each([
    ['noone', []],
    ['administrator', []],
    ['owner', [50]],
    ['maintainer', [40, 50]],
    ['developer', [30, 40, 50]],
  ])('%s', async (project_creation_level, may) => {
    const { id } = await group({ project_creation_level })
    const user = await world.user(`creator-${project_creation_level}`)
    await join(id, user, 20)
    const made: number[] = []
    for (const access_level of levels) {
      await ana.put(`/groups/${id}/members/${user.id}`, { access_level })
      const reply = await user.post('/projects', { name: `by ${access_level}`, namespace_id: id })
      if (reply.status === 201) made.push(access_level)
      else expect(reply.body).toEqual({ message: { namespace: ['is not valid'] } })
    }
    expect(made).toEqual(may)
    await createProject(world.root, 'by admin', { namespace_id: id })
  })

  test('says who may move or fork one there, too', async () => {
    const { id } = await group({ project_creation_level: 'owner' })
    await join(id, ben, 40)
    const mine = await project({ visibility: 'public', initialize_with_readme: true }, ben)
    const moved = await ben.put(`/projects/${mine.id}/transfer`, { namespace: id })
    expect(moved.status).toBe(400)
    const forked = await ben.post(`/projects/${mine.id}/fork`, { namespace_id: id })
    expect([forked.status, forked.body]).toEqual([403, { message: '403 Forbidden' }])
    await ana.put(`/groups/${id}`, { project_creation_level: 'maintainer' })
    const now = await ben.put(`/projects/${mine.id}/transfer`, { namespace: id })
    expect([now.status, now.body.namespace.id]).toEqual([200, id])
  })
})

test('who may create subgroups is said by subgroup_creation_level', async () => {
  const { id } = await group()
  await join(id, ben, 40)
  const sub = (path: string) => ben.post('/groups', { name: path, path, parent_id: id })
  expect((await sub('allowed')).status).toBe(201)
  await ana.put(`/groups/${id}`, { subgroup_creation_level: 'owner' })
  expect((await sub('refused')).status).toBe(403)
  await ana.put(`/groups/${id}/members/${ben.id}`, { access_level: 30 })
  await ana.put(`/groups/${id}`, { subgroup_creation_level: 'maintainer' })
  expect((await sub('refused')).status).toBe(403)
})

describe('a new project of a group', () => {
  test('begins with the default branch of the nearest group that names one', async () => {
    const top = await group({ default_branch: 'trunk' })
    const sub = await group({ parent_id: top.id })
    const own = await group({ parent_id: top.id, default_branch: 'next' })
    const branch = async (namespace_id: number, more = {}) =>
      (await project({ namespace_id, initialize_with_readme: true, ...more })).default_branch
    expect(await branch(sub.id)).toBe('trunk')
    expect(await branch(own.id)).toBe('next')
    expect(await branch(own.id, { default_branch: 'wished' })).toBe('wished')
    expect((await project()).default_branch).toBe('main')
  })

  test.each([
    [0, { push: true, force: true }],
    [1, { push: true, force: false }],
    [2, { push: false, force: false }],
    [3, { push: false, force: false }],
    [4, { push: false, force: false }],
  ])('has its default branch protected at level %i', async (level, { push, force }) => {
    const { id } = await group({ default_branch_protection: level })
    await join(id, ben, 30)
    const made = await project({ namespace_id: id, initialize_with_readme: true })
    const branch = (await ben.get(`/projects/${made.id}/repository/branches/main`)).body
    expect([branch.can_push, branch.protected]).toEqual([push, level !== 0])
    const commit = await ben.post(`/projects/${made.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: 'x', content: 'x' }],
    })
    expect(commit.status === 201).toBe(push)
    const protection = await ana.get(`/projects/${made.id}/protected_branches/main`)
    if (level === 0) expect(protection.status).toBe(404)
    else expect(protection.body.allow_force_push).toBe(force)
    const defaults = (await ana.get(`/groups/${id}`)).body.default_branch_protection_defaults
    const pushers = defaults.allowed_to_push.map(
      (one: { access_level: number }) => one.access_level,
    )
    expect(pushers).toEqual([push ? 30 : 40])
    expect(defaults.developer_can_initial_push === true).toBe(level === 4)
  })
})

describe('what leaves a group', () => {
  test('its projects are forked only inside of it where it wants that', async () => {
    const top = await group({ prevent_forking_outside_group: true })
    const sub = await group({ parent_id: top.id })
    const outside = await group()
    const made = await project({ namespace_id: sub.id, initialize_with_readme: true })
    const fork = (namespace_id?: number) =>
      ana.post(`/projects/${made.id}/fork`, { namespace_id, path: `fork-${namespace_id}` })
    for (const target of [undefined, outside.id]) {
      const reply = await fork(target)
      expect([reply.status, reply.body]).toEqual([403, { message: '403 Forbidden' }])
    }
    expect((await fork(top.id)).status).toBe(201)
    await ana.put(`/groups/${top.id}`, { prevent_forking_outside_group: false })
    expect((await fork(outside.id)).status).toBe(201)
  })

  test('is shared only inside of it where it wants that', async () => {
    const top = await group({ prevent_sharing_groups_outside_hierarchy: true })
    const sub = await group({ parent_id: top.id })
    const inside = await group({ parent_id: top.id })
    const outside = await group()
    const share = (to: { id: number }) =>
      ana.post(`/groups/${sub.id}/share`, { group_id: to.id, group_access: 30 })
    expect((await share(outside)).status).toBeGreaterThanOrEqual(400)
    expect((await share(inside)).status).toBe(201)
    await ana.put(`/groups/${top.id}`, { prevent_sharing_groups_outside_hierarchy: false })
    expect((await share(outside)).status).toBe(201)
  })

  test('shows, of the groups it was shared with, only those that the reader may see', async () => {
    const open = await group({ visibility: 'public' })
    const secret = await group()
    await ana.post(`/groups/${open.id}/share`, { group_id: secret.id, group_access: 30 })
    const shown = async (caller: Caller) =>
      (await caller.get(`/groups/${open.id}`)).body.shared_with_groups.map(
        (one: { group_full_path: string }) => one.group_full_path,
      )
    expect(await shown(ana)).toEqual([secret.full_path])
    expect(await shown(ben)).toEqual([])
    expect(await shown(world.nobody)).toEqual([])
    expect(await shown(world.root)).toEqual([secret.full_path])
  })
})

test('a locked membership keeps projects from members of their own', async () => {
  const top = await group({ membership_lock: true })
  const made = await project({ namespace_id: top.id })
  const members = `/projects/${made.id}/members`
  const refused = await ana.post(members, { user_id: ben.id, access_level: 30 })
  expect([refused.status, refused.body]).toEqual([405, { message: '405 Method Not Allowed' }])
  await ana.put(`/groups/${top.id}`, { membership_lock: false })
  expect((await ana.post(members, { user_id: ben.id, access_level: 30 })).status).toBe(201)
})

test('everybody is mentioned unless the group keeps quiet', async () => {
  const top = await group({ visibility: 'public' })
  await join(top.id, ben, 30)
  const made = await project({ namespace_id: top.id })
  const todos = async () => (await ben.get('/todos')).body.length
  await ana.post(`/projects/${made.id}/issues`, { title: 'a', description: `@${top.full_path}` })
  await world.runTasks()
  expect(await todos()).toBe(1)
  await ana.put(`/groups/${top.id}`, { mentions_disabled: true })
  await ana.post(`/projects/${made.id}/issues`, { title: 'b', description: `@${top.full_path}` })
  await world.runTasks()
  expect(await todos()).toBe(1)
})

test('the wiki of a group is for its members, or for nobody, as it says', async () => {
  const top = await group({ visibility: 'public' })
  await join(top.id, ben, 20)
  const visitor = await world.user('visitor')
  const seen = async (wiki_access_level: string) => {
    await ana.put(`/groups/${top.id}`, { wiki_access_level })
    const replies = [visitor, ben].map((one) => one.get(`/groups/${top.id}/wikis`))
    return (await Promise.all(replies)).map((reply) => reply.status === 200)
  }
  expect(await seen('enabled')).toEqual([true, true])
  expect(await seen('private')).toEqual([false, true])
  expect(await seen('disabled')).toEqual([false, false])
})

describe('deleting a group later', () => {
  test('marks it, and it can be kept, hurried, or left to its day', async () => {
    await world.root.put('/application/settings', {
      delayed_project_removal: true,
      deletion_adjourned_period: 7,
    })
    const top = await group()
    const gone = await ana.delete(`/groups/${top.id}`)
    expect([gone.status, gone.body]).toEqual([202, { message: '202 Accepted' }])
    const marked = (await ana.get(`/groups/${top.id}`)).body
    expect(marked.marked_for_deletion_on).toBe('2026-05-04')
    const twice = await ana.delete(`/groups/${top.id}`)
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: '400 Bad request - Group has been already marked for deletion' },
    ])
    expect((await ana.get('/groups?marked_for_deletion_on=2026-05-04')).body).toHaveLength(1)
    expect((await ana.get(`/groups?active=true&search=${top.path}`)).body).toEqual([])
    const kept = await ana.post(`/groups/${top.id}/restore`)
    expect([kept.status, kept.body.marked_for_deletion_on]).toEqual([201, null])
    expect((await ana.post(`/groups/${top.id}/restore`)).status).toBe(400)
    const early = `/groups/${top.id}?permanently_remove=true&full_path=`
    expect((await ana.delete(`${early}${top.full_path}`)).body.message).toContain('marked')
    await ana.delete(`/groups/${top.id}`)
    expect((await ana.delete(`${early}other`)).body.message).toContain('full_path')
    expect((await ana.delete(`${early}${top.full_path}`)).status).toBe(202)
    expect((await ana.get(`/groups/${top.id}`)).status).toBe(404)
    const left = await group()
    await ana.delete(`/groups/${left.id}`)
    world.setNow('2026-05-10T10:00:00.000Z')
    await world.runTasks()
    expect((await ana.get(`/groups/${left.id}`)).status).toBe(200)
    world.setNow('2026-05-12T10:00:00.000Z')
    await world.runTasks()
    expect((await ana.get(`/groups/${left.id}`)).status).toBe(404)
    world.setNow('2026-05-04T10:00:00.000Z')
    await world.root.put('/application/settings', {
      delayed_project_removal: false,
      deletion_adjourned_period: 30,
    })
  })
})
