import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { git } from '../../support/git.ts'
import { gitClient } from '../../support/git-client.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let count = 0

async function project(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createProject(owner, `p${count}`, more)
}

async function group(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  return createGroup(owner, `g${count}`, more)
}

const encoded = (path: string) => encodeURIComponent(path)

describe('a project with a readme', () => {
  test('has one commit on a protected default branch, and facts about its content', async () => {
    const made = await project({ initialize_with_readme: true, description: 'All of it' })
    const { body } = await ana.get(`/projects/${made.id}?license=true&statistics=true`)
    expect(body).toMatchObject({ empty_repo: false, default_branch: 'main', license: null })
    const readme = await ana.get(`/projects/${made.id}/repository/files/README.md/raw`)
    expect(readme.body).toBe(`# ${made.name}\n\nAll of it\n`)
    await world.runTasks()
    // The size is measured when pushes have come to rest.
    world.setNow('2026-05-04T10:00:02.000Z')
    await world.runTasks()
    const later = await ana.get(`/projects/${made.id}?statistics=true`)
    expect(later.body.readme_url).toBe(`${made.web_url}/-/blob/main/README.md`)
    expect(later.body.statistics.commit_count).toBe(1)
    expect(later.body.statistics.repository_size).toBeGreaterThan(0)
    const branch = await ana.get(`/projects/${made.id}/repository/branches/main`)
    expect(branch.body.protected).toBe(true)
  })
  test('shows the address of the readme when it is made, and of the license as soon as there is one', async () => {
    const made = await project({ initialize_with_readme: true })
    expect(made.readme_url).toBe(`${made.web_url}/-/blob/main/README.md`)
    const api = `/projects/${made.id}`
    const { content } = (await ana.get('/templates/licenses/mit')).body
    const license = async () => (await ana.get(`${api}?license=true`)).body.license?.key
    expect(await license()).toBeUndefined()
    const file = { branch: 'main', content, commit_message: 'Give it a license' }
    expect((await ana.post(`${api}/repository/files/LICENSE`, file)).status).toBe(201)
    expect(await license()).toBe('mit')
  })
})

describe('changing a project', () => {
  test('changes what is sent, and answers the whole project', async () => {
    const { id } = await project({ topics: ['one'] })
    const { status, body } = await ana.put(`/projects/${id}`, {
      description: 'New',
      merge_method: 'rebase_merge',
      squash_option: 'always',
      topics: 'two, three',
      visibility: 'public',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      description: 'New',
      merge_method: 'rebase_merge',
      squash_option: 'always',
      topics: ['two', 'three'],
      visibility: 'public',
    })
    const again = await ana.put(`/projects/${id}`, { merge_method: 'merge', description: null })
    expect(again.body).toMatchObject({
      description: null,
      merge_method: 'merge',
      squash_option: 'always',
    })
  })

  test('two changes at once lose nothing of each other', async () => {
    const { id } = await project()
    await Promise.all([
      ana.put(`/projects/${id}`, { merge_method: 'ff' }),
      ana.put(`/projects/${id}`, { squash_option: 'never' }),
      ana.put(`/projects/${id}`, { ci_config_path: 'ci.yml' }),
    ])
    expect((await ana.get(`/projects/${id}`)).body).toMatchObject({
      merge_method: 'ff',
      squash_option: 'never',
      ci_config_path: 'ci.yml',
    })
  })

  test('a new path moves the project, and the old one leads to it until it is taken again', async () => {
    const made = await project({ visibility: 'public' })
    const old = encoded(made.path_with_namespace)
    const { body } = await ana.put(`/projects/${made.id}`, { path: 'moved-away' })
    expect(body.path_with_namespace).toBe('ana/moved-away')
    const reply = await ben.get(`/projects/${old}?statistics=true`)
    expect([reply.status, reply.headers.get('location')]).toEqual([
      301,
      `${world.app.config.externalUrl}/api/v4/projects/${made.id}?statistics=true`,
    ])
    const written = await ana.put(`/projects/${old}`, { description: 'x' })
    expect([written.status, written.body]).toEqual([
      405,
      { message: 'Non GET methods are not allowed for moved projects' },
    ])
    expect((await ana.post('/projects', { name: 'Again', path: made.path })).status).toBe(201)
    expect((await ana.get(`/projects/${old}`)).status).toBe(200)
  })

  test('a stranger to a moved private project learns nothing', async () => {
    const made = await project()
    await ana.put(`/projects/${made.id}`, { path: `elsewhere-${made.id}` })
    expect((await ben.get(`/projects/${encoded(made.path_with_namespace)}`)).status).toBe(404)
  })

  test('maintainers change settings, but not how visible it is', async () => {
    const { id } = await project()
    await ana.post(`/projects/${id}/members`, { user_id: ben.id, access_level: 40 })
    expect((await ben.put(`/projects/${id}`, { description: 'by ben' })).status).toBe(200)
    expect((await ben.put(`/projects/${id}`, { visibility: 'public' })).status).toBe(403)
    expect((await ben.delete(`/projects/${id}`)).status).toBe(403)
  })

  test('a project is no more visible than its group', async () => {
    const parent = await group()
    const { id } = await project({ namespace_id: parent.id })
    const reply = await ana.put(`/projects/${id}`, { visibility: 'public' })
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: { visibility_level: ['public is not allowed in a private group.'] } },
    ])
  })

  test('the default branch of a filled project must exist, that of an empty one need not', async () => {
    const empty = await project()
    const wished = await ana.put(`/projects/${empty.id}`, { default_branch: 'trunk' })
    expect([wished.status, wished.body.default_branch]).toEqual([200, 'trunk'])
    const filled = await project({ initialize_with_readme: true })
    const reply = await ana.put(`/projects/${filled.id}`, { default_branch: 'nowhere' })
    expect(reply.status).toBe(400)
    expect(reply.body.message.base[0]).toContain("branch named 'nowhere'")
  })

  test('an archived project takes no changes until it is unarchived', async () => {
    const { id } = await project()
    const archived = await ana.post(`/projects/${id}/archive`)
    expect([archived.status, archived.body.archived]).toEqual([201, true])
    expect((await ana.put(`/projects/${id}`, { description: 'x' })).status).toBe(403)
    expect((await ben.post(`/projects/${id}/unarchive`)).status).toBe(404)
    const back = await ana.post(`/projects/${id}/unarchive`)
    expect([back.status, back.body.archived]).toEqual([201, false])
    expect((await ana.put(`/projects/${id}`, { description: 'x' })).status).toBe(200)
  })

  test('an avatar is served as it was uploaded, and removed by an empty text', async () => {
    const { id } = await project()
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    const form = new FormData()
    form.set('avatar', new Blob([png], { type: 'image/png' }), 'me.png')
    const { body } = await ana.put(`/projects/${id}`, undefined, { raw: form })
    expect(body.avatar_url).toContain(`/uploads/-/system/project/avatar/${id}/me.png`)
    const shown = await fetch(`${world.url}/api/v4/projects/${id}/avatar`, {
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    })
    expect(Buffer.from(await shown.arrayBuffer()).equals(png)).toBe(true)
    const gone = await ana.put(`/projects/${id}`, { avatar: '' })
    expect(gone.body.avatar_url).toBeNull()
    expect((await ana.get(`/projects/${id}/avatar`)).status).toBe(404)
  })
})

describe('deleting a project', () => {
  test('hides it at once, frees its path, and removes the repository', async () => {
    const made = await project()
    const reply = await ana.delete(`/projects/${made.id}`)
    expect([reply.status, reply.body]).toEqual([202, { message: '202 Accepted' }])
    expect((await ana.get(`/projects/${made.id}`)).status).toBe(404)
    expect((await ana.get(`/projects/${encoded(made.path_with_namespace)}`)).status).toBe(404)
    expect((await ana.post('/projects', { name: made.name })).status).toBe(201)
    await world.runTasks()
    expect(await world.ctx.git.exists(made.id)).toBe(false)
    const left = await world.ctx.db
      .selectFrom('projects')
      .select('id')
      .where('id', '=', made.id)
      .execute()
    expect(left).toEqual([])
  })

  test('can be delayed, undone, and hurried', async () => {
    await world.ctx.settings.change(world.ctx.db, { delayed_project_removal: true })
    const made = await project()
    await ana.delete(`/projects/${made.id}`)
    const marked = await ana.get(`/projects/${made.id}`)
    expect(marked.body.marked_for_deletion_on).toBe('2026-05-04')
    const back = await ana.post(`/projects/${made.id}/restore`)
    expect([back.status, back.body.marked_for_deletion_on]).toEqual([201, null])
    await ana.delete(`/projects/${made.id}`)
    const wrong = await ana.delete(`/projects/${made.id}?permanently_remove=true&full_path=x/y`)
    expect(wrong.status).toBe(400)
    const full = encoded(made.path_with_namespace)
    const gone = await ana.delete(`/projects/${made.id}?permanently_remove=true&full_path=${full}`)
    expect(gone.status).toBe(202)
    const other = await project()
    await ana.delete(`/projects/${other.id}`)
    world.setNow('2026-06-10T10:00:00.000Z')
    await world.runTasks()
    expect((await ana.get(`/projects/${other.id}`)).status).toBe(404)
    world.setNow('2026-05-04T10:00:00.000Z')
    await world.ctx.settings.change(world.ctx.db, { delayed_project_removal: false })
  })
})

describe('stars', () => {
  test('count once for each user', async () => {
    const { id } = await project({ visibility: 'public' })
    const starred = await ben.post(`/projects/${id}/star`)
    expect([starred.status, starred.body.star_count]).toEqual([201, 1])
    const twice = await ben.post(`/projects/${id}/star`)
    expect([twice.status, twice.body]).toEqual([304, ''])
    const starrers = await ana.get(`/projects/${id}/starrers`)
    expect(starrers.body).toMatchObject([
      { starred_since: '2026-05-04T10:00:00.000Z', user: { username: 'ben' } },
    ])
    const list = await ana.get('/users/ben/starred_projects')
    expect(list.body.map((one: { id: number }) => one.id)).toEqual([id])
    expect((await ben.post(`/projects/${id}/unstar`)).body.star_count).toBe(0)
    expect((await ben.post(`/projects/${id}/unstar`)).status).toBe(304)
    expect((await world.nobody.post(`/projects/${id}/star`)).status).toBe(401)
  })
})

describe('forks', () => {
  test('hold the branches of their parent and become ready', async () => {
    const parent = await project({ visibility: 'public', initialize_with_readme: true })
    const { status, body } = await ben.post(`/projects/${parent.id}/fork`)
    expect([status, body.import_status]).toEqual([201, 'scheduled'])
    expect(body).toMatchObject({
      path_with_namespace: `ben/${parent.path}`,
      forked_from_project: { id: parent.id },
      empty_repo: false,
      visibility: 'public',
    })
    await world.runTasks()
    expect((await ben.get(`/projects/${body.id}`)).body.import_status).toBe('finished')
    const tree = await ben.get(`/projects/${body.id}/repository/tree`)
    expect(tree.body.map((one: { path: string }) => one.path)).toEqual(['README.md'])
    expect((await ana.get(`/projects/${parent.id}`)).body.forks_count).toBe(1)
    const forks = await ana.get(`/projects/${parent.id}/forks`)
    expect(forks.body.map((one: { id: number }) => one.id)).toEqual([body.id])
    const twice = await ben.post(`/projects/${parent.id}/fork`)
    expect([twice.status, Object.keys(twice.body.message)]).toEqual([
      409,
      ['project_namespace.name', 'name', 'path'],
    ])
    await ben.delete(`/projects/${body.id}/fork`)
    expect((await ben.get(`/projects/${body.id}`)).body.forked_from_project).toBeUndefined()
    expect((await ben.delete(`/projects/${body.id}/fork`)).status).toBe(304)
  })

  test('of one branch never have another, whatever stops the server after they are shown', async () => {
    const parent = await project({ visibility: 'public', initialize_with_readme: true })
    const api = `/projects/${parent.id}`
    await ana.post(`${api}/repository/branches`, { branch: 'topic', ref: 'main' })
    await ana.post(`${api}/repository/branches`, { branch: 'topic-2', ref: 'main' })
    await ana.post(`${api}/repository/tags`, { tag_name: 'v1', ref: 'main' })
    // From here on no ref can be moved: all that is to be gone must never have come.
    await sql`CREATE TRIGGER stop_pushes BEFORE INSERT ON pushes BEGIN
      SELECT RAISE(ABORT, 'stopped'); END`.execute(world.ctx.db)
    try {
      const { status, body } = await ben.post(`${api}/fork`, { branches: 'topic' })
      expect([status, body.default_branch]).toEqual([201, 'topic'])
      const refs = git(world.ctx.git.open(body.id).path, ['for-each-ref', '--format=%(refname)'])
      expect(refs).toBe('refs/heads/topic')
      const head = git(world.ctx.git.open(body.id).path, ['symbolic-ref', 'HEAD'])
      expect(head).toBe('refs/heads/topic')
    } finally {
      await sql`DROP TRIGGER stop_pushes`.execute(world.ctx.db)
    }
  })

  test('of a branch that is not there are not made; no name means all', async () => {
    const parent = await project({ visibility: 'public', initialize_with_readme: true })
    for (const branches of ['topic', '../main', 'ain', 'v1']) {
      const refused = await ben.post(`/projects/${parent.id}/fork`, { branches })
      expect([refused.status, refused.body.message]).toEqual([404, '404 Branch Not Found'])
    }
    const { status, body } = await ben.post(`/projects/${parent.id}/fork`, { branches: '' })
    expect([status, body.default_branch]).toEqual([201, 'main'])
    const refs = git(world.ctx.git.open(body.id).path, ['for-each-ref', '--format=%(refname)'])
    expect(refs).toBe('refs/heads/main')
  })

  test('of a private project stay private, and hide their parent from strangers', async () => {
    const parent = await project({ initialize_with_readme: true })
    expect((await ben.post(`/projects/${parent.id}/fork`)).status).toBe(404)
    await ana.post(`/projects/${parent.id}/members`, { user_id: ben.id, access_level: 30 })
    const raised = await ben.post(`/projects/${parent.id}/fork`, { visibility: 'public' })
    expect(raised.status).toBe(400)
    const target = await ben.post(`/projects/${parent.id}/fork`, { namespace_path: 'nowhere' })
    expect(target.status).toBe(404)
    const { body } = await ben.post(`/projects/${parent.id}/fork`, { path: 'mine', name: 'Mine' })
    expect(body).toMatchObject({ visibility: 'private', path: 'mine', name: 'Mine' })
    await ana.delete(`/projects/${parent.id}/members/${ben.id}`)
    expect((await ben.get(`/projects/${body.id}`)).body.forked_from_project).toBeNull()
  })

  test('are made of a project by its owner, who could fork the other to there', async () => {
    const parent = await project({ visibility: 'public', initialize_with_readme: true })
    const hidden = await project()
    const closed = await project({ visibility: 'public', forking_access_level: 'disabled' })
    const { id } = await project({}, ben)
    const relate = (to: number, by = ben, of = id) => by.post(`/projects/${of}/fork/${to}`)
    for (const [to, status, text] of [
      [hidden.id, 404, '404 Source Project Not Found'],
      [999_999, 404, '404 Source Project Not Found'],
      [closed.id, 403, '403 Forbidden'],
    ] as const) {
      const reply = await relate(to)
      expect([reply.status, reply.body.message]).toEqual([status, text])
    }
    await ben.post(`/projects/${id}/members`, { user_id: ana.id, access_level: 40 })
    expect((await relate(parent.id, ana)).status).toBe(403)
    const related = await relate(parent.id)
    expect([related.status, related.body.forked_from_project.id]).toEqual([201, parent.id])
    expect((await relate(parent.id)).status).toBe(409)
    expect((await ana.get(`/projects/${parent.id}`)).body.forks_count).toBe(1)
  })

  test('are not the parents of what they come from', async () => {
    const parent = await project({ visibility: 'public', initialize_with_readme: true })
    const { body } = await ben.post(`/projects/${parent.id}/fork`)
    for (const id of [parent.id, body.id]) {
      const reply = await ana.post(`/projects/${parent.id}/fork/${id}`)
      expect([id, reply.status]).toEqual([id, 409])
    }
  })

  test('of a group that keeps them inside are made there alone', async () => {
    const name = 'keeps-forks'
    const top = await createGroup(ana, name, { visibility: 'public' })
    await ana.put(`/groups/${top.id}`, { prevent_forking_outside_group: true })
    const parent = await project({ namespace_id: top.id, visibility: 'public' })
    const inside = await project({ namespace_id: top.id })
    const outside = await project()
    const to = `fork/${parent.id}`
    expect((await ana.post(`/projects/${outside.id}/${to}`)).status).toBe(403)
    expect((await ana.post(`/projects/${inside.id}/${to}`)).status).toBe(201)
  })
})

describe('sharing a project', () => {
  test('gives the members of a group the lower of both levels, until it ends', async () => {
    const { id } = await project()
    const team = await group()
    await ana.post(`/groups/${team.id}/members`, { user_id: ben.id, access_level: 40 })
    const reply = await ana.post(`/projects/${id}/share`, {
      group_id: team.id,
      group_access: 30,
      expires_at: '2026-05-06',
    })
    expect([reply.status, reply.body]).toEqual([
      201,
      {
        id: reply.body.id,
        project_id: id,
        group_id: team.id,
        group_access: 30,
        expires_at: '2026-05-06',
      },
    ])
    const seen = await ben.get(`/projects/${id}`)
    expect(seen.body.permissions.project_access.access_level).toBe(30)
    expect(seen.body.shared_with_groups).toMatchObject([
      { group_id: team.id, group_access_level: 30 },
    ])
    const twice = await ana.post(`/projects/${id}/share`, { group_id: team.id, group_access: 10 })
    expect(twice.status).toBe(409)
    world.setNow('2026-05-06T00:00:00.000Z')
    expect((await ben.get(`/projects/${id}`)).status).toBe(404)
    world.setNow('2026-05-04T10:00:00.000Z')
    expect((await ana.delete(`/projects/${id}/share/${team.id}`)).status).toBe(204)
    const gone = await ana.delete(`/projects/${id}/share/${team.id}`)
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Not found' }])
  })

  test('needs a group that the caller sees, and a level no higher than the own', async () => {
    const { id } = await project()
    const secret = await group({}, ben)
    const hidden = await ana.post(`/projects/${id}/share`, {
      group_id: secret.id,
      group_access: 10,
    })
    expect(hidden.body).toEqual({ message: '404 Group Not Found' })
    const cay = await world.user('cay')
    await ana.post(`/projects/${id}/members`, { user_id: cay.id, access_level: 40 })
    const own = await group({}, cay)
    const high = await cay.post(`/projects/${id}/share`, { group_id: own.id, group_access: 50 })
    expect(high.status).toBe(403)
    const odd = await cay.post(`/projects/${id}/share`, { group_id: own.id, group_access: 33 })
    expect(odd.status).toBe(400)
  })

  test('is refused with the groups that it is in', async () => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const { id } = await project({ namespace_id: sub.id })
    const text = 'Project cannot be shared with the group it is in or one of its ancestors.'
    for (const { id: group_id } of [top, sub]) {
      const reply = await ana.post(`/projects/${id}/share`, { group_id, group_access: 10 })
      expect([reply.status, reply.body]).toEqual([400, { message: { base: [text] } }])
    }
  })

  test('is refused where the group keeps its projects to itself', async () => {
    const locked = await group({ share_with_group_lock: true })
    const { id } = await project({ namespace_id: locked.id })
    const team = await group()
    const reply = await ana.post(`/projects/${id}/share`, { group_id: team.id, group_access: 10 })
    expect(reply.body).toEqual({
      message: '400 Bad request - The project sharing with group is disabled',
    })
  })
})

describe('transferring a project', () => {
  test('moves it, keeps it no more visible than its group, and redirects', async () => {
    const made = await project({ visibility: 'public' })
    const team = await group()
    const reply = await ana.put(`/projects/${made.id}/transfer`, { namespace: team.full_path })
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { path_with_namespace: `${team.full_path}/${made.path}`, visibility: 'private' },
    ])
    expect((await ana.get(`/projects/${encoded(made.path_with_namespace)}`)).status).toBe(301)
    const same = await ana.put(`/projects/${made.id}/transfer`, { namespace: team.id })
    expect(same.status).toBe(400)
    const back = await ana.put(`/projects/${made.id}/transfer`, { namespace: 'ana' })
    expect(back.body.path_with_namespace).toBe(made.path_with_namespace)
    const foreign = await ana.put(`/projects/${made.id}/transfer`, { namespace: 'ben' })
    expect(foreign.status).toBe(404)
  })

  test('is refused where the path is taken', async () => {
    const made = await project()
    const team = await group()
    await project({ name: made.name, namespace_id: team.id })
    const reply = await ana.put(`/projects/${made.id}/transfer`, { namespace: team.id })
    expect([reply.status, reply.body.message]).toEqual([
      400,
      'Failed to transfer project Project with same name or path in target namespace already exists',
    ])
  })
})

describe('what is known of a project', () => {
  test('languages are given in percent of bytes, and are empty for an empty project', async () => {
    const { id } = await project()
    expect((await ana.get(`/projects/${id}/languages`)).body).toEqual({})
    const filled = await project({ initialize_with_readme: true })
    expect((await ana.get(`/projects/${filled.id}/languages`)).body).toEqual({})
  })

  test('users who belong to it are listed, each once', async () => {
    const { id } = await project()
    await ana.post(`/projects/${id}/members`, { user_id: ben.id, access_level: 20 })
    const names = (await ana.get(`/projects/${id}/users`)).body.map(
      (one: { username: string }) => one.username,
    )
    expect(names).toEqual(['ana', 'ben'])
    const searched = await ana.get(`/projects/${id}/users?search=be&skip_users=${ana.id}`)
    expect(searched.body).toHaveLength(1)
  })

  test('an administrator makes a project for somebody else', async () => {
    const reply = await world.root.post(`/projects/user/${ben.id}`, { name: 'gift' })
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { path_with_namespace: 'ben/gift', creator_id: ben.id, owner: { username: 'ben' } },
    ])
    expect((await ana.post(`/projects/user/${ben.id}`, { name: 'x' })).status).toBe(403)
  })

  test('an administrator downloads the repository as it lies on disk', async () => {
    const { id } = await project({ initialize_with_readme: true })
    expect((await ana.get(`/projects/${id}/snapshot`)).status).toBe(403)
    const reply = await fetch(`${world.url}/api/v4/projects/${id}/snapshot`, {
      headers: { 'PRIVATE-TOKEN': world.root.token ?? '' },
    })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
    const folder = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
    const tar = Buffer.from(await reply.arrayBuffer())
    spawnSync('tar', ['-x', '-C', folder], { input: tar })
    mkdirSync(join(folder, 'refs'), { recursive: true })
    expect(git(folder, ['--git-dir', folder, 'log', '--format=%s', 'main'])).toBe('Initial commit')
    expect(git(folder, ['--git-dir', folder, 'fsck', '--full'])).toBe('')
    rmSync(folder, { recursive: true })
  })

  test('clones are counted by day, and open issues that everybody sees', async () => {
    const { id } = await project({ initialize_with_readme: true })
    const path = (await ana.get(`/projects/${id}`)).body.path_with_namespace
    const folder = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
    const address = `${world.url.replace('//', `//ana:${ana.token}@`)}/${path}.git`
    for (const name of ['one', 'two']) await gitClient(folder, ['clone', '-q', address, name])
    rmSync(folder, { recursive: true })
    await vi.waitFor(async () => {
      const { body } = await ana.get(`/projects/${id}/statistics`)
      expect(body.fetches).toEqual({ total: 2, days: [{ count: 2, date: '2026-05-04' }] })
    }, 5000)
    await ana.post(`/projects/${id}/issues`, { title: 'seen' })
    await ana.post(`/projects/${id}/issues`, { title: 'unseen', confidential: true })
    expect((await ana.get(`/projects/${id}`)).body.open_issues_count).toBe(1)
  })

  test('housekeeping runs once at a time', async () => {
    const { id } = await project({ initialize_with_readme: true })
    expect((await ana.post(`/projects/${id}/housekeeping`)).status).toBe(201)
    await world.runTasks()
    expect((await ben.post(`/projects/${id}/housekeeping`)).status).toBe(404)
  })
})
