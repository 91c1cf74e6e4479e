import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitstead } from '../support/command-line.ts'
import { createGroup } from '../support/create.ts'
import { git } from '../support/git.ts'
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

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let eve: Caller
let project: TestProject
let open: TestProject

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  eve = await world.user('eve')
  project = await makeProject(world, ana, 'demo')
  open = await makeProject(world, ana, 'open', { visibility: 'public' })
})

afterAll(() => folders.clear())

/** The address of a repository with the caller's token in it. */
function url(path: string, caller?: Caller): string {
  const address = new URL(`${world.url}/${path}.git`)
  if (caller?.token) {
    address.username = caller.username
    address.password = caller.token
  }
  return address.href
}

async function clone(path: string, caller?: Caller): Promise<string> {
  const folder = await folders.folder()
  await gitClient(folder, ['clone', '-q', url(path, caller), '.'])
  return folder
}

const push = (folder: string, ...args: string[]) =>
  runGitClient(folder, ['push', '-q', 'origin', ...args])

async function refusedClone(path: string, caller?: Caller): Promise<string> {
  const run = await runGitClient(await folders.folder(), ['clone', '-q', url(path, caller), '.'])
  expect(run.code).not.toBe(0)
  return run.stderr
}

async function snippet(caller: Caller, visibility = 'private', at = '/snippets') {
  const files = [{ file_path: 'a.txt', content: 'one\n' }]
  const made = await caller.post(at, { title: 'Mine', visibility, files })
  expect(made.status).toBe(201)
  return made.body.id as number
}

describe('a wiki', () => {
  test('is begun by a push, read by the API, edited there, and pulled again', async () => {
    const folder = await clone('ana/demo.wiki', ana)
    await commitFile(folder, 'home page.md', '# Home\n', 'Begin')
    expect((await push(folder, 'HEAD')).code).toBe(0)
    const read = await ana.get(`/projects/${project.id}/wikis/home-page`)
    expect(read.body).toMatchObject({ title: 'home page', slug: 'home-page', content: '# Home\n' })
    const edit = await ana.put(`/projects/${project.id}/wikis/home-page`, { content: '# New\n' })
    expect(edit.status).toBe(200)
    await gitClient(folder, ['pull', '-q'])
    expect(await gitClient(folder, ['show', 'HEAD:home page.md'])).toBe('# New')
    const events = await ana.get(`/projects/${project.id}/events?sort=asc`)
    const told = events.body.filter((one: { target_type: string }) =>
      one.target_type?.startsWith('WikiPage'),
    )
    expect(told.map((one: { action_name: string }) => one.action_name)).toEqual([
      'created',
      'updated',
    ])
  })

  test('takes the name of its branch from the first push, and has no other', async () => {
    const folder = await folders.repository()
    await gitClient(folder, ['branch', '-m', 'trunk'])
    await gitClient(folder, ['remote', 'add', 'origin', url('ana/open.wiki', ana)])
    const two = await push(folder, 'trunk', 'trunk:second')
    expect(two.stderr).toContain('You can not create or delete branches.')
    expect((await push(folder, 'trunk')).code).toBe(0)
    const path = world.ctx.git.open({ kind: 'project_wiki', id: open.id }).path
    expect(git(path, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/trunk')
    expect(await gitClient(await clone('ana/open.wiki'), ['branch', '--show-current'])).toBe(
      'trunk',
    )
    for (const refspec of ['trunk:other', ':trunk', 'trunk:refs/heads/main']) {
      const refused = await push(folder, refspec)
      expect(refused.stderr, refspec).toContain('You can not create or delete branches.')
    }
    await gitClient(folder, ['tag', 'v1'])
    expect((await push(folder, 'v1')).stderr).toContain('You can not create or delete tags.')
    const other = await push(folder, 'trunk:refs/merge-requests/1/head')
    expect(other.code).not.toBe(0)
    expect(git(path, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/trunk')
    const page = await ana.post(`/projects/${open.id}/wikis`, { title: 'more', content: 'x' })
    expect(page.status).toBe(201)
    expect(git(path, ['log', '-1', '--format=%s', 'trunk'])).toBe('ana created page: more')
  })

  test('is for those who may read and write it', async () => {
    expect(await refusedClone('ana/demo.wiki')).toContain('could not read Username')
    expect(await refusedClone('ana/demo.wiki', eve)).toContain('not found')
    expect(await refusedClone('ana/nothing.wiki', eve)).toContain('not found')
    expect(await refusedClone('eve/nothing.wiki', eve)).toContain('not found')
    const reporter = await world.user('reporter')
    await addMember(world, project, reporter, 20)
    const folder = await clone('ana/demo.wiki', reporter)
    await commitFile(folder, 'x.md', 'x', 'Try')
    const refused = await push(folder, 'HEAD')
    expect(refused.stderr).toMatch(/403|not allowed to write to this project's wiki/)
    const stranger = await folders.repository()
    const pushed = await runGitClient(stranger, ['push', url('eve/new.wiki', eve), 'HEAD'])
    expect(pushed.code).not.toBe(0)
    expect((await eve.get('/projects/eve%2Fnew.wiki')).status).toBe(404)
  })

  test('is closed with its feature and kept in an archive', async () => {
    const own = await makeProject(world, ana, 'closed', { visibility: 'public' })
    await ana.post(`/projects/${own.id}/wikis`, { title: 'home', content: 'x' })
    await ana.put(`/projects/${own.id}`, { wiki_access_level: 'private' })
    expect(await refusedClone('ana/closed.wiki', eve)).toContain('403')
    expect(await refusedClone('ana/closed.wiki')).toContain('could not read Username')
    await ana.put(`/projects/${own.id}`, { wiki_access_level: 'disabled' })
    expect(await refusedClone('ana/closed.wiki', ana)).toContain('403')
    await ana.put(`/projects/${own.id}`, { wiki_access_level: 'enabled' })
    const folder = await clone('ana/closed.wiki', ana)
    await ana.post(`/projects/${own.id}/archive`)
    await commitFile(folder, 'x.md', 'x', 'Late')
    expect((await push(folder, 'HEAD')).code).not.toBe(0)
    await clone('ana/closed.wiki', eve)
  })

  test('without a page is there for those who may begin it', async () => {
    await makeProject(world, ana, 'fresh', { visibility: 'public' })
    expect(await refusedClone('ana/fresh.wiki', eve)).toContain('not found')
    const folder = await clone('ana/fresh.wiki', ana)
    expect(await gitClient(folder, ['symbolic-ref', '--short', 'HEAD'])).toBe('main')
  })

  test('is found under the old path of its project', async () => {
    const own = await makeProject(world, ana, 'before')
    await ana.post(`/projects/${own.id}/wikis`, { title: 'home', content: 'x' })
    const folder = await clone('ana/before.wiki', ana)
    await ana.put(`/projects/${own.id}`, { path: 'after' })
    await commitFile(folder, 'x.md', 'x', 'More')
    const pushed = await runGitClient(folder, ['push', 'origin', 'HEAD'])
    expect(pushed.code).toBe(0)
    expect(pushed.stderr).toContain("The wiki of 'ana/before' was moved to 'ana/after'.")
    await clone('ana/before.wiki', ana)
  })

  test('of a group is one too', async () => {
    const group = await createGroup(ana, 'team')
    const folder = await clone('team.wiki', ana)
    await commitFile(folder, 'home.md', 'hi', 'Begin')
    expect((await push(folder, 'HEAD')).code).toBe(0)
    expect((await ana.get(`/groups/${group.id}/wikis/home`)).body.content).toBe('hi')
    expect(await refusedClone('team.wiki', eve)).toContain('not found')
    expect(await refusedClone('team.wiki')).toContain('could not read Username')
    const inner = await ana.post('/groups', { name: 'In', path: 'in', parent_id: group.id })
    await ana.post(`/groups/${inner.body.id}/wikis`, { title: 'home', content: 'below' })
    expect(await gitClient(await clone('team/in.wiki', ana), ['show', 'HEAD:home.md'])).toBe(
      'below',
    )
  })

  test('refuses pages that are too large, and trees that no checkout survives', async () => {
    const folder = await clone('ana/demo.wiki', ana)
    await world.root.put('/application/settings', { wiki_page_max_content_bytes: 2048 })
    try {
      await commitFile(folder, 'large.md', 'x'.repeat(3000), 'Large')
      const refused = await push(folder, 'HEAD')
      expect(refused.stderr).toContain('The page large.md is 3000 bytes large')
      await gitClient(folder, ['reset', '-q', '--hard', 'HEAD~1'])
      await writeFile(join(folder, 'large.bin'), randomBytes(3000))
      await commitFile(folder, 'small.md', 'x', 'Attachment')
      expect((await push(folder, 'HEAD')).code).toBe(0)
    } finally {
      await world.root.put('/application/settings', { wiki_page_max_content_bytes: 52_428_800 })
    }
    const blob = git(folder, ['hash-object', '-w', '--stdin'], { input: 'x' })
    for (const name of ['.git', '..', '.GIT']) {
      const bare = git(folder, ['mktree'], { input: `100644 blob ${blob}\tx\n` })
      const entry = Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(bare, 'hex')])
      const tree = git(folder, ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], {
        input: entry,
      })
      const head = git(folder, ['rev-parse', 'HEAD'])
      const commit = git(folder, ['commit-tree', '-p', head, '-m', 'bad', tree])
      const refused = await push(folder, `${commit}:refs/heads/main`)
      expect(refused.code, name).not.toBe(0)
    }
  })

  test('shows pages whose names are not UTF-8 without failing', async () => {
    const folder = await clone('ana/demo.wiki', ana)
    const blob = git(folder, ['hash-object', '-w', '--stdin'], { input: 'latin' })
    const before = git(folder, ['rev-parse', 'HEAD'])
    const listed = git(folder, ['ls-tree', before])
    const tree = git(folder, ['mktree', '-z'], {
      input: Buffer.concat([
        Buffer.from(`${listed.split('\n').join('\0')}\0`),
        Buffer.from(`100644 blob ${blob}\tcaf`),
        Buffer.from([0xe9]),
        Buffer.from('.md\0'),
      ]),
    })
    const commit = git(folder, ['commit-tree', '-p', before, '-m', 'Latin', tree])
    expect((await push(folder, `${commit}:refs/heads/main`)).code).toBe(0)
    const all = await ana.get(`/projects/${project.id}/wikis?with_content=1`)
    const odd = all.body.find((one: { slug: string }) => one.slug.startsWith('caf'))
    expect(odd.content).toBe('latin')
    const one = await ana.get(`/projects/${project.id}/wikis/${encodeURIComponent(odd.slug)}`)
    expect(one.body.content).toBe('latin')
  })
})

describe('a snippet', () => {
  test('is cloned, pushed, and shows what was pushed', async () => {
    const id = await snippet(ana)
    const folder = await clone(`snippets/${id}`, ana)
    expect(await gitClient(folder, ['show', 'HEAD:a.txt'])).toBe('one')
    await commitFile(folder, 'b.txt', 'two\n', 'Add b')
    expect((await push(folder, 'HEAD')).code).toBe(0)
    const { body } = await ana.get(`/snippets/${id}`)
    expect(body.files.map((file: { path: string }) => file.path)).toEqual(['a.txt', 'b.txt'])
    const raw = await ana.get(`/snippets/${id}/files/main/b.txt/raw`)
    expect(raw.body).toBe('two\n')
  })

  test('keeps to its one branch and to ten files', async () => {
    const id = await snippet(ana)
    const folder = await clone(`snippets/${id}`, ana)
    for (const refspec of ['HEAD:refs/heads/other', ':main']) {
      const refused = await push(folder, refspec)
      expect(refused.stderr, refspec).toContain('You can not create or delete branches.')
    }
    expect((await push(folder, 'HEAD:refs/tags/v1')).stderr).toContain('tags')
    for (let i = 0; i < 10; i += 1) await writeFile(join(folder, `f${i}`), 'x')
    await gitClient(folder, ['add', '-A'])
    await gitClient(folder, ['commit', '-qm', 'Many'])
    const many = await push(folder, 'HEAD')
    expect(many.stderr).toContain('The repository can contain at most 10 file(s).')
    await gitClient(folder, ['rm', '-q', '-r', '.'])
    await gitClient(folder, ['commit', '-qm', 'None'])
    const none = await push(folder, 'HEAD')
    expect(none.stderr).toContain('The repository must contain at least 1 file.')
  })

  test('is for those who see it, and changed by its author', async () => {
    const hidden = await snippet(ana)
    expect(await refusedClone(`snippets/${hidden}`)).toContain('could not read Username')
    expect(await refusedClone(`snippets/${hidden}`, eve)).toContain('not found')
    const shown = await snippet(ana, 'public')
    await clone(`snippets/${shown}`)
    const folder = await clone(`snippets/${shown}`, eve)
    await commitFile(folder, 'b.txt', 'x', 'Try')
    expect((await push(folder, 'HEAD')).stderr).toContain('403')
    expect(await refusedClone('snippets/999999', eve)).toContain('not found')
    const reads = world.as(await world.token(ana.id, ['read_repository']))
    const mine = await folders.folder()
    const address = url(`snippets/${hidden}`).replace('//', `//ana:${reads.token}@`)
    await gitClient(mine, ['clone', '-q', address, '.'])
    await commitFile(mine, 'b.txt', 'x', 'Try')
    expect((await push(mine, 'HEAD')).stderr).toContain('403')
  })

  test('of a project is found below the project, and nowhere else', async () => {
    const id = await snippet(ana, 'public', `/projects/${open.id}/snippets`)
    await clone(`ana/open/snippets/${id}`)
    expect(await refusedClone(`ana/demo/snippets/${id}`, ana)).toContain('not found')
    expect(await refusedClone(`snippets/${id}`, ana)).toContain('not found')
    const folder = await clone(`ana/open/snippets/${id}`, ana)
    await commitFile(folder, 'b.txt', 'x', 'Add b')
    expect((await push(folder, 'HEAD')).code).toBe(0)
  })
})

test('the doctor looks at wikis and snippets too', async () => {
  await world.runTasks()
  const id = await snippet(ana)
  const look = async () => (await gitstead(world.folder, ['doctor'])).out
  expect(await look()).toMatch(/repositories: \d+ checked/)
  await world.ctx.git.remove({ kind: 'snippet', id })
  await world.ctx.git.remove({ kind: 'project_wiki', id: project.id })
  const found = await look()
  expect(found).toContain(`repository snippet ${id}: is missing on disk`)
  expect(found).toContain(`repository ana/demo.wiki (${project.id}): is missing on disk`)
})
