import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { ed25519 } from '../../support/keys.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
const guest = useCaller(world, 'guest')
const stranger = useCaller(world, 'stranger')
let project: TestProject
let path: string
let rules: string
let tags: string
let count = 0

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  path = `/projects/${project.id}`
  rules = `${path}/protected_branches`
  tags = `${path}/protected_tags`
  for (const [user, level] of [
    [mona, 40],
    [dev, 30],
    [rep, 20],
    [guest, 10],
  ] as const) {
    await addMember(world, project.id, user.id, level)
  }
})
beforeEach(async () => {
  count += 1
  for (const table of ['protected_branches', 'protected_tags'] as const) {
    await world.ctx.db.deleteFrom(table).where('project_id', '=', project.id).execute()
  }
})

interface Level {
  readonly id: number
  readonly access_level: number | null
  readonly access_level_description: string
}
const textsOf = (levels: readonly Level[]) => levels.map((one) => one.access_level_description)
const named = (name: string) => `${rules}/${encodeURIComponent(name)}`
const statusAndBody = ({ status, body }: Reply) => [status, body]

async function group(by: Caller, name: string, more: object = {}): Promise<number> {
  count += 1
  return (await createGroup(by, `${name}-${count}`, { name, ...more })).id
}

async function deployKey(title: string, canPush: boolean): Promise<number> {
  const body = { title, key: ed25519(), can_push: canPush }
  return (await mona.post(`${path}/deploy_keys`, body)).body.id
}

async function commits(by: Caller, branch: string): Promise<boolean> {
  count += 1
  const actions = [{ action: 'create', file_path: `f${count}`, content: 'x' }]
  const more = branch === 'main' ? {} : { start_branch: 'main' }
  const body = { branch, commit_message: 'Add', actions, ...more }
  const { status } = await by.post(`${project.api}/commits`, body)
  expect([201, 403]).toContain(status)
  return status === 201
}

async function actionsOf(type: string, id: number): Promise<string[]> {
  const events = await world.ctx.db
    .selectFrom('audit_events')
    .selectAll()
    .where('entity_type', '=', type)
    .where('entity_id', '=', id)
    .orderBy('id')
    .execute()
  return events.map((event) => event.action).filter((action) => /_?(un)?protect/.test(action))
}

describe('the levels of a protected branch', () => {
  test.each([
    [0, 'No one'],
    [30, 'Developers + Maintainers'],
    [40, 'Maintainers'],
    [60, 'Administrators'],
  ])('%i is called %s for pushing and merging', async (level, text) => {
    const body = { name: 'x', push_access_level: level, merge_access_level: level }
    const made = await mona.post(rules, body)
    expect(made.status).toBe(201)
    expect(made.body.push_access_levels).toMatchObject([
      { access_level: level, access_level_description: text },
    ])
    expect(made.body.merge_access_levels).toMatchObject([
      { access_level: level, access_level_description: text },
    ])
    expect(textsOf(made.body.unprotect_access_levels)).toEqual(['Maintainers'])
  })

  test('may be a role and a list together; the default is added to neither', async () => {
    const made = await mona.post(rules, {
      name: 'x',
      push_access_level: 30,
      allowed_to_push: [{ user_id: mona.id }],
      allowed_to_merge: [{ user_id: dev.id }, { access_level: 0 }],
      allowed_to_unprotect: [{ access_level: 60 }, { user_id: mona.id }],
    })
    expect(textsOf(made.body.push_access_levels)).toEqual(['Developers + Maintainers', 'mona'])
    expect(textsOf(made.body.merge_access_levels)).toEqual(['dev', 'No one'])
    expect(textsOf(made.body.unprotect_access_levels)).toEqual(['Administrators', 'mona'])
    expect((await dev.get(named('x'))).body).toEqual(made.body)
  })

  test.each([
    ['push_access_level', 10],
    ['push_access_level', 50],
    ['merge_access_level', 20],
    ['unprotect_access_level', 0],
    ['unprotect_access_level', 35],
  ])('are refused when there is no such one: %s %s', async (key, level) => {
    const reply = await mona.post(rules, { name: 'x', [key]: level })
    expect(statusAndBody(reply)).toEqual([400, { error: `${key} does not have a valid value` }])
    expect((await mona.get(rules)).body).toEqual([])
  })

  test('may name a group that the project is shared with, whose members then push', async () => {
    const id = await group(ana, 'team')
    await ana.post(`/groups/${id}/members`, { user_id: stranger.id, access_level: 30 })
    const ask = { name: 'main', allowed_to_push: [{ group_id: id }] }
    expect(statusAndBody(await mona.post(rules, ask))).toEqual([
      422,
      { message: ['Push access levels group does not have access to the project'] },
    ])
    await ana.post(`${path}/share`, { group_id: id, group_access: 30 })
    const made = await mona.post(rules, ask)
    expect(made.body.push_access_levels).toMatchObject([
      { group_id: id, access_level: null, access_level_description: 'team', user_id: null },
    ])
    expect(await commits(stranger, 'main')).toBe(true)
    expect(await commits(dev, 'main')).toBe(false)
    expect(await commits(mona, 'main')).toBe(false)
    await ana.delete(`/groups/${id}/members/${stranger.id}`)
    const gone = await stranger.get(path)
    expect(gone.status).toBe(404)
  })

  test('may name a deploy key that pushes, for pushing alone', async () => {
    const [writing, reading] = [await deployKey('writer', true), await deployKey('reader', false)]
    const made = await mona.post(rules, {
      name: 'x',
      allowed_to_push: [{ deploy_key_id: writing }],
      allowed_to_merge: [{ deploy_key_id: writing }],
    })
    expect(made.body.push_access_levels).toMatchObject([
      { deploy_key_id: writing, access_level: null, access_level_description: 'writer' },
    ])
    expect(textsOf(made.body.merge_access_levels)).toEqual(['Maintainers'])
    for (const list of ['allowed_to_merge', 'allowed_to_unprotect']) {
      const refused = await mona.patch(named('x'), { [list]: [{ deploy_key_id: writing }] })
      expect(refused.status).toBe(422)
    }
    const text = 'Push access levels deploy key is not enabled for this project'
    for (const id of [reading, 999_999]) {
      const refused = await mona.patch(named('x'), { allowed_to_push: [{ deploy_key_id: id }] })
      expect(statusAndBody(refused)).toEqual([422, { message: [text] }])
    }
    const elsewhere = await addProject(world, ana, 'empty', { path: `q${count}` })
    const foreign = await ana.post(`/projects/${elsewhere.id}/protected_branches`, {
      name: 'x',
      allowed_to_push: [{ deploy_key_id: writing }],
    })
    expect(foreign.status).toBe(422)
  })

  test('go with the key that they name', async () => {
    const id = await deployKey('short-lived', true)
    await mona.post(rules, { name: 'x', allowed_to_push: [{ deploy_key_id: id }] })
    expect((await mona.delete(`${path}/deploy_keys/${id}`)).status).toBe(204)
    expect((await mona.get(named('x'))).body.push_access_levels).toEqual([])
  })
})

describe('a change of a protected branch', () => {
  test('leaves alone what it does not name, and makes nothing of an empty list', async () => {
    const made = await mona.post(rules, {
      name: 'x',
      push_access_level: 30,
      merge_access_level: 0,
      allow_force_push: true,
    })
    for (const change of [{}, { allowed_to_push: [] }, { allow_force_push: true }]) {
      expect(statusAndBody(await mona.patch(named('x'), change))).toEqual([200, made.body])
    }
    const off = await mona.patch(named('x'), { allow_force_push: false })
    expect(off.body).toEqual({ ...made.body, allow_force_push: false })
  })

  test('turns a level from a role to a user, a group and a key, keeping its number', async () => {
    const team = await group(ana, 'turn')
    await ana.post(`${path}/share`, { group_id: team, group_access: 40 })
    const key = await deployKey('turning', true)
    const made = await mona.post(rules, { name: 'x' })
    const { id } = made.body.push_access_levels[0]
    const nobody = { access_level: null, user_id: null, group_id: null, deploy_key_id: null }
    for (const target of [
      { user_id: dev.id },
      { group_id: team },
      { deploy_key_id: key },
      { access_level: 30 },
    ]) {
      const changed = await mona.patch(named('x'), { allowed_to_push: [{ id, ...target }] })
      expect(changed.body.push_access_levels).toEqual([
        { id, access_level_description: expect.any(String), ...nobody, ...target },
      ])
    }
  })

  test('is made whole or not at all', async () => {
    const made = await mona.post(rules, { name: 'x', push_access_level: 30 })
    const [push] = made.body.push_access_levels
    const refused = await mona.patch(named('x'), {
      allow_force_push: true,
      allowed_to_push: [{ id: push.id, _destroy: true }],
      allowed_to_merge: [{ user_id: dev.id }],
      allowed_to_unprotect: [{ user_id: stranger.id }],
    })
    expect(statusAndBody(refused)).toEqual([
      422,
      { message: ['Unprotect access levels user is not a member of the project'] },
    ])
    expect((await mona.get(named('x'))).body).toEqual(made.body)
  })

  test('knows the levels of this rule and this action alone', async () => {
    const made = await mona.post(rules, { name: 'x' })
    const other = await mona.post(rules, { name: 'y' })
    const [merge] = made.body.merge_access_levels
    const [foreign] = other.body.push_access_levels
    for (const id of [merge.id, foreign.id, 999_999]) {
      for (const more of [{ _destroy: true }, { access_level: 30 }]) {
        const reply = await mona.patch(named('x'), { allowed_to_push: [{ id, ...more }] })
        expect(statusAndBody(reply)).toEqual([404, { message: '404 Not found' }])
      }
    }
    expect((await mona.get(named('y'))).body).toEqual(other.body)
  })

  test('may free a place and fill it again in one list, and names nobody twice', async () => {
    const made = await mona.post(rules, { name: 'x', push_access_level: 30 })
    const [push] = made.body.push_access_levels
    const swapped = await mona.patch(named('x'), {
      allowed_to_push: [{ id: push.id, _destroy: true }, { access_level: 30 }],
    })
    expect(textsOf(swapped.body.push_access_levels)).toEqual(['Developers + Maintainers'])
    expect(swapped.body.push_access_levels[0].id).not.toBe(push.id)
    for (const [level, field] of [
      [{ access_level: 30 }, 'access level'],
      [{ user_id: dev.id }, 'user'],
    ] as const) {
      const twice = await mona.patch(named('x'), { allowed_to_push: [level, level] })
      expect(statusAndBody(twice)).toEqual([
        422,
        { message: [`Push access levels ${field} has already been taken`] },
      ])
    }
    const empty = await mona.patch(named('x'), { allowed_to_push: [{}] })
    expect(statusAndBody(empty)).toEqual([
      422,
      { message: ["Push access levels access level can't be blank"] },
    ])
  })

  test('does not change the name', async () => {
    await mona.post(rules, { name: 'x' })
    expect((await mona.patch(named('x'), { name: 'y', allow_force_push: true })).status).toBe(200)
    const { body } = await mona.get(rules)
    expect(body).toMatchObject([{ name: 'x', allow_force_push: true }])
  })

  test('asks for the approval of code owners, or no longer', async () => {
    const made = await mona.post(rules, { name: 'x', code_owner_approval_required: true })
    expect(made.body.code_owner_approval_required).toBe(true)
    const kept = await mona.patch(named('x'), { allow_force_push: true })
    expect(kept.body).toMatchObject({ code_owner_approval_required: true, allow_force_push: true })
    const off = await mona.patch(named('x'), { code_owner_approval_required: false })
    expect(off.body).toMatchObject({ code_owner_approval_required: false, allow_force_push: true })
  })
})

describe('wildcard and exact rules together', () => {
  test('are two rules, each found by its own name only', async () => {
    for (const name of ['rel/*', 'rel/1', '*', 'REL/1']) {
      expect((await mona.post(rules, { name })).status).toBe(201)
    }
    for (const name of ['rel/*', 'rel/1', '*', 'REL/1']) {
      expect((await dev.get(named(name))).body.name).toBe(name)
    }
    for (const name of ['rel/2', 'rel', 'Rel/1']) {
      expect(statusAndBody(await dev.get(named(name)))).toEqual([404, { message: '404 Not found' }])
    }
    expect((await mona.delete(named('rel/*'))).status).toBe(204)
    expect((await dev.get(named('rel/1'))).status).toBe(200)
  })

  test('let push whom any of them lets, also where another says nobody', async () => {
    await mona.post(rules, { name: 'rel-*', push_access_level: 0 })
    expect([await commits(dev, 'rel-1'), await commits(mona, 'rel-1')]).toEqual([false, false])
    await mona.post(rules, { name: '*-1', allowed_to_push: [{ user_id: dev.id }] })
    expect([await commits(dev, 'rel-1'), await commits(mona, 'rel-1')]).toEqual([true, false])
    expect([await commits(dev, 'rel-2'), await commits(ana, 'rel-2')]).toEqual([false, false])
    // A dot is a dot, and a star takes slashes too.
    await mona.post(rules, { name: 'v1.*', push_access_level: 0 })
    expect([await commits(dev, 'v1x2'), await commits(dev, 'v1.2/3')]).toEqual([true, false])
  })

  test('are listed in the order in which they were made, in pages that count all', async () => {
    for (const name of ['b', 'a*', 'c', 'ab']) await mona.post(rules, { name })
    const page = await dev.get(`${rules}?per_page=2&page=2`)
    expect(page.body.map((one: { name: string }) => one.name)).toEqual(['c', 'ab'])
    expect(['x-total', 'x-page', 'x-total-pages'].map((name) => page.headers.get(name))).toEqual([
      '4',
      '2',
      '2',
    ])
    const found = await dev.get(`${rules}?search=A&per_page=1`)
    expect([found.body.length, found.headers.get('x-total')]).toEqual([1, '2'])
  })

  test('need a name that is not blank and not too long', async () => {
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: null }]) {
      expect((await mona.post(rules, body)).status).toBe(400)
    }
    expect((await mona.post(rules, { name: 'x'.repeat(255) })).status).toBe(201)
  })
})

describe('who may', () => {
  test('read and set protections of branches depends on the role', async () => {
    await mona.post(rules, { name: 'x' })
    const seen: Record<string, number[]> = {}
    const people = { ana, mona, dev, rep, guest, stranger, root: world.root }
    for (const [name, by] of Object.entries(people)) {
      seen[name] = [
        (await by.get(rules)).status,
        (await by.get(named('x'))).status,
        (await by.post(rules, { name })).status,
        (await by.patch(named('x'), { allow_force_push: true })).status,
      ]
    }
    expect(seen).toEqual({
      ana: [200, 200, 201, 200],
      mona: [200, 200, 201, 200],
      dev: [200, 200, 403, 403],
      rep: [403, 403, 403, 403],
      guest: [403, 403, 403, 403],
      stranger: [404, 404, 404, 404],
      root: [200, 200, 201, 200],
    })
  })

  test('unprotect may be a list: it decides over changes too, and Administrators pass', async () => {
    const body = { name: 'x', allowed_to_unprotect: [{ access_level: 60 }] }
    await mona.post(rules, body)
    for (const by of [ana, mona, dev]) {
      expect((await by.delete(named('x'))).status).toBe(403)
      expect((await by.patch(named('x'), { allow_force_push: true })).status).toBe(403)
    }
    expect((await world.root.delete(named('x'))).status).toBe(204)
    await mona.post(rules, { ...body, allowed_to_unprotect: [{ access_level: 30 }] })
    expect((await rep.delete(named('x'))).status).toBe(403)
    expect((await dev.delete(named('x'))).status).toBe(204)
  })

  test('unprotect decides over the old way, too', async () => {
    const branch = `/projects/${project.id}/repository/branches/main`
    await mona.post(rules, { name: 'main', allowed_to_unprotect: [{ access_level: 60 }] })
    for (const by of [ana, mona, dev]) {
      expect((await by.put(`${branch}/unprotect`)).status).toBe(403)
      expect((await by.put(`${branch}/protect`, { developers_can_push: true })).status).toBe(403)
    }
    expect((await mona.get(named('main'))).body.push_access_levels).toMatchObject([
      { access_level: 40 },
    ])
    expect((await world.root.put(`${branch}/unprotect`)).body.protected).toBe(false)
  })

  test('read and set protections of tags is for Maintainers', async () => {
    await mona.post(tags, { name: 'v*' })
    for (const [by, read, write] of [
      [mona, 200, 201],
      [ana, 200, 201],
      [dev, 403, 403],
      [rep, 403, 403],
      [guest, 403, 403],
      [stranger, 404, 404],
    ] as const) {
      expect((await by.get(tags)).status).toBe(read)
      expect((await by.get(`${tags}/v*`)).status).toBe(read)
      expect((await by.post(tags, { name: by.username })).status).toBe(write)
    }
    expect((await dev.delete(`${tags}/v*`)).status).toBe(403)
  })
})

describe('the rules of groups', () => {
  test('hold in projects of subgroups, beside their own of the same name', async () => {
    const top = await group(ana, 'top')
    const sub = await group(ana, 'sub', { parent_id: top })
    const inside = await createProject(ana, 'inside', { namespace_id: sub })
    const own = `/projects/${inside.id}/protected_branches`
    const above = `/groups/${top}/protected_branches`
    expect((await ana.post(above, { name: 'prod', push_access_level: 0 })).status).toBe(201)
    expect((await ana.get(own)).body).toMatchObject([{ name: 'prod', inherited: true }])
    expect(statusAndBody(await ana.patch(`${own}/prod`, { allow_force_push: true }))).toEqual([
      404,
      { message: '404 Not found' },
    ])
    const made = await ana.post(own, { name: 'prod', push_access_level: 30 })
    expect([made.status, made.body.inherited]).toEqual([201, false])
    expect((await ana.get(`${own}/prod`)).body).toEqual(made.body)
    const list = (await ana.get(own)).body
    expect(list.map((one: { inherited: boolean }) => one.inherited).sort()).toEqual([false, true])
    expect((await ana.delete(`${own}/prod`)).status).toBe(204)
    expect((await ana.get(`${own}/prod`)).body).toMatchObject({ inherited: true })
    expect((await ana.get(above)).body).toMatchObject([{ name: 'prod', inherited: false }])
  })

  test('are set by Owners, not by Maintainers, and once for each name', async () => {
    const id = await group(ana, 'owned')
    await ana.post(`/groups/${id}/members`, { user_id: mona.id, access_level: 40 })
    await ana.post(`/groups/${id}/members`, { user_id: dev.id, access_level: 50 })
    const above = `/groups/${id}/protected_branches`
    expect((await mona.post(above, { name: 'x' })).status).toBe(403)
    expect((await stranger.post(above, { name: 'x' })).status).toBe(404)
    expect((await dev.post(above, { name: 'x' })).status).toBe(201)
    expect(statusAndBody(await ana.post(above, { name: 'x' }))).toEqual([
      409,
      { message: "Protected branch 'x' already exists" },
    ])
    expect((await mona.delete(`${above}/x`)).status).toBe(403)
    const key = await ana.post(above, { name: 'k', allowed_to_push: [{ deploy_key_id: 1 }] })
    expect(key.status).toBe(422)
    expect(statusAndBody(await ana.patch(`${above}/k`, {}))).toEqual([
      404,
      { message: '404 ProtectedBranch Not Found' },
    ])
    expect(await actionsOf('Group', id)).toEqual(['branch_protected'])
  })
})

describe('the levels of a protected tag', () => {
  test('may be a role and a list: users, groups and deploy keys', async () => {
    const team = await group(ana, 'taggers')
    await ana.post(`${path}/share`, { group_id: team, group_access: 30 })
    const key = await deployKey('releaser', true)
    const made = await mona.post(tags, {
      name: 'v*',
      create_access_level: 0,
      allowed_to_create: [{ user_id: dev.id }, { group_id: team }, { deploy_key_id: key }],
    })
    expect(made.status).toBe(201)
    expect(textsOf(made.body.create_access_levels)).toEqual([
      'No one',
      'dev',
      'taggers',
      'releaser',
    ])
    expect((await mona.get(`${tags}/v*`)).body).toEqual(made.body)
    const tag = (by: Caller, name: string) =>
      by.post(`${project.api}/tags`, { tag_name: name, ref: 'main' })
    expect((await tag(dev, 'v7')).status).toBe(201)
    expect((await tag(mona, 'v8')).status).toBe(403)
  })

  test.each([
    ['a stranger', () => ({ user_id: stranger.id }), 'user is not a member of the project'],
    [
      'an unknown group',
      () => ({ group_id: 987_654 }),
      'group does not have access to the project',
    ],
    ['an unknown key', () => ({ deploy_key_id: 9 }), 'deploy key is not enabled for this project'],
    ['nobody', () => ({}), "access level can't be blank"],
  ])('may not be %s', async (_what, level, text) => {
    const reply = await mona.post(tags, { name: 'v*', allowed_to_create: [level()] })
    expect(statusAndBody(reply)).toEqual([422, { message: [`Create access levels ${text}`] }])
    expect((await mona.get(tags)).body).toEqual([])
  })

  test('of several rules that mean a tag: the one that lets more decides', async () => {
    await mona.post(tags, { name: 'v*', create_access_level: 0 })
    await mona.post(tags, { name: '*-rc', create_access_level: 30 })
    const tag = async (name: string) =>
      (await dev.post(`${project.api}/tags`, { tag_name: name, ref: 'main' })).status
    expect([await tag('v5'), await tag('v5-rc'), await tag('w5')]).toEqual([403, 201, 201])
  })

  test('are listed in pages', async () => {
    for (const name of ['a', 'b', 'c']) await mona.post(tags, { name })
    const page = await mona.get(`${tags}?per_page=2&page=2`)
    expect([page.body.length, page.headers.get('x-total')]).toEqual([1, '3'])
  })
})

test('each protection that is made, changed and removed is audited', async () => {
  const before = await actionsOf('Project', project.id)
  await mona.post(rules, { name: 'x' })
  await mona.post(rules, { name: 'x' })
  await mona.patch(named('x'), { allow_force_push: true })
  await mona.patch(named('x'), { allowed_to_push: [{ user_id: stranger.id }] })
  await mona.delete(named('x'))
  await mona.post(tags, { name: 'v*' })
  await mona.delete(`${tags}/v*`)
  expect((await actionsOf('Project', project.id)).slice(before.length)).toEqual([
    'branch_protected',
    'branch_protection_changed',
    'branch_unprotected',
    'tag_protected',
    'tag_unprotected',
  ])
})

test('of ten who protect one branch at the same time one does, and the others are refused', async () => {
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => mona.post(rules, { name: 'busy' })),
  )
  const statuses = replies.map((reply) => reply.status).sort()
  expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
  expect((await mona.get(rules)).body).toHaveLength(1)
})
