import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getVisibleProject } from '../../src/access/subjects.ts'
import { moveRefs } from '../../src/repositories/refs/move-refs.ts'
import {
  addMember,
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'
import { sendPush } from './raw-push.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let dev: Caller
let maintainer: Caller

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  dev = await world.user('dev')
  maintainer = await world.user('mona')
})

afterAll(() => folders.clear())

let count = 0

/** A project with `main` pushed by its owner, a developer and a maintainer; and the owner's clone. */
async function protectedProject(): Promise<{ project: TestProject; source: string }> {
  const project = await makeProject(world, ana, `rules-${++count}`)
  const source = await folders.repository()
  await gitClient(source, ['push', '-q', project.url(ana), 'main'])
  await addMember(world, project, dev, 30)
  await addMember(world, project, maintainer, 40)
  return { project, source }
}

async function protect(
  project: TestProject,
  name: string,
  push: number | null,
  more: { force?: boolean; merge?: number } = {},
): Promise<void> {
  const now = world.ctx.now()
  const { id } = await world.ctx.db
    .insertInto('protected_branches')
    .values({
      project_id: project.id,
      name,
      allow_force_push: more.force ?? false,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const levels = [
    ...(push === null ? [] : [{ action: 'push' as const, access_level: push }]),
    { action: 'merge' as const, access_level: more.merge ?? 40 },
  ]
  for (const level of levels) {
    await world.ctx.db
      .insertInto('protected_branch_levels')
      .values({ protected_branch_id: id, ...level })
      .execute()
  }
}

async function protectTags(project: TestProject, name: string, level: number): Promise<void> {
  const now = world.ctx.now()
  const { id } = await world.ctx.db
    .insertInto('protected_tags')
    .values({ project_id: project.id, name, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  await world.ctx.db
    .insertInto('protected_tag_levels')
    .values({ protected_tag_id: id, access_level: level })
    .execute()
}

/** What the server says to a push; empty when it went through. */
async function push(source: string, project: TestProject, who: Caller, ...args: string[]) {
  const run = await runGitClient(source, ['push', project.url(who), ...args])
  return run.code === 0 ? '' : run.stderr
}

describe('rules on pushes', () => {
  test('a developer may not push to the protected default branch, a maintainer may', async () => {
    const { project, source } = await protectedProject()
    await commitFile(source, 'a', 'a', 'More')
    const said = await push(source, project, dev, 'main')
    expect(said).toContain(
      'remote: SVC: You are not allowed to push code to protected branches on this project.',
    )
    expect(said).toContain('[remote rejected] main -> main (pre-receive hook declined)')
    expect(await push(source, project, maintainer, 'main')).toBe('')
  })

  test('nobody may force-push a protected branch, not even an administrator, unless the rule says so', async () => {
    const { project, source } = await protectedProject()
    await gitClient(source, ['commit', '-q', '--amend', '-m', 'Begin again'])
    for (const who of [ana, world.root]) {
      const said = await push(source, project, who, '--force', 'main')
      expect(said).toContain(
        'SVC: You are not allowed to force push code to a protected branch on this project.',
      )
    }
    await protect(project, 'ma*', 40, { force: true })
    expect(await push(source, project, maintainer, '--force', 'main')).toBe('')
  })

  test('one refused ref refuses the whole push', async () => {
    const { project, source } = await protectedProject()
    await commitFile(source, 'a', 'a', 'More')
    const said = await push(source, project, dev, 'main', 'main:topic')
    expect(said).toMatch(/rejected\] main -> topic \(pre-receive hook declined\)/)
    expect(await gitClient(project.repository, ['branch', '--list', 'topic'])).toBe('')
  })

  test('protected branches are not deleted by git, and the default branch not at all', async () => {
    const { project, source } = await protectedProject()
    await protect(project, 'stable', 40)
    await push(source, project, ana, 'main:stable')
    expect(await push(source, project, ana, ':stable')).toContain(
      'You can only delete protected branches using the web interface or the API.',
    )
    expect(await push(source, project, ana, ':main')).toContain(
      'The default branch of a project cannot be deleted.',
    )
  })

  test('a branch whose name a protected pattern means is not made by those who may not push there', async () => {
    const { project, source } = await protectedProject()
    await protect(project, 'release/*', 40)
    expect(await push(source, project, dev, 'main:release/1')).toContain(
      'You are not allowed to create protected branches on this project.',
    )
    expect(await push(source, project, maintainer, 'main:release/1')).toBe('')
  })

  test('level 0 stops owners and administrators too', async () => {
    const { project, source } = await protectedProject()
    await protect(project, 'frozen', 0)
    expect(await push(source, project, ana, 'main:frozen')).toContain('not allowed to create')
    expect(await push(source, project, world.root, 'main:frozen')).toContain('not allowed')
  })

  test('existing tags are moved by maintainers only, protected ones by nobody', async () => {
    const { project, source } = await protectedProject()
    await gitClient(source, ['tag', 'v1'])
    expect(await push(source, project, dev, 'v1')).toBe('')
    await commitFile(source, 'a', 'a', 'More')
    await gitClient(source, ['tag', '-f', 'v1'])
    expect(await push(source, project, dev, '--force', 'v1')).toContain(
      'You are not allowed to change existing tags on this project.',
    )
    expect(await push(source, project, maintainer, '--force', 'v1')).toBe('')
    await protectTags(project, 'v*', 40)
    await gitClient(source, ['tag', 'v2'])
    expect(await push(source, project, dev, 'v2')).toContain(
      'You are not allowed to create this tag as it is protected.',
    )
    expect(await push(source, project, maintainer, 'v2')).toBe('')
    expect(await push(source, project, ana, '--force', 'v1~1:refs/tags/v1')).toContain(
      'Protected tags cannot be updated.',
    )
    expect(await push(source, project, ana, ':v1')).toContain('Protected tags cannot be deleted.')
  })

  test.each(['a'.repeat(40), 'F'.repeat(40), 'refs/heads/x', 'b'.repeat(64), 'HEAD'])(
    'a branch or tag may not be called %s',
    async (name) => {
      const { project, source } = await protectedProject()
      expect(await push(source, project, ana, `main:refs/heads/${name}`)).toContain(
        `You cannot create a branch with the prohibited name '${name}'.`,
      )
      expect(await push(source, project, ana, `main:refs/tags/${name}`)).toContain(
        'prohibited name',
      )
    },
  )

  test.each([
    'refs/keep-around/x',
    'refs/merge-requests/1/head',
    'refs/pipelines/1',
    'refs/environments/a',
    'refs/notesy/commits',
    'refs/x',
  ])('%s is refused by itself, beside branches that go through', async (ref) => {
    const { project, source } = await protectedProject()
    const said = await push(source, project, ana, 'main:topic', `main:${ref}`)
    expect(said).toContain('deny updating a hidden ref')
    expect(await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])).toBe(
      'refs/heads/main\nrefs/heads/topic',
    )
  })

  test('a hidden ref refuses the whole of an atomic push', async () => {
    const { project, source } = await protectedProject()
    const said = await push(source, project, ana, '--atomic', 'main:topic', 'main:refs/x')
    expect(said).toMatch(/main -> topic \(atomic push failure\)/)
    expect(said).toMatch(/main -> refs\/x \(deny updating a hidden ref\)/)
    expect(await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])).toBe(
      'refs/heads/main',
    )
  })

  test('notes travel with those who may push, and nobody else brings any', async () => {
    const { project, source } = await protectedProject()
    await gitClient(source, ['notes', 'add', '-m', 'released in 1.0.0', 'main'])
    expect(await push(source, project, dev, 'refs/notes/commits')).toBe('')
    await gitClient(source, ['notes', 'append', '-m', 'and in 1.0.1', 'main'])
    expect(await push(source, project, dev, 'refs/notes/commits')).toBe('')
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', project.url(ana), 'clone'])
    const clone = join(folder, 'clone')
    await gitClient(clone, ['fetch', '-q', 'origin', 'refs/notes/commits:refs/notes/commits'])
    expect(await gitClient(clone, ['notes', 'show', 'HEAD'])).toContain('and in 1.0.1')
    await gitClient(clone, ['notes', 'remove', 'HEAD'])
    await gitClient(clone, ['update-ref', 'refs/notes/other', 'refs/notes/commits'])
    const guest = await world.user(`guest-of-notes-${count}`)
    await addMember(world, project, guest, 10)
    expect(await push(clone, project, guest, 'refs/notes/other')).toMatch(/not allowed|403/)
    expect(await push(clone, project, dev, ':refs/notes/commits')).toBe('')
    expect(await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])).toBe(
      'refs/heads/main',
    )
  })

  test('HEAD and refs that climb out are refused', async () => {
    const { project, source } = await protectedProject()
    const tip = await gitClient(source, ['rev-parse', 'main'])
    for (const name of [
      'HEAD',
      'refs/heads/../x',
      'refs/heads/a..b',
      'refs/heads/x.lock',
      'config',
    ]) {
      const answer = await sendPush(project.url(ana), [[name, tip]])
      expect(answer.text, name).toContain(`ng ${name}`)
    }
    expect(await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])).toBe(
      'refs/heads/main',
    )
    expect(await gitClient(project.repository, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main')
  })

  test('hidden refs are not listed, merge request heads are and can be fetched', async () => {
    const { project, source } = await protectedProject()
    const tip = await gitClient(source, ['rev-parse', 'main'])
    for (const ref of ['refs/keep-around/x', 'refs/tmp/1', 'refs/merge-requests/1/head']) {
      await gitClient(project.repository, ['update-ref', ref, tip])
    }
    const listed = await gitClient(source, ['ls-remote', project.url(ana)])
    expect(listed).toContain('refs/merge-requests/1/head')
    expect(listed).not.toMatch(/keep-around|refs\/tmp/)
    await gitClient(source, ['fetch', '-q', project.url(ana), 'refs/merge-requests/1/head'])
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', '--mirror', project.url(ana), 'mirror'])
    const mirror = join(folder, 'mirror')
    await gitClient(mirror, ['update-ref', 'refs/heads/extra', tip])
    const said = await push(mirror, project, ana, '--mirror')
    expect(said).toContain('deny updating a hidden ref')
    expect(await gitClient(project.repository, ['rev-parse', 'extra'])).toBe(tip)
  })

  test('a branch where a folder is needed changes nothing', async () => {
    const { project, source } = await protectedProject()
    await push(source, project, ana, 'main:a')
    const said = await push(source, project, ana, 'main:a/b')
    expect(said).toContain('remote rejected')
    expect(said).toContain("'refs/heads/a' exists")
    const refs = await gitClient(project.repository, ['for-each-ref', '--format=%(refname:short)'])
    expect(refs).toBe('a\nmain')
  })

  test('an archived project is read-only, and says so', async () => {
    const { project, source } = await protectedProject()
    await world.ctx.db
      .updateTable('projects')
      .set({ archived: 1 })
      .where('id', '=', project.id)
      .execute()
    expect(await push(source, project, ana, 'main:topic')).toContain(
      "You can't push code to an archived project.",
    )
    expect(await gitClient(source, ['ls-remote', project.url(ana), 'main'])).toContain('main')
  })

  test('into an empty project a developer pushes only where the protection to come lets them', async () => {
    const project = await makeProject(world, ana, `empty-${++count}`)
    await addMember(world, project, dev, 30)
    const source = await folders.repository()
    expect(await push(source, project, dev, 'main')).toContain('protected branches')
    const set = (level: number) =>
      world.ctx.settings.change(world.ctx.db, { default_branch_protection: level })
    await set(4)
    expect(await push(source, project, dev, 'main')).toBe('')
    await set(2)
    await commitFile(source, 'a', 'a', 'More')
    expect(await push(source, project, dev, 'main')).toContain('protected branches')
  })
})

describe('the same rules for moves by the API', () => {
  const as = async (caller: Caller, project: TestProject) => {
    const row = await world.ctx.db
      .selectFrom('users')
      .select(['id', 'username', 'name', 'email', 'state', 'kind'])
      .where('id', '=', caller.id)
      .executeTakeFirstOrThrow()
    const user = { ...row, admin: false, external: false }
    const ctx = world.app.makeCtx({ kind: 'user', user, token: null, sudoBy: null })
    return { ctx, project: await getVisibleProject(ctx, String(project.id)) }
  }

  test('refs move by compare-and-swap, with their effects', async () => {
    const { project, source } = await protectedProject()
    const tip = await gitClient(source, ['rev-parse', 'main'])
    const { ctx, project: seen } = await as(ana, project)
    const move = { name: 'refs/heads/api', oldId: '0'.repeat(40), newId: tip }
    await moveRefs(ctx, seen, { via: 'api', moves: [move] })
    expect(await gitClient(project.repository, ['rev-parse', 'api'])).toBe(tip)
    await expect(moveRefs(ctx, seen, { via: 'api', moves: [move] })).rejects.toMatchObject({
      code: 'exists',
    })
    const pushes = await ctx.db
      .selectFrom('ref_moves')
      .innerJoin('pushes', 'pushes.id', 'ref_moves.push_id')
      .select(['ref_moves.state', 'pushes.state as push_state', 'pushes.via'])
      .where('ref', '=', move.name)
      .where('ref_moves.project_id', '=', project.id)
      .orderBy('ref_moves.id')
      .execute()
    expect(pushes).toEqual([
      { state: 'moved', push_state: 'closed', via: 'api' },
      { state: 'refused', push_state: 'closed', via: 'api' },
    ])
  })

  test('a developer may not move a protected branch, and may merge where the rule lets them', async () => {
    const { project, source } = await protectedProject()
    await world.ctx.db
      .deleteFrom('protected_branches')
      .where('project_id', '=', project.id)
      .execute()
    await protect(project, 'main', 40, { merge: 30 })
    const before = await gitClient(source, ['rev-parse', 'main'])
    const after = await commitFile(source, 'a', 'a', 'More')
    await gitClient(source, ['push', '-q', project.url(dev), 'main:topic'])
    const { ctx, project: seen } = await as(dev, project)
    const moves = [{ name: 'refs/heads/main', oldId: before, newId: after }]
    await expect(moveRefs(ctx, seen, { via: 'api', moves })).rejects.toMatchObject({ status: 403 })
    await moveRefs(ctx, seen, { via: 'merge', moves })
    expect(await gitClient(project.repository, ['rev-parse', 'main'])).toBe(after)
  })

  test('a developer who may merge makes a protected branch from protected commits only', async () => {
    const { project, source } = await protectedProject()
    await protect(project, 'release/*', 40, { merge: 30 })
    const protectedTip = await gitClient(source, ['rev-parse', 'main'])
    const own = await commitFile(source, 'a', 'a', 'Mine')
    await gitClient(source, ['push', '-q', project.url(dev), 'main:topic'])
    const { ctx, project: seen } = await as(dev, project)
    const make = (name: string, newId: string) =>
      moveRefs(ctx, seen, { via: 'api', moves: [{ name, oldId: '0'.repeat(40), newId }] })
    await expect(make('refs/heads/release/own', own)).rejects.toMatchObject({ status: 403 })
    await make('refs/heads/release/1', protectedTip)
  })
})

describe('rules made through the API', () => {
  test('decide on pushes of the git program: named users, groups, tags and rules of a group', async () => {
    const { body: group } = await ana.post('/groups', { name: 'team', path: 'team' })
    const { body: made } = await ana.post('/projects', { name: 'app', namespace_id: group.id })
    const address = (who: Caller) =>
      `${world.url.replace('//', `//${who.username}:${who.token}@`)}/team/app.git`
    const source = await folders.repository()
    await gitClient(source, ['push', '-q', address(ana), 'main', 'main:prod', 'main:named'])
    const { body: crew } = await ana.post('/groups', { name: 'crew', path: 'crew' })
    await ana.post(`/groups/${crew.id}/members`, { user_id: dev.id, access_level: 30 })
    const share = { group_id: crew.id, group_access: 30 }
    expect((await ana.post(`/projects/${made.id}/share`, share)).status).toBe(201)
    const other = await world.user('otto')
    await ana.post(`/projects/${made.id}/members`, { user_id: other.id, access_level: 30 })

    await ana.post(`/groups/${group.id}/protected_branches`, { name: 'prod', push_access_level: 0 })
    await ana.post(`/projects/${made.id}/protected_branches`, {
      name: 'named',
      allowed_to_push: [{ group_id: crew.id }],
    })
    await ana.post(`/projects/${made.id}/protected_tags`, {
      name: 'v*',
      allowed_to_create: [{ user_id: other.id }],
    })
    await commitFile(source, 'b', 'b', 'Next')
    const tell = async (who: Caller, ref: string) => {
      const run = await runGitClient(source, ['push', address(who), ref])
      return run.code === 0 ? 'went through' : run.stderr
    }
    const refused = 'You are not allowed to push code to protected branches on this project.'
    expect(await tell(ana, 'main:prod')).toContain(refused)
    expect(await tell(other, 'main:named')).toContain(refused)
    expect(await tell(dev, 'main:named')).toBe('went through')
    expect(await tell(dev, 'main:refs/tags/v1')).toContain(
      'You are not allowed to create this tag as it is protected.',
    )
    expect(await tell(other, 'main:refs/tags/v1')).toBe('went through')
  })
})
