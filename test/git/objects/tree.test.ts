import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { buildRepository, type RepositoryName } from '../../../fixtures/repositories/build.ts'
import { findTreeEntry, readTree } from '../../../src/git/objects/tree.ts'
import type { Repo } from '../../../src/git/repo.ts'
import type { TreeEntry } from '../../../src/git/types.ts'
import { git, gitBytes, repoAt } from '../../support/git.ts'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-tree-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let built = 0
async function fixture(name: RepositoryName): Promise<Repo> {
  built += 1
  return repoAt(await buildRepository(name, join(folder, `${name}-${built}.git`)))
}

/** What git says, in the words of our entries. */
function oracle(path: string, args: readonly string[]): string[] {
  return gitBytes(path, ['ls-tree', '-z', ...args])
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
}

function inGitsWords(entry: TreeEntry): string {
  const path = Buffer.from(entry.rawPath ?? Buffer.from(entry.path)).toString('latin1')
  return `${entry.mode} ${entry.type} ${entry.id}\t${path}`
}

const names: RepositoryName[] = [
  'basic',
  'merges',
  'binary',
  'symlinks',
  'submodules',
  'modes',
  'non-utf8',
  'odd-names',
  'many-files',
]

test.each(names)('the tree of %s is what git says', async (name) => {
  const repo = await fixture(name)
  const flat = await readTree(repo, { ref: 'HEAD' })
  expect(flat.entries.map(inGitsWords).sort()).toEqual(oracle(repo.path, ['HEAD']).sort())
  const deep = await readTree(repo, { ref: 'HEAD', recursive: true })
  expect(deep.total).toBe(deep.entries.length)
  expect(deep.entries.map(inGitsWords).sort()).toEqual(
    oracle(repo.path, ['-r', '-t', 'HEAD']).sort(),
  )
  for (const entry of deep.entries.filter((each) => each.type === 'tree').slice(0, 20)) {
    if (entry.rawPath) continue
    const listed = await readTree(repo, { ref: 'HEAD', path: entry.path })
    const names = oracle(repo.path, [`HEAD:${entry.path}`])
    expect(listed.total).toBe(names.length)
    expect(listed.entries.map((each) => each.path)).toEqual(
      listed.entries.map((each) => `${entry.path}/${each.name}`),
    )
  }
})

test.each(['odd-names', 'basic'] as const)('every path of %s is found', async (name) => {
  const repo = await fixture(name)
  const { entries } = await readTree(repo, { ref: 'HEAD', recursive: true })
  for (const entry of entries.filter((each) => !each.rawPath)) {
    expect(await findTreeEntry(repo, { ref: 'HEAD', path: entry.path })).toEqual(entry)
  }
  expect(await findTreeEntry(repo, { ref: 'HEAD', path: 'no/such/path' })).toBeUndefined()
})

test('pages give every entry once, by token and by offset', async () => {
  const repo = await fixture('many-files')
  const all = oracle(repo.path, ['-r', '-t', 'HEAD']).map((line) => line.split('\t')[1])
  const byToken: string[] = []
  let after: string | undefined
  for (;;) {
    const page = await readTree(repo, { ref: 'HEAD', recursive: true, after, limit: 997 })
    byToken.push(...page.entries.map((entry) => entry.path))
    // The token is the last entry in git's order, which need not be the last one of the page.
    after = page.last
    if (!page.more) break
  }
  expect(byToken.toSorted()).toEqual(all.toSorted())
  const offset = await readTree(repo, { ref: 'HEAD', recursive: true, offset: 5, limit: 3 })
  expect(offset.entries.map((entry) => entry.path).toSorted()).toEqual(all.slice(5, 8).toSorted())
})

test('folders come first on a page, then files, then submodules', async () => {
  const repo = await fixture('submodules')
  const { entries } = await readTree(repo, { ref: 'HEAD' })
  const types = entries.map((entry) => entry.type)
  const rank = { tree: 0, blob: 1, commit: 2 }
  expect(types).toEqual(types.toSorted((a, b) => rank[a] - rank[b]))
  expect(types).toContain('commit')
})

test('an unknown path is another error than an unknown ref', async () => {
  const repo = await fixture('basic')
  await expect(readTree(repo, { ref: 'HEAD', path: 'nope' })).rejects.toMatchObject({
    code: 'not_found',
    detail: { path: 'nope' },
  })
  await expect(readTree(repo, { ref: 'nope' })).rejects.toMatchObject({
    code: 'not_found',
    detail: { revision: 'nope' },
  })
  for (const path of ['../x', 'a/../b', 'a//b', 'a\0b']) {
    await expect(readTree(repo, { ref: 'HEAD', path })).rejects.toMatchObject({ code: 'invalid' })
  }
})

test('an empty repository has no tree', async () => {
  const repo = await fixture('empty')
  await expect(readTree(repo, { ref: 'HEAD' })).rejects.toMatchObject({ code: 'not_found' })
})

test('a damaged tree is an error of its own and nothing worse', async () => {
  const repo = await fixture('basic')
  const bad = git(repo.path, ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], {
    input: '100644 x',
  })
  const commit = git(repo.path, ['hash-object', '-w', '-t', 'commit', '--literally', '--stdin'], {
    input: `tree ${bad}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`,
  })
  await expect(readTree(repo, { ref: commit })).rejects.toMatchObject({ code: 'damaged' })
})
