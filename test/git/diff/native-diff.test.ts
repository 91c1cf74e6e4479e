import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildRepository } from '../../../fixtures/repositories/build.ts'
import { listChangedPaths } from '../../../src/git/diff/changed-paths.ts'
import { readCommitStats } from '../../../src/git/diff/commit-stats.ts'
import { type Diff, readDiff } from '../../../src/git/diff/diff.ts'
import { nativeDiff } from '../../../src/git/diff/native-diff.ts'
import { OpenRepository } from '../../../src/git/engine/open-repository.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { emptyTree } from '../../../src/git/types.ts'
import { writeCommit } from '../../../src/git/write/write-commit.ts'
import { after, anySteps, difference, startTree, type Tree } from '../../support/any-change.ts'
import { commitFiles, type TestFile } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld, repoAt } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'
import { newTestFolder } from '../../support/test-folder.ts'

/* What libgit2 says about two trees against what git says. `FC_RUNS=1000` looks further. */

const author = { name: 'Ana', email: 'ana@x.test', date: '2021-09-20T09:06:12.000Z' }

let world: GitWorld
let repo: Repo
beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

function commit(files: Readonly<Record<string, TestFile>>, parents: readonly string[] = []) {
  return commitFiles(repo, { parents, files, ref: 'refs/heads/scratch' })
}

/** Whether libgit2 may answer, and both answers. */
async function bothWays(from: string, to: string, of = repo) {
  const native = await nativeDiff(new OpenRepository(of.path), from, to, 200 * 1024)
  const limits = { expanded: true }
  // Only git looks into other repositories.
  const byGit = await readDiff(of, { from, to, limits, alternate: of.path })
  const ours = await readDiff(of, { from, to, limits })
  return { native, byGit, ours }
}

function mayHoldRenames({ files }: Diff): boolean {
  const added = files.some((file) => file.newFile)
  const deleted = files.some((file) => file.deletedFile)
  return (added && deleted) || files.some((file) => file.renamedFile)
}

const statuses: Record<string, string> = { A: 'added', D: 'deleted', R: 'renamed' }

function pathsOfGit(from: string, to: string, of: Repo) {
  const args = ['diff-tree', '-r', '-M', '-z', '--name-status', from, to]
  const fields = gitBytes(of.path, args).toString().split('\0')
  const found = []
  while (fields.length > 1) {
    const letter = fields.shift()?.charAt(0) ?? ''
    const oldPath = fields.shift() ?? ''
    const newPath = letter === 'R' ? fields.shift() : oldPath
    found.push({ oldPath, newPath, status: statuses[letter] ?? 'modified' })
  }
  return found
}

async function expectSame(from: string, to: string, of = repo): Promise<boolean> {
  const { native, byGit, ours } = await bothWays(from, to, of)
  expect(await listChangedPaths(of, from, to)).toEqual(pathsOfGit(from, to, of))
  expect(ours).toEqual(byGit)
  expect(native === undefined).toBe(mayHoldRenames(byGit))
  return native !== undefined
}

function commitTree(tree: Tree, from: Tree = new Map(), parents: readonly string[] = []) {
  return commit(difference(from, tree), parents)
}

test('changes of every kind read the same from libgit2 and from git', async () => {
  const base = commitTree(startTree)
  let native = 0
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      const to = commitTree(after(startTree, steps), startTree, [base])
      if (await expectSame(base, to)) native += 1
    }),
    runs(40, 31),
  )
  expect(native).toBeGreaterThan(10)
}, 300_000)

const line = fc.constantFrom(
  'int main(void) {\n',
  `static void ${'a long heading '.repeat(6)}(void)   \n`,
  `$${' '.repeat(90)}x\n`,
  `ö${'ü'.repeat(60)}\n`,
  `word ${'ї '.repeat(24)}їх їх їх\n`,
  `words ${'ї '.repeat(24)}їх їх їх\n`,
  '\treturn 1;\n',
  '}\n',
  '\n',
  'diff --git a/x b/x\n',
  '@@ -1 +1 @@ \n',
  'carriage\r\n',
  '\u2028odd\r@@ -1 +1 @@ \n',
)
const text = fc
  .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('', 'no end', '\0', '\u00ff'))
  .map(([lines, end]) => lines.join('') + end)

test('patches of any text have the same hunks and headings', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, text, async (before, now, other) => {
      const from = commit({ a: before, b: Buffer.from(other, 'latin1') })
      const to = commit({ a: now, b: Buffer.from(now, 'latin1'), c: other }, [from])
      await expectSame(from, to)
      await expectSame(to, from)
    }),
    runs(25, 32),
  )
}, 300_000)

test('odd names, submodules, first commits and nothing at all read the same', async () => {
  const from = commit({ 'a b': '1\n', 'é"\t': '1\n', module: { submodule: '1'.repeat(40) }, e: '' })
  const to = commit({ 'a b': '2\n', 'é"\t': '', module: { submodule: '2'.repeat(40) }, e: 'x' }, [
    from,
  ])
  expect(await expectSame(from, to)).toBe(true)
  expect(await expectSame(emptyTree, to)).toBe(true)
  expect(await expectSame(from, emptyTree)).toBe(true)
  expect(await expectSame(to, to)).toBe(true)
})

test('large files are left to git', async () => {
  const from = commit({ large: 'x\n'.repeat(3_000_000) })
  const to = commit({ large: `${'x\n'.repeat(3_000_000)}y\n` }, [from])
  const { native, byGit, ours } = await bothWays(from, to)
  expect(native).toBeUndefined()
  expect(ours).toEqual(byGit)
})

test.each(['basic', 'merges', 'renames'] as const)(
  'every commit of %s reads the same',
  async (name) => {
    const path = await buildRepository(name, `${newTestFolder()}/r.git`)
    const lines = git(path, ['rev-list', '--all', '--parents']).split('\n')
    for (const [id = '', parent = emptyTree] of lines.map((each) => each.split(' '))) {
      await expectSame(parent, id, repoAt(path))
    }
  },
)

/** As git counts them. */
function statsOfGit(id: string) {
  const all = git(repo.path, ['diff-tree', '-r', '-M', '--no-commit-id', '--numstat', `${id}^!`])
  const files = all.split('\n').filter(Boolean)
  const sum = (column: number) =>
    files.reduce((total, file) => total + (Number(file.split('\t')[column]) || 0), 0)
  return { additions: sum(0), deletions: sum(1), files: files.length }
}

test('the lines of a commit are those that git counts, also while it is written', async () => {
  const old = { a: 'one\ntwo\nthree\n', b: 'same\n\nsame\n\nsame\n', 'c/d': '\0binary\n', e: '' }
  const start = commit(old)
  const update = fc
    .tuple(fc.constantFrom(...Object.keys(old)), text)
    .map(([path, to]) => ({ kind: 'update', path, content: Buffer.from(to) }) as const)
  const create = fc
    .tuple(fc.constantFrom('n', 'c/n', 'm/n'), text)
    .map(([path, to]) => ({ kind: 'create', path, content: Buffer.from(to) }) as const)
  const remove = fc
    .constantFrom(...Object.keys(old))
    .map((path) => ({ kind: 'delete', path }) as const)
  const actions = fc.uniqueArray(fc.oneof(update, create, remove), {
    minLength: 1,
    maxLength: 4,
    selector: (action) => action.path,
  })
  await fc.assert(
    fc.asyncProperty(actions, async (chosen) => {
      const input = { parentIds: [start], actions: chosen, author, committer: author, message: 'm' }
      const made = await writeCommit(repo, input)
      const judge = statsOfGit(made.id)
      if (made.stats) expect(made.stats).toEqual(judge)
      expect(await readCommitStats(repo, [made.id])).toEqual([judge])
    }),
    runs(40, 33),
  )
}, 300_000)
