import { applyPatch } from 'diff'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareCommits } from '../../../src/git/diff/compare.ts'
import {
  type FileDiff,
  readCommitDiff,
  readDiff,
  withFileNames,
} from '../../../src/git/diff/diff.ts'
import { streamRawDiff } from '../../../src/git/diff/raw-diff.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { emptyTree } from '../../../src/git/types.ts'
import { commitFiles, type TestFile } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

type Files = Readonly<Record<string, TestFile>>

function commit(parents: readonly string[], files: Files): string {
  return commitFiles(repo, { parents, files, ref: 'refs/heads/scratch' })
}

const text = (lines: number, mark = '') =>
  Array.from({ length: lines }, (_, i) => `line ${i}${mark}\n`).join('')

/** The changes as git lists them, a change of type as two. */
function changesOfGit(from: string, to: string): string[] {
  const fields = gitBytes(repo.path, [
    'diff-tree',
    '-r',
    '-M',
    '--raw',
    '-z',
    '--no-abbrev',
    from,
    to,
  ])
    .toString()
    .split('\0')
  const changes: string[] = []
  while (fields.length > 1) {
    const [a = '', b = '', , , status = ''] = (fields.shift() ?? '').slice(1).split(' ')
    const old = fields.shift()
    const path = /^[RC]/.test(status) ? fields.shift() : old
    const mode = (value: string) => String(Number(value))
    if (status === 'T') changes.push(`${mode(a)} 0 ${old} ${old}`, `0 ${mode(b)} ${old} ${old}`)
    else changes.push(`${mode(a)} ${mode(b)} ${old} ${path}`)
  }
  return changes
}

function listed(files: readonly FileDiff[]): string[] {
  return files.map((file) => `${file.oldMode} ${file.newMode} ${file.oldPath} ${file.newPath}`)
}

function contentAt(revision: string, path: string): string {
  return gitBytes(repo.path, ['show', `${revision}:${path}`]).toString()
}

/** The served patch, applied to the old file, gives the new one. */
function expectToApply(file: FileDiff, from: string, to: string): void {
  const before = file.newFile ? '' : contentAt(from, file.oldPath)
  const after = file.deletedFile ? '' : contentAt(to, file.newPath)
  if (file.diff === '') {
    expect(before).toBe(after)
    return
  }
  expect(file.diff.startsWith('@@ ')).toBe(true)
  expect(applyPatch(before, withFileNames(file))).toBe(after)
}

describe('a diff', () => {
  test('of every kind of change has git’s modes, paths and patches', async () => {
    const from = commit([], {
      changed: text(30),
      gone: 'gone\n',
      moved: text(50),
      'moved and changed': text(50, 'x'),
      script: 'run\n',
      kind: 'a file\n',
      'sp ace/é "q"\n.txt': 'odd\n',
      bin: Buffer.from([0, 1, 2]),
      module: { submodule: '1'.repeat(40) },
      'no newline': 'x',
    })
    const to = commit([from], {
      changed: text(30).replace('line 3\n', 'LINE 3\n'),
      gone: null,
      moved: null,
      'to/here': text(50),
      'moved and changed': null,
      'to/there': `${text(50, 'x')}more\n`,
      script: { mode: '100755', data: 'run\n' },
      kind: { mode: '120000', data: 'target' },
      'sp ace/é "q"\n.txt': 'odder\n',
      bin: Buffer.from([0, 1, 3]),
      module: { submodule: '2'.repeat(40) },
      'no newline': 'y',
      empty: '',
    })
    const { files, overflow } = await readDiff(repo, { from, to })
    expect(overflow).toBe(false)
    expect(listed(files)).toEqual(changesOfGit(from, to))
    const by = (path: string) => files.find((file) => file.newPath === path)
    expect(by('bin')).toMatchObject({ binary: true, diff: 'Binary files a/bin and b/bin differ\n' })
    expect(by('to/here')).toMatchObject({ renamedFile: true, oldPath: 'moved', diff: '' })
    expect(by('script')).toMatchObject({ oldMode: '100644', newMode: '100755', diff: '' })
    expect(by('empty')).toMatchObject({ newFile: true, oldMode: '0', diff: '' })
    expect(by('gone')).toMatchObject({ deletedFile: true, newMode: '0', deletions: 1 })
    expect(by('module')?.diff).toContain(`+Subproject commit ${'2'.repeat(40)}`)
    for (const file of files) {
      if (!file.binary && file.newPath !== 'module') expectToApply(file, from, to)
    }
  })

  test('with file names has them only where there is a patch of lines', async () => {
    const from = commit([], { a: '1\n', b: '1\n', bin: Buffer.from([0]) })
    const to = commit([from], { a: '2\n', b: null, c: '3\n', bin: Buffer.from([0, 0]), e: '' })
    const { files } = await readDiff(repo, { from, to })
    expect(files.map(withFileNames)).toEqual([
      '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n',
      '--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n',
      'Binary files a/bin and b/bin differ\n',
      '--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+3\n',
      '',
    ])
  })

  test('replaces what is not UTF-8, in content and names', async () => {
    const from = commit([], { latin: 'x\n' })
    const to = commit([from], { latin: Buffer.from('caf\xe9\n', 'latin1'), 'raw:n\xff': 'n\n' })
    const { files } = await readDiff(repo, { from, to })
    expect(files[0]?.diff).toBe('@@ -1 +1 @@\n-x\n+caf\ufffd\n')
    expect(files[1]).toMatchObject({ newPath: 'n\ufffd', diff: '@@ -0,0 +1 @@\n+n\n' })
  })

  test('is not misled by lines that look like the start of a patch', async () => {
    const tricky =
      'diff --git a/x b/x\n@@ -1 +1 @@\nBinary files a and b differ\n--- a\n+++ b\r\n\u2028diff --git\n'
    const from = commit([], { t: 'x\n', u: tricky })
    const to = commit([from], { t: tricky, u: `\n${tricky}` })
    const { files } = await readDiff(repo, { from, to })
    expect(files).toHaveLength(2)
    for (const file of files) expectToApply(file, from, to)
  })

  test('of any small trees lists what git lists and applies', async () => {
    const name = fc.constantFrom('a', 'b', 'c/d', 'c/é', '-x')
    const content = fc.constantFrom(
      '',
      'x',
      'y\n',
      text(30),
      text(30, '!'),
      text(31),
      '\r\n\r\n',
      null,
    )
    const side = fc.dictionary(name, content, { maxKeys: 5 })
    await fc.assert(
      fc.asyncProperty(side, side, async (left, right) => {
        const from = commit([], left)
        const gone = Object.fromEntries(Object.keys(left).map((path) => [path, null]))
        const to = commit([from], { ...gone, ...right })
        const { files } = await readDiff(repo, { from, to })
        expect(listed(files)).toEqual(changesOfGit(from, to))
        for (const file of files) expectToApply(file, from, to)
      }),
      runs(40, 1),
    )
  }, 60_000)
})

describe('limits', () => {
  test('a file over the limit is too large, one over the soft limit collapsed', async () => {
    const from = commit([], { base: '' })
    const to = commit([from], {
      huge: 'x'.repeat(250_000),
      big: text(4000),
      small: 'small\n',
    })
    const { files, overflow } = await readDiff(repo, { from, to })
    expect(overflow).toBe(false)
    expect(files).toMatchObject([
      { newPath: 'big', collapsed: true, tooLarge: false, diff: '', additions: 4000 },
      { newPath: 'huge', collapsed: false, tooLarge: true, diff: '' },
      { newPath: 'small', collapsed: false, tooLarge: false, diff: '@@ -0,0 +1 @@\n+small\n' },
    ])
    const expanded = await readCommitDiff(repo, { id: to })
    expect(expanded.files).toMatchObject([
      { newPath: 'big', collapsed: false },
      { newPath: 'huge', tooLarge: true },
      { newPath: 'small' },
    ])
    expect(expanded.files[0]?.diff).toContain('+line 3999')
  })

  test('a list of one file is never collapsed', async () => {
    const from = commit([], { base: '' })
    const to = commit([from], { big: text(4000) })
    const { files } = await readDiff(repo, { from, to })
    expect(files).toMatchObject([{ collapsed: false, additions: 4000 }])
    expect(files[0]?.diff).toContain('+line 3999')
  })

  test('a list over the limit ends early and says so', async () => {
    const from = commit([], { base: '' })
    const many = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`f${1000 + i}`, 'x\n']))
    const to = commit([from], many)
    const whole = await readDiff(repo, { from, to })
    expect(whole.files).toHaveLength(130)
    expect(whole.files.filter((file) => file.collapsed)).toHaveLength(30)
    const cut = await readDiff(repo, { from, to, limits: { files: 50, expanded: true } })
    expect(cut.overflow).toBe(true)
    expect(cut.files).toHaveLength(50)
    expect(cut.files.every((file) => file.diff !== '')).toBe(true)
    const lines = await readDiff(repo, { from, to, limits: { lines: 21, expanded: true } })
    expect([lines.overflow, lines.files.length]).toEqual([true, 10])
    const bytes = await readDiff(repo, { from, to, limits: { bytes: 200, expanded: true } })
    expect([bytes.overflow, bytes.files.length]).toEqual([true, 11])
  })
})

describe('a commit’s diff', () => {
  test('is against the first parent, and of a first commit everything', async () => {
    const first = commit([], { a: 'a\n' })
    const side = commit([first], { b: 'b\n' })
    const main = commit([first], { c: 'c\n' })
    const merge = commit([main, side], { b: 'b\n' })
    expect(listed((await readCommitDiff(repo, { id: first })).files)).toEqual(['0 100644 a a'])
    expect(listed((await readCommitDiff(repo, { id: merge })).files)).toEqual(['0 100644 b b'])
    expect((await readDiff(repo, { from: merge, to: merge })).files).toEqual([])
    const all = await readDiff(repo, { from: emptyTree, to: merge })
    expect(listed(all.files)).toEqual(changesOfGit(emptyTree, merge))
  })

  test('of what is not there is an error', async () => {
    await expect(readCommitDiff(repo, { id: '5'.repeat(40) })).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(readDiff(repo, { from: '--help', to: emptyTree })).rejects.toMatchObject({
      code: 'invalid',
    })
  })
})

describe('a comparison', () => {
  test('is with the merge base, or straight, and lists commits oldest first', async () => {
    const base = commit([], { a: '1\n', b: '1\n' })
    const main = commit([base], { a: '2\n' })
    const one = commit([base], { b: '2\n' })
    const two = commit([one], { c: '3\n' })
    const compared = await compareCommits(repo, { from: main, to: two })
    expect(compared).toMatchObject({ baseId: base, commitIds: [one, two], sameRef: false })
    expect(listed(compared.diff.files)).toEqual(changesOfGit(base, two))
    const straight = await compareCommits(repo, { from: main, to: two, straight: true })
    expect(straight).toMatchObject({ baseId: main, commitIds: [one, two] })
    expect(listed(straight.diff.files)).toEqual(changesOfGit(main, two))
    const back = await compareCommits(repo, { from: two, to: base })
    expect(back).toMatchObject({ commitIds: [], diff: { files: [] }, sameRef: false })
    const same = await compareCommits(repo, { from: two, to: two })
    expect(same).toMatchObject({ commitIds: [], diff: { files: [] }, sameRef: true })
  })

  test('of unrelated histories has commits and no files', async () => {
    const one = commit([], { a: '1\n' })
    const other = commit([], { b: '1\n' })
    const compared = await compareCommits(repo, { from: one, to: other })
    expect(compared.baseId).toBeUndefined()
    expect(compared).toMatchObject({ commitIds: [other], diff: { files: [] } })
  })

  test('reaches into another repository of the fork network', async () => {
    const fork = await world.repository()
    const base = commit([], { a: '1\n' })
    git(fork.path, ['fetch', '-q', repo.path, `${base}:refs/heads/main`])
    const there = commitFiles(fork, { files: { a: '2\n', secret: 's\n' } })
    const here = commit([base], { b: '2\n' })
    const compared = await compareCommits(repo, { from: there, to: here, fromRepo: fork })
    expect(compared).toMatchObject({ baseId: base, commitIds: [here] })
    expect(listed(compared.diff.files)).toEqual(['0 100644 b b'])
    const straight = await compareCommits(repo, {
      from: there,
      to: here,
      fromRepo: fork,
      straight: true,
    })
    expect(listed(straight.diff.files)).toEqual([
      '100644 100644 a a',
      '0 100644 b b',
      '100644 0 secret secret',
    ])
  })
})

describe('raw downloads', () => {
  async function read(input: Parameters<typeof streamRawDiff>[1]): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of await streamRawDiff(repo, input)) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  }

  test('apply with git, whatever their bytes', async () => {
    const from = commit([], { a: text(20), bin: Buffer.from([0, 1]) })
    const to = commit([from], { a: Buffer.from('caf\xe9\n', 'latin1'), bin: Buffer.from([0, 2]) })
    for (const input of [{ from, to }, { to }]) {
      const diff = await read({ ...input, format: 'diff' })
      const index = { GIT_INDEX_FILE: `${world.folder}/index` }
      git(repo.path, ['read-tree', from], { env: index })
      git(repo.path, ['apply', '--cached', '-'], { input: diff, env: index })
      expect(git(repo.path, ['write-tree'], { env: index })).toBe(
        git(repo.path, ['rev-parse', `${to}^{tree}`]),
      )
      const patch = (await read({ ...input, format: 'patch' })).toString('latin1')
      expect(patch.startsWith(`From ${to} `)).toBe(true)
      expect(patch).toContain('GIT binary patch')
    }
  })

  test('of a first commit show all of it', async () => {
    const first = commit([], { a: 'a\n' })
    expect((await read({ to: first, format: 'diff' })).toString()).toContain('+++ b/a\n')
  })

  test('that fail break the stream', async () => {
    await expect(read({ to: '6'.repeat(40), format: 'diff' })).rejects.toMatchObject({
      code: 'failed',
    })
  })
})
