import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildRepository } from '../../fixtures/repositories/build.ts'
import { git } from '../support/git.ts'
import {
  addMember,
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
} from '../support/git-client.ts'
import { cases } from '../support/runs.ts'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
})

afterAll(() => folders.clear())

let count = 0
const newProject = (options = {}) => makeProject(world, ana, `project-${++count}`, options)

describe('git over HTTP', () => {
  test('a repository that is pushed comes back the same, and fsck is clean', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await newProject()
    await gitClient(source, ['push', '-q', '--mirror', project.url(ana)])
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', '--mirror', project.url(ana), 'back.git'])
    const back = join(folder, 'back.git')
    expect(await gitClient(back, ['for-each-ref'])).toBe(await gitClient(source, ['for-each-ref']))
    expect(await gitClient(back, ['fsck', '--full', '--strict'])).toBe('')
    expect(await gitClient(project.repository, ['fsck', '--full', '--strict'])).toBe('')
  })

  test.each([
    'merges',
    'renames',
    'binary',
    'symlinks',
    'modes',
    'non-utf8',
    'odd-names',
    'many-branches',
  ] as const)('the fixture %s goes there and back', async (name) => {
    const source = await buildRepository(name, join(await folders.folder(), 'source.git'))
    const project = await newProject()
    await gitClient(source, ['push', '-q', '--mirror', project.url(ana)])
    const listed = await gitClient(source, ['ls-remote', project.url(ana)])
    expect(listed.split('\n').slice(1).join('\n')).toBe(
      (await gitClient(source, ['show-ref', '-d'])).replaceAll(' ', '\t'),
    )
  })

  test('an empty project clones with a warning, onto its default branch', async () => {
    const project = await newProject({ defaultBranch: 'trunk' })
    const folder = await folders.folder()
    const run = await runGitClient(folder, ['clone', project.url(ana), 'empty'])
    expect(run.code).toBe(0)
    expect(run.stderr).toContain('appear to have cloned an empty repository')
    const head = await gitClient(join(folder, 'empty'), ['symbolic-ref', 'HEAD'])
    expect(head).toBe('refs/heads/trunk')
  })

  test.each(['0', '1', '2'])('protocol version %s clones, fetches and pushes', async (version) => {
    const project = await newProject()
    const source = await folders.repository()
    const speak = ['-c', `protocol.version=${version}`]
    await gitClient(source, [...speak, 'push', '-q', project.url(ana), 'main'])
    const folder = await folders.folder()
    await gitClient(folder, [...speak, 'clone', '-q', project.url(ana), 'copy'])
    const tip = await commitFile(source, 'more.txt', version, 'More')
    await gitClient(source, [...speak, 'push', '-q', project.url(ana), 'main'])
    const copy = join(folder, 'copy')
    await gitClient(copy, [...speak, 'fetch', '-q', 'origin'])
    expect(await gitClient(copy, ['rev-parse', 'origin/main'])).toBe(tip)
  })

  test('shallow clones are deepened and completed', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await newProject({ from: source })
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', '--depth=1', project.url(ana), 'shallow'])
    const shallow = join(folder, 'shallow')
    const length = () => gitClient(shallow, ['rev-list', '--count', 'HEAD'])
    expect(await length()).toBe('1')
    await gitClient(shallow, ['fetch', '-q', '--depth=3', 'origin'])
    expect(await length()).toBe('3')
    await gitClient(shallow, ['fetch', '-q', '--unshallow', 'origin'])
    expect(await length()).toBe('6')
    await gitClient(folder, [
      'clone',
      '-q',
      '--shallow-since=2024-01-01T03:30:00Z',
      project.url(ana),
      'since',
    ])
    expect(await gitClient(join(folder, 'since'), ['rev-list', '--count', 'HEAD'])).toBe('2')
  })

  test.each(['blob:none', 'blob:limit=10', 'tree:0'])(
    'a partial clone with %s gets the rest when it is needed',
    async (filter) => {
      const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
      const project = await newProject({ from: source })
      const folder = await folders.folder()
      await gitClient(folder, [
        'clone',
        '-q',
        '--bare',
        `--filter=${filter}`,
        project.url(ana),
        'part',
      ])
      const part = join(folder, 'part')
      const missing = await gitClient(part, ['rev-list', '--objects', '--all', '--missing=print'])
      expect(missing).toMatch(/^\?/m)
      expect(await gitClient(part, ['show', 'main:README.md'])).toContain('A small project.')
    },
  )

  test('any commit can be fetched by its id', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await newProject({ from: source })
    const wanted = await gitClient(source, ['rev-parse', 'main~2'])
    for (const version of ['0', '2']) {
      const folder = await folders.folder()
      await gitClient(folder, ['init', '-q', '.'])
      await gitClient(folder, [
        '-c',
        `protocol.version=${version}`,
        'fetch',
        '-q',
        '--depth=1',
        project.url(ana),
        wanted,
      ])
      expect(await gitClient(folder, ['rev-parse', 'FETCH_HEAD'])).toBe(wanted)
    }
  })

  test('branches and tags are made, forced and deleted by those who may', async () => {
    const project = await newProject()
    const source = await folders.repository()
    await gitClient(source, ['push', '-q', project.url(ana), 'main', 'main:topic'])
    await gitClient(source, ['commit', '-q', '--amend', '-m', 'Begin again'])
    const plain = await runGitClient(source, ['push', project.url(ana), 'main:topic'])
    expect(plain.stderr).toContain('non-fast-forward')
    await gitClient(source, ['push', '-q', '--force', project.url(ana), 'main:topic'])
    await gitClient(source, ['tag', '-a', 'v1', '-m', 'One'])
    await gitClient(source, ['push', '-q', project.url(ana), 'v1'])
    const refs = await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])
    expect(refs.split('\n')).toEqual(['refs/heads/main', 'refs/heads/topic', 'refs/tags/v1'])
    await gitClient(source, ['push', '-q', project.url(ana), ':topic', ':v1'])
    expect(await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])).toBe(
      'refs/heads/main',
    )
  })

  test('an atomic push moves all refs or none', async () => {
    const project = await newProject()
    const source = await folders.repository()
    await gitClient(source, ['push', '-q', project.url(ana), 'main', 'main:one', 'main:two'])
    await gitClient(source, ['commit', '-q', '--amend', '-m', 'Begin again'])
    const tip = await gitClient(source, ['rev-parse', 'HEAD'])
    const lock = join(project.repository, 'refs/heads/two.lock')
    const held = await open(lock, 'wx')
    const all = ['push', '--atomic', project.url(ana), '+main:one', '+main:two']
    const run = await runGitClient(source, all)
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('[remote rejected] main -> two')
    const tips = await gitClient(project.repository, [
      'for-each-ref',
      '--format=%(objectname)',
      'refs/heads',
    ])
    expect(new Set(tips.split('\n')).size).toBe(1)
    await rm(lock)
    await held.close()
    await gitClient(source, all)
    expect(await gitClient(project.repository, ['rev-parse', 'one'])).toBe(tip)
  })

  test('push options are accepted and remembered with the push', async () => {
    const project = await newProject()
    const source = await folders.repository()
    await gitClient(source, [
      'push',
      '-q',
      '-o',
      'ci.skip',
      '-o',
      'a=b c',
      project.url(ana),
      'main',
    ])
    const push = await world.ctx.db
      .selectFrom('pushes')
      .selectAll()
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow()
    expect(JSON.parse(push.options)).toEqual(['ci.skip', 'a=b c'])
    expect(push).toMatchObject({ state: 'closed', via: 'push', user_id: ana.id })
  })

  test('the first push decides the default branch, protects it, and wakes the project', async () => {
    const project = await newProject()
    const source = await folders.repository()
    await gitClient(source, ['branch', '-m', 'trunk'])
    await gitClient(source, ['push', '-q', project.url(ana), 'trunk'])
    const row = await world.ctx.db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', project.id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ default_branch: 'trunk', empty_repo: 0 })
    expect(await gitClient(project.repository, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/trunk')
    const rules = await world.ctx.db
      .selectFrom('protected_branches')
      .select('name')
      .where('project_id', '=', project.id)
      .execute()
    expect(rules).toEqual([{ name: 'trunk' }])
  })

  test('a branch beside the default one is answered with the address of a merge request to make', async () => {
    const project = await newProject()
    const source = await folders.repository()
    const first = await runGitClient(source, ['push', project.url(ana), 'main', 'main:early'])
    expect(first.stderr).not.toContain('merge request')
    const run = await runGitClient(source, [
      'push',
      project.url(ana),
      'main:feature/a b'.replace(' ', '-'),
    ])
    expect(run.stderr).toMatch(/remote: To create a merge request for feature\/a-b, visit:\s*\n/)
    const query = 'merge_request%5Bsource_branch%5D=feature%2Fa-b'
    expect(run.stderr).toContain(`${project.path}/-/merge_requests/new?${query}`)
  })

  test('a large request body arrives chunked and compressed', async () => {
    const project = await newProject()
    const source = await folders.repository()
    await gitClient(source, ['push', '-q', project.url(ana), 'main'])
    for (let i = 0; i < 40; i++) await gitClient(source, ['update-ref', `refs/heads/b${i}`, 'HEAD'])
    await gitClient(source, ['-c', 'http.postBuffer=1000', 'push', '-q', '--all', project.url(ana)])
    const refs = await gitClient(project.repository, ['for-each-ref', 'refs/heads'])
    expect(refs.split('\n')).toHaveLength(41)
    const copy = await folders.folder()
    await gitClient(copy, ['clone', '-q', project.url(ana), 'copy'])
    await commitFile(join(copy, 'copy'), 'big.bin', 'x'.repeat(3_000_000), 'Add something big')
    await gitClient(join(copy, 'copy'), [
      '-c',
      'http.postBuffer=1000',
      'push',
      '-q',
      'origin',
      'main',
    ])
  })

  test('twenty pushes to branches of one project at once all arrive', async () => {
    const project = await newProject()
    const source = await folders.repository()
    await gitClient(source, ['push', '-q', project.url(ana), 'main'])
    const names = Array.from({ length: 20 }, (_, i) => `branch-${i}`)
    const commits = names.map(
      (name) => `commit refs/heads/${name}
committer Ana <ana@example.com> 1700000000 +0000
data 0
from refs/heads/main
M 100644 inline ${name}
data ${name.length}
${name}
`,
    )
    git(source, ['fast-import', '--quiet'], { input: commits.join('') })
    await Promise.all(
      names.map((name) => gitClient(source, ['push', '-q', project.url(ana), name])),
    )
    const refs = await gitClient(project.repository, ['for-each-ref', 'refs/heads/branch-*'])
    expect(refs.split('\n')).toHaveLength(20)
    expect(await gitClient(project.repository, ['fsck', '--full'])).toBe('')
  })

  test('many shallow clones at once are made once', async () => {
    const source = await buildRepository('many-files', join(await folders.folder(), 'source.git'))
    const project = await newProject({ from: source })
    const folder = await folders.folder()
    const runs = await Promise.all(
      Array.from({ length: cases(20, 50) }, (_, i) =>
        runGitClient(folder, ['clone', '-q', '--bare', '--depth=1', project.url(ana), `c${i}`]),
      ),
    )
    expect(runs.filter((run) => run.code !== 0)).toEqual([])
  })

  test('a fork clones whole, and a push to it stays its own', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await newProject({ from: source })
    const answer = await ana.post(`/projects/${project.id}/fork`, {
      path: 'forked',
      name: 'forked',
    })
    expect(answer.status).toBe(201)
    expect(await world.app.runDueTasks()).toBeUndefined()
    const address = project.url(ana).replace(`/${project.path}.git`, '/ana/forked.git')
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', address, 'copy'])
    const copy = join(folder, 'copy')
    const tip = await commitFile(copy, 'own.txt', 'own', 'Own')
    await gitClient(copy, ['push', '-q', 'origin', 'HEAD:own'])
    await gitClient(copy, ['push', '-q', 'origin', 'HEAD:again'])
    expect(await gitClient(copy, ['ls-remote', address, 'own'])).toContain(tip)
    expect(await gitClient(project.repository, ['branch', '--list', 'own'])).toBe('')
    await gitClient(folder, ['clone', '-q', '--bare', address, 'back.git'])
    expect(await gitClient(join(folder, 'back.git'), ['fsck', '--full'])).toBe('')
  })

  test('a commit made by the API is there for git at once', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await newProject({ from: source })
    for (let i = 0; i < 3; i++) {
      const answer = await ana.post(
        `/projects/${project.id}/repository/branches?branch=b${i}&ref=main`,
      )
      expect(answer.status).toBe(201)
      expect(await gitClient(source, ['ls-remote', project.url(ana), `b${i}`])).toContain(`b${i}`)
    }
  })

  test('a reporter of a private project may clone it and not push', async () => {
    const project = await newProject()
    const source = await folders.repository()
    await gitClient(source, ['push', '-q', project.url(ana), 'main'])
    const rita = await world.user('rita')
    await addMember(world, project, rita, 20)
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', project.url(rita), 'copy'])
    const run = await runGitClient(source, ['push', project.url(rita), 'main:other'])
    expect(run.stderr).toContain('You are not allowed to push code to this project.')
    expect(run.stderr).toContain('403')
  })
})
