import { describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let count = 0

async function group(more: Record<string, unknown> = {}) {
  count += 1
  const named = { name: `G${count}`, path: `g${count}`, ...more }
  const { status, body } = await ana.post('/groups', named)
  expect([status, body.message ?? body.error]).toEqual([201, undefined])
  return body
}

async function project(namespace_id: number, more: Record<string, unknown> = {}) {
  count += 1
  return (
    await createProject(ana, `p${count}`, { namespace_id, initialize_with_readme: true, ...more })
  ).id
}

const roles = (...levels: number[]) => levels.map((access_level) => ({ access_level }))
const nameOf = 'default_branch_protection_defaults'

/** Who may push to, merge into and force `main`, or null where nothing protects it. */
async function protection(projectId: number) {
  const { status, body } = await ana.get(`/projects/${projectId}/protected_branches/main`)
  if (status === 404) return null
  const levels = (list: { access_level: number }[]) => list.map((one) => one.access_level)
  return [
    levels(body.push_access_levels),
    levels(body.merge_access_levels),
    body.allow_force_push as boolean,
  ]
}

describe('the protection of default branches that a group says role by role', () => {
  const both = {
    allowed_to_push: roles(40),
    allow_force_push: true,
    allowed_to_merge: roles(30),
    developer_can_initial_push: false,
  }

  test('says also whether developers may push first where it was not sent', async () => {
    const { developer_can_initial_push: initial, ...sent } = both
    const { id, [nameOf]: said } = await group({ [nameOf]: sent })
    expect([initial, said]).toEqual([false, both])
    const settings = JSON.stringify({ default_branch_protection: 3, [nameOf]: sent })
    await world.ctx.db.updateTable('namespaces').set({ settings }).where('id', '=', id).execute()
    expect((await ana.get(`/groups/${id}`)).body[nameOf]).toEqual(both)
  })

  test('is kept as it was sent, at creation and at a change', async () => {
    const made = await group({ [nameOf]: both })
    expect(made[nameOf]).toEqual(both)
    expect((await ana.get(`/groups/${made.id}`)).body[nameOf]).toEqual(both)
    const [listed] = (await ana.get(`/groups?search=${made.path}`)).body
    expect(listed[nameOf]).toEqual(both)
    const other = { ...both, allowed_to_push: roles(0), developer_can_initial_push: true }
    const changed = await ana.put(`/groups/${made.id}`, { [nameOf]: other })
    expect([changed.status, changed.body[nameOf]]).toEqual([200, other])
    const named = await ana.put(`/groups/${made.id}`, { description: 'x' })
    expect(named.body[nameOf]).toEqual(other)
  })

  test('comes in a form as well', async () => {
    const { id } = await group()
    const form = new URLSearchParams([
      [`${nameOf}[allowed_to_push][][access_level]`, '30'],
      [`${nameOf}[allowed_to_merge][][access_level]`, '40'],
      [`${nameOf}[allow_force_push]`, 'true'],
    ])
    const reply = await ana.put(`/groups/${id}`, undefined, { raw: form })
    expect([reply.status, reply.body[nameOf]]).toEqual([
      200,
      { ...both, allowed_to_push: roles(30), allowed_to_merge: roles(40) },
    ])
  })

  test('is that of maintainers where it says nothing', async () => {
    const full = {
      allowed_to_push: roles(40),
      allow_force_push: false,
      allowed_to_merge: roles(40),
      developer_can_initial_push: false,
    }
    expect((await group({ [nameOf]: {} }))[nameOf]).toEqual(full)
    expect((await group({ [nameOf]: null }))[nameOf]).toEqual(full)
    expect((await group({ [nameOf]: { allow_force_push: true } }))[nameOf]).toEqual({
      ...full,
      allow_force_push: true,
    })
  })

  test.each([
    [0, { allowed_to_push: roles(30), allow_force_push: true, allowed_to_merge: roles(30) }],
    [1, { allowed_to_push: roles(30), allow_force_push: false, allowed_to_merge: roles(40) }],
    [2, { allowed_to_push: roles(40), allow_force_push: false, allowed_to_merge: roles(40) }],
    [3, { allowed_to_push: roles(40), allow_force_push: false, allowed_to_merge: roles(30) }],
    [
      4,
      {
        allowed_to_push: roles(40),
        allow_force_push: false,
        allowed_to_merge: roles(40),
        developer_can_initial_push: true,
      },
    ],
  ])('and level %i mean the same', async (level, roles) => {
    const said = { developer_can_initial_push: false, ...roles }
    const byRoles = await group({ [nameOf]: said })
    expect(byRoles.default_branch_protection).toBe(level)
    const byLevel = await group({ default_branch_protection: level })
    expect(byLevel[nameOf]).toEqual(said)
    expect(await protection(await project(byRoles.id))).toEqual(
      await protection(await project(byLevel.id)),
    )
  })

  test('gives way to a level that is sent later', async () => {
    const { id } = await group({ [nameOf]: both })
    const { body } = await ana.put(`/groups/${id}`, { default_branch_protection: 1 })
    expect([body.default_branch_protection, body[nameOf].allowed_to_push]).toEqual([1, roles(30)])
    expect(await protection(await project(id))).toEqual([[30], [40], false])
  })

  test.each([
    [{ allowed_to_push: roles(20) }, 'does not have a valid value'],
    [{ allowed_to_push: [{ access_level: 'x' }] }, 'is invalid'],
    [{ allowed_to_merge: [40] }, 'is invalid'],
    [{ allow_force_push: 'perhaps' }, 'is invalid'],
    ['maintainers', 'is invalid'],
    [[], 'is invalid'],
  ])('is not %j', async (wrong, text) => {
    const { id } = await group()
    const before = (await ana.get(`/groups/${id}`)).body
    const reply = await ana.put(`/groups/${id}`, { [nameOf]: wrong, description: 'lost' })
    expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(text)])
    expect((await ana.get(`/groups/${id}`)).body).toEqual(before)
  })
})

describe('a new project of such a group', () => {
  test.each([
    ['nobody pushes, maintainers merge', roles(0), roles(40), true, [[0], [40], true]],
    ['maintainers push, developers merge', roles(40), roles(30), true, [[40], [30], true]],
    ['administrators alone', roles(60), roles(60), false, [[60], [60], false]],
    ['of several roles the least', roles(40, 30), roles(40, 60), false, [[30], [40], false]],
  ])('is protected so that %s', async (_, push, merge, force, expected) => {
    const { id } = await group({
      [nameOf]: { allowed_to_push: push, allow_force_push: force, allowed_to_merge: merge },
    })
    expect(await protection(await project(id))).toEqual(expected)
  })

  test('takes what the nearest group says', async () => {
    const top = await group({
      [nameOf]: { allowed_to_push: roles(0), allow_force_push: true, allowed_to_merge: roles(30) },
    })
    const sub = await group({ parent_id: top.id })
    const own = await group({ parent_id: top.id, default_branch_protection: 0 })
    expect(await protection(await project(sub.id))).toEqual([[0], [30], true])
    expect(await protection(await project(own.id))).toBeNull()
  })

  test.each([
    [{ allowed_to_push: roles(40), developer_can_initial_push: true }, true],
    [{ allowed_to_push: roles(30), allowed_to_merge: roles(40) }, true],
    [{ allowed_to_push: roles(40), allow_force_push: true }, false],
  ])('with %j is begun by developers: %j', async (said, may) => {
    const { id } = await group({ [nameOf]: said })
    await ana.post(`/groups/${id}/members`, { user_id: ben.id, access_level: 30 })
    const empty = await project(id, { initialize_with_readme: false })
    const first = await ben.post(`/projects/${empty}/repository/commits`, {
      branch: 'main',
      commit_message: 'Begin',
      actions: [{ action: 'create', file_path: 'a', content: 'a' }],
    })
    expect(first.status === 201).toBe(may)
    if (may) expect(await protection(empty)).not.toBeNull()
  })
})
