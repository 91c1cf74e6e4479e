import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openArchive } from '../../../src/git/archive/archive.ts'
import { treeItems } from '../../../src/git/archive/tree-items.ts'
import { OpenRepositories } from '../../../src/git/engine/open-repository.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles, type TestFile } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

/** Names, kinds, modes, sizes, times, targets of links and contents, as tar reads them. */
function read(bytes: Buffer): string {
  const file = join(world.folder, 'read.tar')
  writeFileSync(file, bytes)
  const run = (args: readonly string[]) =>
    execFileSync('tar', [...args, '-f', file], { maxBuffer: 1 << 28 }).toString('latin1')
  return run(['--list', '--verbose', '--full-time', '--numeric-owner']) + run(['-xO'])
}

async function isRead(commitId: string, path = '', there = repo): Promise<boolean> {
  const repository = new OpenRepositories().get(there.path)
  const { signal } = new AbortController()
  const treeId = git(there.path, ['rev-parse', `${commitId}^{tree}`])
  return (await treeItems({ repository, signal }, treeId, path)) !== undefined
}

/** Expects the archive to be git's, with its only folder at the top. */
async function expectAsOfGit(commitId: string, path = '', there = repo): Promise<void> {
  const chunks: Buffer[] = []
  const input = { commitId, format: 'tar', name: 'top', path } as const
  for await (const chunk of await openArchive(there, input)) chunks.push(chunk as Buffer)
  const only = path === '' ? [] : [path]
  const judge = gitBytes(there.path, ['archive', '--prefix=top/', commitId, ...only])
  expect(read(Buffer.concat(chunks))).toBe(read(judge))
}

const files: Record<string, TestFile> = {
  'a/b/c': 'c\n',
  'a/x.bat': 'one\ntwo\n',
  'a/run.sh': { mode: '100755', data: 'run\n' },
  'a/link': { mode: '120000', data: 'b/c' },
  module: { submodule: '1'.repeat(40) },
}
const attributes = (text: string) => ({ ...files, '.gitattributes': text })

test.each<[string, Record<string, TestFile>, boolean]>([
  ['files, links and submodules', files, true],
  [
    'attributes for merges and large files',
    attributes('* merge=union\n*.bin filter=lfs -text\n'),
    true,
  ],
  ['line ends as they are stored', attributes('* text=auto\n*.bat text eol=lf\n'), true],
  [
    'a file larger than what is held in memory',
    { ...files, big: Buffer.alloc(9 << 20, 'abc') },
    true,
  ],
  ['line ends of Windows', attributes('*.bat text eol=crlf\n'), false],
  ['files that are left out', attributes('a/b export-ignore\n'), false],
  ['macros', attributes('[attr]mine export-ignore\n*.bat mine\n'), false],
  ['identifiers', { ...attributes('c ident\n'), 'a/b/c': '$Id$\n' }, false],
  ['attributes in a folder', { ...files, 'a/.gitattributes': 'b export-ignore\n' }, false],
  [
    'attributes in a link',
    { ...files, '.gitattributes': { mode: '120000', data: 'module export-ignore' } },
    false,
  ],
  [
    'a link to what is no text',
    { ...files, odd: { mode: '120000', data: Buffer.from([0x61, 0xff]) } },
    false,
  ],
  ['names that are no text', { ...files, 'raw:caf\xe9/x': 'x' }, false],
  [
    'more than a hundred files',
    Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, `${i}`])),
    false,
  ],
])('%s come as git packs them', async (_name, tree, byLibgit2) => {
  const id = commitFiles(repo, { parents: [], files: tree, ref: 'refs/heads/scratch' })
  expect(await isRead(id)).toBe(byLibgit2)
  await expectAsOfGit(id)
})

test('a folder that holds nothing is left out, as git leaves it', async () => {
  const empty = git(repo.path, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' })
  const blob = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'x\n' })
  const inner = git(repo.path, ['mktree'], { input: `040000 tree ${empty}\tempty\n` })
  // Modes of old times too.
  const entries = [`040000 tree ${inner}\ta`, `100664 blob ${blob}\tb`, `100775 blob ${blob}\tc`]
  const tree = git(repo.path, ['mktree'], { input: `${entries.join('\n')}\n` })
  const id = git(repo.path, ['commit-tree', '-m', 'x', tree])
  expect(await isRead(id)).toBe(true)
  await expectAsOfGit(id)
  await expectAsOfGit(id, 'a/empty')
})

test('attributes above a path decide about what is below it', async () => {
  const plain = commitFiles(repo, { parents: [], files, ref: 'refs/heads/scratch' })
  const decided = commitFiles(repo, {
    parents: [],
    files: { ...files, 'a/.gitattributes': 'c export-ignore\n' },
    ref: 'refs/heads/scratch',
  })
  expect([await isRead(plain, 'a/b'), await isRead(decided, 'a/b')]).toEqual([true, false])
  for (const path of ['a', 'a/b', 'a/run.sh', 'module']) await expectAsOfGit(plain, path)
  await expectAsOfGit(decided, 'a/b')
})

test('attributes of the repository itself are git’s', async () => {
  const other = await world.repository()
  const id = commitFiles(other, { files })
  expect(await isRead(id, '', other)).toBe(true)
  mkdirSync(join(other.path, 'info'), { recursive: true })
  writeFileSync(join(other.path, 'info/attributes'), '*.sh export-ignore\n')
  expect(await isRead(id, '', other)).toBe(false)
  await expectAsOfGit(id, '', other)
})
