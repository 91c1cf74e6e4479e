import { beforeEach, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
const dev = useCaller(world, 'dev')
const other = useCaller(world, 'other')
const rep = useCaller(world, 'rep')
let project: TestProject
let path: string
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `p${count}` })
  path = `/projects/${project.id}`
  const roles = [
    [mona, 40],
    [dev, 30],
    [other, 30],
    [rep, 20],
  ] as const
  for (const [user, level] of roles) await addMember(world, project.id, user.id, level)
})

/** Commits a file by the API; what refuses says why. */
function commit(by: Caller, branch: string, more: object = {}): Promise<Reply> {
  count += 1
  const actions = [{ action: 'create', file_path: `f${count}`, content: 'x' }]
  return by.post(`${project.api}/commits`, { branch, commit_message: 'Add', actions, ...more })
}

function tag(by: Caller, name: string): Promise<Reply> {
  return by.post(`${project.api}/tags`, { tag_name: name, ref: 'main' })
}

const notAllowed = { message: '403 Forbidden - You are not allowed to push into this branch' }

describe('a protected branch', () => {
  test('lets those push whom its levels name, as they are changed', async () => {
    const rule = `${path}/protected_branches/main`
    await mona.post(`${path}/protected_branches`, { name: 'main' })
    const refused = await commit(dev, 'main')
    expect([refused.status, refused.body]).toEqual([403, notAllowed])
    expect((await commit(mona, 'main')).status).toBe(201)

    const [level] = (await mona.get(rule)).body.push_access_levels
    await mona.patch(rule, { allowed_to_push: [{ id: level.id, access_level: 30 }] })
    expect((await commit(dev, 'main')).status).toBe(201)
    expect((await commit(rep, 'main')).status).toBe(403)

    await mona.patch(rule, {
      allowed_to_push: [{ id: level.id, access_level: null, user_id: dev.id }],
    })
    expect((await commit(dev, 'main')).status).toBe(201)
    expect((await commit(other, 'main')).status).toBe(403)
    expect((await commit(mona, 'main')).status).toBe(403)

    await mona.patch(rule, {
      allowed_to_push: [{ id: level.id, user_id: null, access_level: 0 }],
    })
    for (const by of [dev, mona, ana]) expect((await commit(by, 'main')).status).toBe(403)

    expect((await mona.delete(rule)).status).toBe(204)
    expect((await commit(dev, 'main')).status).toBe(201)
  })

  test('says what its levels mean to whoever looks at the branch', async () => {
    const look = async (by: Caller) => (await by.get(`${project.api}/branches/main`)).body
    expect(await look(dev)).toMatchObject({ protected: false, can_push: true })
    await mona.post(`${path}/protected_branches`, { name: 'm*', merge_access_level: 30 })
    expect(await look(dev)).toMatchObject({
      protected: true,
      can_push: false,
      developers_can_push: false,
      developers_can_merge: true,
    })
    expect(await look(mona)).toMatchObject({ protected: true, can_push: true })
    expect(await look(rep)).toMatchObject({ can_push: false })
    const both = await mona.put(`${project.api}/branches/main/protect`, {
      developers_can_push: true,
      developers_can_merge: false,
    })
    expect(both.body).toMatchObject({ developers_can_push: true, developers_can_merge: true })
    expect((await commit(dev, 'main')).status).toBe(201)
    const open = await mona.put(`${project.api}/branches/main/unprotect`)
    expect(open.status).toBe(200)
    expect((await mona.get(`${path}/protected_branches/main`)).status).toBe(404)
    // The wildcard still holds.
    expect(await look(dev)).toMatchObject({ protected: true, can_push: false })
  })

  test('of two rules the one that lets more decides, push and force alike', async () => {
    await mona.post(`${path}/protected_branches`, { name: 'rel*' })
    await mona.post(`${path}/protected_branches`, { name: 'rel-1', push_access_level: 30 })
    expect((await commit(dev, 'rel-1', { start_branch: 'main' })).status).toBe(201)
    expect((await commit(dev, 'rel-2', { start_branch: 'main' })).status).toBe(403)
    const again = { start_branch: 'main', force: true }
    expect((await commit(dev, 'rel-1', again)).status).not.toBe(201)
    await mona.patch(`${path}/protected_branches/rel-1`, { allow_force_push: true })
    expect((await commit(dev, 'rel-1', again)).status).toBe(201)
  })

  test('is deleted by the API only, and by Maintainers', async () => {
    await ana.post(`${project.api}/branches`, { branch: 'kept', ref: 'main' })
    await mona.post(`${path}/protected_branches`, { name: 'kept', push_access_level: 30 })
    const branch = `${project.api}/branches/kept`
    expect((await dev.delete(branch)).status).toBe(403)
    expect((await dev.delete(`${project.api}/merged_branches`)).status).toBe(202)
    await world.runTasks()
    expect((await dev.get(branch)).status).toBe(200)
    expect((await mona.delete(branch)).status).toBe(204)
    // The rule does not need its branch.
    expect((await dev.get(`${path}/protected_branches/kept`)).status).toBe(200)
  })

  test('takes statuses, schedules and pipelines from those alone who may push or merge', async () => {
    const sha = project.git('rev-parse', 'main')
    const report = (by: Caller, name: string) =>
      by.post(`${path}/statuses/${sha}`, { state: 'success', ref: 'main', name })
    expect((await report(dev, 'before')).status).toBe(201)
    await mona.post(`${path}/protected_branches`, { name: 'main' })
    const refused = await report(dev, 'after')
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    expect((await report(mona, 'after')).status).toBe(201)
    const [level] = (await mona.get(`${path}/protected_branches/main`)).body.merge_access_levels
    await mona.patch(`${path}/protected_branches/main`, {
      allowed_to_merge: [{ id: level.id, access_level: 30 }],
    })
    expect((await report(dev, 'merging')).status).toBe(201)
    expect((await report(rep, 'reading')).status).toBe(403)
    const names = (await dev.get(`${project.api}/commits/${sha}/statuses`)).body.map(
      (one: { name: string }) => one.name,
    )
    expect(names.sort()).toEqual(['after', 'before', 'merging'])
  })

  test('is found by a part of its name, in pages', async () => {
    for (const name of ['main', 'rel/*', '*-stable', 'relay']) {
      expect((await mona.post(`${path}/protected_branches`, { name })).status).toBe(201)
    }
    const names = async (query: string) =>
      ((await dev.get(`${path}/protected_branches?${query}`)).body as { name: string }[])
        .map((one) => one.name)
        .sort()
    expect(await names('search=rel')).toEqual(['rel/*', 'relay'])
    expect(await names('search=*')).toEqual(['*-stable', 'rel/*'])
    expect(await names('search=_')).toEqual([])
    expect((await names('per_page=3')).length).toBe(3)
    expect((await names('per_page=3&page=2')).length).toBe(1)
    expect((await rep.get(`${path}/protected_branches`)).status).toBe(403)
  })
})

describe('a protected tag', () => {
  test('is made and deleted by those whom its levels name', async () => {
    const tags = `${path}/protected_tags`
    const made = await mona.post(tags, { name: 'v*' })
    expect(made.body).toEqual({
      name: 'v*',
      create_access_levels: [
        {
          id: expect.any(Number),
          access_level: 40,
          access_level_description: 'Maintainers',
          user_id: null,
          group_id: null,
          deploy_key_id: null,
        },
      ],
    })
    expect((await tag(dev, 'v9')).status).toBe(403)
    expect((await tag(dev, 'w9')).status).toBe(201)
    expect((await tag(mona, 'v9')).status).toBe(201)
    expect((await dev.delete(`${project.api}/tags/v9`)).status).toBe(403)
    expect((await dev.get(`${project.api}/tags/v9`)).body.protected).toBe(true)
    expect((await dev.get(`${project.api}/tags/w9`)).body.protected).toBe(false)
    expect((await mona.delete(`${tags}/v*`)).status).toBe(204)
    expect((await mona.delete(`${tags}/v*`)).status).toBe(404)
    expect((await dev.delete(`${project.api}/tags/v9`)).status).toBe(204)
  })

  test.each([
    [0, 'No one', [false, false]],
    [30, 'Developers + Maintainers', [true, true]],
    [40, 'Maintainers', [false, true]],
  ])(
    'of level %i (%s) is for: developers, maintainers %j',
    async (level, text, [byDev, byMona]) => {
      const made = await mona.post(`${path}/protected_tags`, {
        name: 't*',
        create_access_level: level,
      })
      expect(made.body.create_access_levels).toMatchObject([
        { access_level: level, access_level_description: text },
      ])
      expect((await tag(dev, 't-dev')).status === 201).toBe(byDev)
      expect((await tag(mona, 't-mona')).status === 201).toBe(byMona)
    },
  )

  test('may name people, who are members', async () => {
    const stranger = await world.user(`stranger${count}`)
    const tags = `${path}/protected_tags`
    const named = (id: number) =>
      mona.post(tags, { name: 'p*', allowed_to_create: [{ user_id: id }] })
    expect((await named(stranger.id)).status).toBe(422)
    expect((await named(dev.id)).body.create_access_levels).toMatchObject([
      { user_id: dev.id, access_level_description: 'dev' },
    ])
    expect((await tag(dev, 'p1')).status).toBe(201)
    expect((await tag(other, 'p2')).status).toBe(403)
    expect((await tag(mona, 'p3')).status).toBe(403)
  })

  test('is refused with a level that there is not, and without a name', async () => {
    const tags = `${path}/protected_tags`
    const level = await mona.post(tags, { name: 'a', create_access_level: 35 })
    expect([level.status, level.body]).toEqual([
      400,
      { error: 'create_access_level does not have a valid value' },
    ])
    expect((await mona.post(tags, {})).body).toEqual({ error: 'name is missing' })
    expect((await dev.post(tags, { name: 'a' })).status).toBe(403)
    expect((await mona.get(tags)).body).toEqual([])
  })
})

describe('push rules', () => {
  test('are changed one by one, taken away by null, and hold for commits of the API', async () => {
    const rule = `${path}/push_rule`
    const first = (await mona.post(rule, { commit_message_regex: '^ABC-\\d+' })).body
    const changes: [object, object][] = [
      [{ commit_message_negative_regex: 'wip' }, { commit_message_negative_regex: 'wip' }],
      [{ author_email_regex: '@example\\.com$' }, { author_email_regex: '@example\\.com$' }],
      [{ branch_name_regex: '^x/' }, { branch_name_regex: '^x/' }],
      [{ file_name_regex: '\\.exe$' }, { file_name_regex: '\\.exe$' }],
      [{ max_file_size: 3 }, { max_file_size: 3 }],
      [{ member_check: true }, { member_check: true }],
      [{ prevent_secrets: true }, { prevent_secrets: true }],
      [{ deny_delete_tag: true }, { deny_delete_tag: true }],
      [{ reject_non_dco_commits: true }, { reject_non_dco_commits: true }],
      [{ reject_non_dco_commits: false }, { reject_non_dco_commits: false }],
      [{ file_name_regex: null }, { file_name_regex: '' }],
      [{ commit_message_negative_regex: '' }, { commit_message_negative_regex: '' }],
    ]
    let expected = first
    for (const [change, effect] of changes) {
      expected = { ...expected, ...effect }
      const changed = await mona.put(rule, change)
      expect([changed.status, changed.body]).toEqual([200, expected])
    }
    expect((await mona.get(rule)).body).toEqual(expected)
    const said = async (reply: Promise<Reply>) => JSON.stringify((await reply).body)
    expect(await said(commit(dev, 'feature/one', { commit_message: 'no ticket' }))).toContain(
      'does not follow the pattern',
    )
    const message = { commit_message: 'ABC-1 with one' }
    expect((await commit(dev, 'feature/one', message)).status).toBe(201)
    const secret = [{ action: 'create', file_path: 'id_rsa', content: 'x' }]
    expect(await said(commit(dev, 'feature/one', { ...message, actions: secret }))).toContain(
      'id_rsa was prohibited',
    )
    const branch = { branch: 'y/1', ref: 'main' }
    expect(await said(dev.post(`${project.api}/branches`, branch))).toContain("'^x/'")
    expect((await dev.post(`${project.api}/branches`, { ...branch, branch: 'x/1' })).status).toBe(
      201,
    )
    expect(await said(dev.delete(`${project.api}/tags/v1.0.0`))).toContain('cannot delete a tag')
    expect((await mona.delete(rule)).status).toBe(204)
    expect((await commit(dev, 'feature/one', { commit_message: 'no ticket' })).status).toBe(201)
    expect((await dev.delete(`${project.api}/tags/v1.0.0`)).status).toBe(204)
    expect((await mona.put(rule, { max_file_size: 1 })).body).toEqual({
      message: '404 Push Rule Not Found',
    })
  })

  test('are refused when they could not be followed, and for Developers', async () => {
    const rule = `${path}/push_rule`
    const size = await mona.post(rule, { max_file_size: -1 })
    expect([size.status, size.body]).toEqual([
      400,
      { error: 'max_file_size does not have a valid value' },
    ])
    const pattern = await mona.post(rule, { branch_name_regex: '(?<!a)b' })
    expect(pattern.status).toBe(400)
    expect(pattern.body.message.branch_name_regex[0]).toContain('is an invalid regular expression')
    expect((await dev.post(rule, {})).status).toBe(403)
    expect((await mona.get(rule)).body).toBeNull()
  })
})
