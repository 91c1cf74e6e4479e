import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cherryPick } from '../../src/git/cherry-pick.ts'
import { checkMerge, rebase, writeMerge } from '../../src/git/merge.ts'
import type { Repo } from '../../src/git/repo.ts'
import { newFolder } from '../support/database.ts'
import { commitFiles, type TestFile } from '../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../support/git.ts'
import { runGitClient } from '../support/git-client.ts'

/*
 * Merges, picks and rebases against the git program, which does each in a work tree of its own: over generated changes of
 * lines, modes and names that now and then conflict.
 */
const committer = { name: 'Bo', email: 'bo@x.test', date: '2021-09-20T08:00:00.000Z' }
const people = { author: committer, committer, message: 'Joined' }
const identity = { GIT_COMMITTER_NAME: 'Bo', GIT_COMMITTER_EMAIL: 'bo@x.test' }

let world: GitWorld
let repo: Repo
let desk: string
let base: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const files = Object.fromEntries(names.map((name) => [name, text(name, new Map())]))
  base = commitFiles(repo, { parents: [], files, ref: 'refs/heads/base' })
  desk = join(newFolder(), 'work')
  git(repo.path, ['worktree', 'add', '-q', '--detach', desk, base])
})
afterAll(() => world.close())

const names = ['one.txt', 'two.txt', 'dir/three.txt']

function text(name: string, edits: ReadonlyMap<number, string>): string {
  const lines = Array.from({ length: 30 }, (_, at) => edits.get(at) ?? `${name} line ${at}`)
  return `${lines.join('\n')}\n`
}

/** What one side does to a file. */
interface FileChange {
  readonly name: string
  readonly edits: ReadonlyMap<number, string>
  readonly executable: boolean
  readonly fate: 'stays' | 'moves' | 'goes'
}

const change = fc.record({
  name: fc.constantFrom(...names),
  edits: fc
    .uniqueArray(fc.tuple(fc.constantFrom(2, 14, 27), fc.constantFrom('X', 'Y')), {
      selector: ([at]) => at,
      maxLength: 2,
    })
    .map((pairs) => new Map(pairs)),
  executable: fc.boolean(),
  fate: fc.constantFrom('stays', 'stays', 'stays', 'moves', 'goes'),
})
const side = fc.uniqueArray(change, { selector: (one) => one.name, minLength: 1, maxLength: 2 })

function filesOf(changes: readonly FileChange[]): Record<string, TestFile> {
  const files: Record<string, TestFile> = {}
  for (const { name, edits, executable, fate } of changes) {
    const mode = executable ? ('100755' as const) : ('100644' as const)
    if (fate !== 'stays') files[name] = null
    if (fate === 'goes') continue
    files[fate === 'moves' ? `moved-${name.replace('/', '-')}` : name] = {
      mode,
      data: text(name, edits),
    }
  }
  return files
}

const commit = (parent: string, changes: readonly FileChange[]) =>
  commitFiles(repo, {
    parents: [parent],
    files: filesOf(changes),
    ref: 'refs/heads/scratch',
    message: `Change ${changes.map((one) => one.name).join()}\n`,
  })

/** Does it with the git program; the tree, or undefined when it conflicts. */
async function treeOfGit(at: string, args: readonly string[]): Promise<string | undefined> {
  git(desk, ['reset', '-q', '--hard'])
  git(desk, ['clean', '-qfd'])
  git(desk, ['checkout', '-q', '--detach', at])
  // Renames of whole folders are a guess that libgit2 does not make.
  const run = await runGitClient(desk, ['-c', 'merge.directoryRenames=false', ...args], identity)
  if (run.code === 0) return git(desk, ['rev-parse', 'HEAD^{tree}'])
  const abort = args[0] === 'rebase' ? ['rebase', '--abort'] : ['reset', '-q', '--hard']
  git(desk, abort)
  await runGitClient(desk, ['cherry-pick', '--quit'])
  return undefined
}

const treeOf = (commitId: string) => git(repo.path, ['rev-parse', `${commitId}^{tree}`])

test('merges agree with git merge', async () => {
  await fc.assert(
    fc.asyncProperty(side, side, async (left, right) => {
      const [ours, theirs] = [commit(base, left), commit(base, right)]
      const judge = await treeOfGit(ours, ['merge', '-q', '--no-edit', '--no-ff', theirs])
      const merged = await writeMerge(repo, { ours, theirs, ...people })
      const tree = merged.outcome === 'clean' ? treeOf(merged.commitId) : undefined
      expect(tree).toBe(judge)
      const outcome = judge === undefined ? 'conflict' : 'clean'
      expect((await checkMerge(repo, { ours, theirs })).outcome).toBe(outcome)
    }),
    { numRuns: 20, seed: 11 },
  )
}, 60_000)

test('picks agree with git cherry-pick', async () => {
  await fc.assert(
    fc.asyncProperty(side, side, async (left, right) => {
      const [onto, picked] = [commit(base, left), commit(base, right)]
      const same = ['cherry-pick', '--keep-redundant-commits', '--allow-empty', picked]
      const judge = await treeOfGit(onto, same)
      const input = { ...people, commit: picked, onto, message: 'Picked' }
      const found = await cherryPick(repo, input)
      if (found.outcome === 'empty') expect(judge).toBe(treeOf(onto))
      else expect(found.outcome === 'clean' ? found.treeId : undefined).toBe(judge)
    }),
    { numRuns: 20, seed: 12 },
  )
}, 60_000)

test('rebases agree with git rebase', async () => {
  await fc.assert(
    fc.asyncProperty(side, side, side, async (left, first, second) => {
      const onto = commit(base, left)
      const head = commit(commit(base, first), second)
      const judge = await treeOfGit(head, ['rebase', '-q', '--empty=drop', onto])
      const moved = await rebase(repo, { head, onto, committer })
      expect(moved.outcome === 'clean' ? treeOf(moved.head) : undefined).toBe(judge)
    }),
    { numRuns: 10, seed: 13 },
  )
}, 60_000)
