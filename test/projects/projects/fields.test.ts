import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let base: string
let count = 0
beforeAll(async () => {
  base = world.app.config.externalUrl
})

async function project(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createProject(owner, `P ${count}`, more)
}

/** docs/contract/D §1.2 Fields, basic block, as far as everybody sees all of it. */
const basic = [
  'id',
  'description',
  'name',
  'name_with_namespace',
  'path',
  'path_with_namespace',
  'created_at',
  'default_branch',
  'tag_list',
  'topics',
  'ssh_url_to_repo',
  'http_url_to_repo',
  'web_url',
  'readme_url',
  'forks_count',
  'avatar_url',
  'star_count',
  'last_activity_at',
  'visibility',
  'namespace',
].toSorted()

/** The rest of the block in full that is neither a setting nor for some callers alone. */
const full = [
  '_links',
  'marked_for_deletion_on',
  'marked_for_deletion_at',
  'packages_enabled',
  'empty_repo',
  'archived',
  'container_expiration_policy',
  'repository_object_format',
  'issues_enabled',
  'merge_requests_enabled',
  'wiki_enabled',
  'jobs_enabled',
  'snippets_enabled',
  'container_registry_enabled',
  'service_desk_enabled',
  'service_desk_address',
  'can_create_merge_request_in',
  'emails_disabled',
  'creator_id',
  'import_url',
  'import_type',
  'import_status',
  'import_error',
  'open_issues_count',
  'description_html',
  'updated_at',
  'shared_with_groups',
  'permissions',
  'mirror_user_id',
  'compliance_frameworks',
]

describe('a project shows', () => {
  test('anonymous callers and simple lists its basic block, and nothing more', async () => {
    const { id, path } = await project({ visibility: 'public' })
    const listed = await ana.get(`/projects?simple=true&search=${path}`)
    const replies = [
      (await world.nobody.get(`/projects/${id}`)).body,
      (await world.nobody.get(`/projects?search=${path}`)).body[0],
      (await world.nobody.get(`/projects/${id}?statistics=true&with_custom_attributes=true`)).body,
      listed.body[0],
    ]
    for (const body of replies) expect(Object.keys(body).toSorted()).toEqual(basic)
    expect(replies[0]).toEqual(replies[3])
  })

  test('everybody else all of it, and nothing is missing from lists but why an import failed', async () => {
    const { id, path } = await project({ visibility: 'public' })
    const { body } = await ben.get(`/projects/${id}`)
    expect(Object.keys(body)).toEqual(expect.arrayContaining([...basic, ...full]))
    expect(body).not.toHaveProperty('statistics')
    const [listed] = (await ben.get(`/projects?search=${path}`)).body
    const { import_error: why, ...rest } = body
    expect([why, listed]).toEqual([null, rest])
  })

  test('where it is, by URLs that begin with the configured one', async () => {
    const made = await project({ name: 'Some Thing', initialize_with_readme: true })
    const api = `${base}/api/v4/projects/${made.id}`
    expect(made).toMatchObject({
      path: 'some-thing',
      path_with_namespace: 'ana/some-thing',
      name_with_namespace: 'ana / Some Thing',
      web_url: `${base}/ana/some-thing`,
      http_url_to_repo: `${base}/ana/some-thing.git`,
      ssh_url_to_repo: expect.stringMatching(/^git@[^:]+:ana\/some-thing\.git$/),
      _links: {
        self: api,
        issues: `${api}/issues`,
        merge_requests: `${api}/merge_requests`,
        repo_branches: `${api}/repository/branches`,
        labels: `${api}/labels`,
        events: `${api}/events`,
        members: `${api}/members`,
        cluster_agents: `${api}/cluster_agents`,
      },
      namespace: {
        id: expect.any(Number),
        name: 'ana',
        path: 'ana',
        kind: 'user',
        full_path: 'ana',
        parent_id: null,
        avatar_url: null,
        web_url: `${base}/ana`,
      },
    })
  })

  test('its default branch and readme only those who may read the code', async () => {
    const { id, path } = await project({
      visibility: 'public',
      initialize_with_readme: true,
      repository_access_level: 'private',
    })
    const hidden = ['default_branch', 'readme_url', 'forks_count', 'license', 'license_url']
    for (const caller of [ben, world.nobody]) {
      const { body } = await caller.get(`/projects/${id}?license=true`)
      for (const name of hidden) expect(body).not.toHaveProperty(name)
      const [listed] = (await caller.get(`/projects?search=${path}`)).body
      for (const name of hidden) expect(listed).not.toHaveProperty(name)
    }
    const own = await ana.get(`/projects/${id}?license=true`)
    expect(own.body).toMatchObject({ default_branch: 'main', license: null, forks_count: 0 })
    // Guests read what members of a public project may, and no code of a private one.
    await ana.post(`/projects/${id}/members`, { user_id: ben.id, access_level: 10 })
    expect((await ben.get(`/projects/${id}`)).body.default_branch).toBe('main')
    await ana.put(`/projects/${id}`, { visibility: 'private' })
    expect((await ben.get(`/projects/${id}`)).body.default_branch).toBeUndefined()
    await ana.put(`/projects/${id}/members/${ben.id}`, { access_level: 15 })
    expect((await ben.get(`/projects/${id}`)).body.default_branch).toBe('main')
  })

  test('its readme and licence by where they are at the head of the default branch', async () => {
    const { id, web_url: web } = await project({ initialize_with_readme: true })
    const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy`
    const commit = await ana.post(`/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: 'Licence',
      actions: [{ action: 'create', file_path: 'LICENSE', content: mit }],
    })
    expect(commit.status).toBe(201)
    await world.runTasks()
    const shown = (await ana.get(`/projects/${id}?license=true`)).body
    expect(shown).toMatchObject({
      readme_url: `${web}/-/blob/main/README.md`,
      license_url: `${web}/-/blob/main/LICENSE`,
      license: { key: 'mit', name: 'MIT License', nickname: null },
    })
    expect(Object.keys(shown.license)).toEqual([
      'key',
      'name',
      'nickname',
      'html_url',
      'source_url',
    ])
    const unasked = (await ana.get(`/projects/${id}`)).body
    for (const name of ['license', 'license_url']) expect(unasked).not.toHaveProperty(name)
  })

  test('its owner in a personal namespace alone, and who made it everywhere', async () => {
    const team = await createGroup(ana, 'owned')
    const inGroup = await project({ namespace_id: team.id })
    const own = await project()
    const owner = { id: ana.id, username: 'ana', web_url: `${base}/ana` }
    expect(own).toMatchObject({ owner })
    expect(inGroup).not.toHaveProperty('owner')
    for (const made of [own, inGroup]) expect(made.creator_id).toBe(ana.id)
    expect((await ana.get(`/projects/${inGroup.id}/members`)).body).toEqual([])
    expect((await ana.get(`/projects/${own.id}/members`)).body).toMatchObject([
      { id: ana.id, access_level: 50 },
    ])
  })

  test('administrators what is theirs alone', async () => {
    const { id } = await project()
    await world.root.put(`/projects/${id}/custom_attributes/team`, { value: 'red' })
    const asked = `/projects/${id}?with_custom_attributes=true`
    expect((await world.root.get(asked)).body).toMatchObject({
      repository_storage: 'default',
      custom_attributes: [{ key: 'team', value: 'red' }],
    })
    expect((await world.root.get(`/projects/${id}`)).body).not.toHaveProperty('custom_attributes')
    for (const name of ['repository_storage', 'custom_attributes'])
      expect((await ana.get(asked)).body).not.toHaveProperty(name)
  })

  test('its description as HTML, which runs nothing', async () => {
    const { body } = await ana.put(`/projects/${(await project()).id}`, {
      description: '**bold** <script>alert(1)</script>',
    })
    expect(body.description).toBe('**bold** <script>alert(1)</script>')
    expect(body.description_html).toContain('<strong>bold</strong>')
    expect(body.description_html).not.toContain('<script')
  })

  test('how many open issues everybody sees, to those who see issues', async () => {
    const { id } = await project({ visibility: 'public' })
    await ana.post(`/projects/${id}/issues`, { title: 'one' })
    await ana.post(`/projects/${id}/issues`, { title: 'two', confidential: true })
    expect((await ana.get(`/projects/${id}`)).body.open_issues_count).toBe(1)
    await ana.put(`/projects/${id}`, { issues_access_level: 'private' })
    expect((await ben.get(`/projects/${id}`)).body).not.toHaveProperty('open_issues_count')
    expect((await ana.get(`/projects/${id}`)).body.open_issues_count).toBe(1)
  })
})

describe('permissions in a project', () => {
  const permissions = async (caller: Caller, id: number) =>
    (await caller.get(`/projects/${id}`)).body.permissions

  const level = (access_level: number) => ({ access_level, notification_level: 3 })

  test('show the access by the project apart from that by its groups', async () => {
    const top = await createGroup(ana, 'perm')
    const sub = await createGroup(ana, 'sub', { parent_id: top.id })
    const { id } = await project({ namespace_id: sub.id })
    const cay = await world.user('cay')
    await ana.post(`/groups/${top.id}/members`, { user_id: cay.id, access_level: 20 })
    expect(await permissions(cay, id)).toEqual({ project_access: null, group_access: level(20) })
    await ana.post(`/groups/${sub.id}/members`, { user_id: cay.id, access_level: 30 })
    expect(await permissions(cay, id)).toEqual({ project_access: null, group_access: level(30) })
    await ana.post(`/projects/${id}/members`, { user_id: cay.id, access_level: 40 })
    expect(await permissions(cay, id)).toEqual({
      project_access: level(40),
      group_access: level(30),
    })
    await ana.delete(`/groups/${sub.id}/members/${cay.id}?skip_subresources=true`)
    expect(await permissions(cay, id)).toEqual({
      project_access: level(40),
      group_access: level(20),
    })
  })

  test('by an invited group are no more than the invitation gives', async () => {
    const { id } = await project()
    const crew = await createGroup(ana, 'crew')
    const dee = await world.user('dee')
    await ana.post(`/groups/${crew.id}/members`, { user_id: dee.id, access_level: 50 })
    await ana.post(`/projects/${id}/share`, { group_id: crew.id, group_access: 30 })
    expect(await permissions(dee, id)).toEqual({ project_access: level(30), group_access: null })
    await ana.delete(`/projects/${id}/share/${crew.id}`)
    await ana.post(`/projects/${id}/share`, { group_id: crew.id, group_access: 50 })
    await ana.put(`/groups/${crew.id}/members/${dee.id}`, { access_level: 20 })
    expect(await permissions(dee, id)).toEqual({ project_access: level(20), group_access: null })
  })

  test('of an administrator are those of a member, if one is, though all is open', async () => {
    const { id } = await project()
    expect(await permissions(world.root, id)).toEqual({ project_access: null, group_access: null })
    expect((await world.root.put(`/projects/${id}`, { description: 'x' })).status).toBe(200)
    await ana.post(`/projects/${id}/members`, { user_id: world.root.id, access_level: 10 })
    expect(await permissions(world.root, id)).toEqual({
      project_access: level(10),
      group_access: null,
    })
  })

  test('end with the day on which the membership ends', async () => {
    const { id } = await project({ visibility: 'public' })
    const member = { user_id: ben.id, access_level: 30, expires_at: '2026-05-06' }
    await ana.post(`/projects/${id}/members`, member)
    expect((await permissions(ben, id)).project_access).toEqual(level(30))
    world.setNow('2026-05-06T00:00:00.000Z')
    expect((await permissions(ben, id)).project_access).toBeNull()
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test.each([
    [10, false],
    [15, true],
    [20, true],
    [30, true],
  ])('at level %i let one open merge requests in a private project: %j', async (access, may) => {
    const { id } = await project({ initialize_with_readme: true })
    const user = await world.user(`mr-${access}`)
    await ana.post(`/projects/${id}/members`, { user_id: user.id, access_level: access })
    const { body } = await user.get(`/projects/${id}`)
    expect(body.can_create_merge_request_in).toBe(may)
  })

  test('open statistics from Reporters on', async () => {
    const { id } = await project({ visibility: 'public' })
    const user = await world.user('statistician')
    const shown = async () =>
      'statistics' in (await user.get(`/projects/${id}?statistics=true`)).body
    expect(await shown()).toBe(false)
    await ana.post(`/projects/${id}/members`, { user_id: user.id, access_level: 15 })
    expect(await shown()).toBe(false)
    await ana.put(`/projects/${id}/members/${user.id}`, { access_level: 20 })
    expect(await shown()).toBe(true)
  })
})

describe('statistics of a project', () => {
  test('count every kind of bytes, and all of them together', async () => {
    const { id } = await project({ initialize_with_readme: true })
    const form = new FormData()
    form.set('file', new Blob(['x'.repeat(500)]), 'a.txt')
    await ana.post(`/projects/${id}/uploads`, undefined, { raw: form })
    const raw = 'y'.repeat(300)
    await ana.put(`/projects/${id}/packages/generic/a/1/a.bin`, undefined, { raw })
    const { statistics } = (await ana.get(`/projects/${id}?statistics=true`)).body
    expect(Object.keys(statistics)).toEqual([
      'commit_count',
      'storage_size',
      'repository_size',
      'wiki_size',
      'lfs_objects_size',
      'job_artifacts_size',
      'pipeline_artifacts_size',
      'packages_size',
      'snippets_size',
      'uploads_size',
      'container_registry_size',
    ])
    expect(statistics).toMatchObject({ uploads_size: 500, packages_size: 300 })
    const { storage_size: all, commit_count: _, container_registry_size: __, ...parts } = statistics
    expect(Object.values(parts).reduce((a, b) => Number(a) + Number(b), 0)).toBe(all)
  })

  test('of a project that shrinks shrink along', async () => {
    const { id } = await project()
    const form = new FormData()
    form.set('file', new Blob(['x'.repeat(700)]), 'a.txt')
    const file = (await ana.post(`/projects/${id}/uploads`, undefined, { raw: form })).body
    const size = async () =>
      (await ana.get(`/projects/${id}?statistics=true`)).body.statistics.storage_size
    const before = await size()
    await ana.delete(`/projects/${id}/uploads/${file.id}`)
    expect(await size()).toBe(before - 700)
  })
})

describe('groups that a project was shared with', () => {
  test('are shown to those who may see them', async () => {
    const { id } = await project({ visibility: 'public' })
    const secret = await createGroup(ana, 'secret')
    const share = { group_id: secret.id, group_access: 20, expires_at: '2026-07-01' }
    await ana.post(`/projects/${id}/share`, share)
    const link = {
      group_id: secret.id,
      group_name: 'Secret',
      group_full_path: 'secret',
      group_access_level: 20,
      expires_at: '2026-07-01',
    }
    const seen = async (caller: Caller) =>
      (await caller.get(`/projects/${id}`)).body.shared_with_groups
    expect(await seen(ana)).toEqual([link])
    expect(await seen(world.root)).toEqual([link])
    expect(await seen(ben)).toEqual([])
  })
})
