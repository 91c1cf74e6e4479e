import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OpenRepositories, type OpenRepository } from '../../../src/git/engine/open-repository.ts'
import { mergeBasesOf } from '../../../src/git/history/merge-base.ts'
import { checkMerge, rebase, writeMerge } from '../../../src/git/merge/merge.ts'
import { mergeNatively } from '../../../src/git/merge/native-merge.ts'
import { type Picked, pickOnto } from '../../../src/git/merge/pick.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { after, anySteps, difference, startTree, type Tree } from '../../support/any-change.ts'
import { newFolder } from '../../support/database.ts'
import { commitFiles, fsck } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'
import { runGitClient } from '../../support/git-client.ts'
import { runs } from '../../support/runs.ts'

/*
 * Merges, picks, reverts and rebases against the git program: over generated edits, moves of files and folders,
 * deletions, changes of kind and mode on both sides. `FC_RUNS=500` looks further.
 */
const committer = { name: 'Bo', email: 'bo@x.test', date: '2021-09-20T08:00:00.000Z' }
const people = { author: committer, committer, message: 'Joined' }
const identity = { GIT_COMMITTER_NAME: 'Bo', GIT_COMMITTER_EMAIL: 'bo@x.test' }

let world: GitWorld
let repo: Repo
let handle: OpenRepository
let folders: string
let base: string
const scratch = newFolder()
/** How many of the generated merges, picks and reverts libgit2 makes, said by a longer run. */
const made = { all: 0, byLibgit2: 0 }

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  handle = new OpenRepositories().get(repo.path)
  base = commitTree([], new Map(), startTree, 'refs/heads/base')
  folders = join(newFolder(), 'work')
  // It reads the objects of the repository and keeps its own to itself.
  git(repo.path, ['clone', '-q', '--shared', '--no-checkout', repo.path, folders])
})
afterAll(async () => {
  if (process.env.FC_RUNS !== undefined) {
    console.info(`${made.byLibgit2} of ${made.all} merges, picks and reverts were made by libgit2`)
  }
  expect(fsck(repo)).toBe('')
  await world.close()
  for (const folder of [scratch, join(folders, '..')]) rmSync(folder, { recursive: true })
}, 600_000)

function commitTree(
  parents: readonly string[],
  from: Tree,
  to: Tree,
  ref = 'refs/heads/scratch',
): string {
  return commitFiles(repo, { parents, files: difference(from, to), ref })
}

/** A branch of one commit: where it ends, and what is there. */
function branch(steps: Parameters<typeof after>[1], parent = base, from = startTree) {
  const tree = after(from, steps)
  return { tree, id: commitTree([parent], from, tree) }
}

/** The tree of a merge as git finds it; or the paths that conflict. */
async function mergeOfGit(ours: string, theirs: string): Promise<string | string[]> {
  const args = ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', ours, theirs]
  // What git makes of conflicts is not always sound, and stays out of the repository.
  const { code, stdout, stderr } = await runGitClient(repo.path, args, {
    GIT_OBJECT_DIRECTORY: scratch,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repo.path, 'objects'),
  })
  const [tree = '', ...paths] = stdout.split('\0').filter(Boolean)
  // git 2.39 ends by an assertion at some conflicts, without naming paths.
  if (stderr.includes('merge-ort.c')) return []
  expect([0, 1]).toContain(code)
  return code === 0 ? tree : [...new Set(paths)].sort()
}

/** Counts, in a longer run, what is made of three commits; `from` is the only one that both sides start from. */
async function count(from: string | undefined, ours: string, theirs: string): Promise<void> {
  if (process.env.FC_RUNS === undefined) return
  made.all += 1
  if (from && (await mergeNatively(handle, { base: from, ours, theirs }))) made.byLibgit2 += 1
}

/** What we make of it, in the same words. */
async function mergeOfOurs(ours: string, theirs: string): Promise<string | readonly string[]> {
  const [from, ...others] = await mergeBasesOf(handle, ours, theirs)
  await count(others.length === 0 ? from : undefined, ours, theirs)
  const merged = await writeMerge(repo, { ours, theirs, ...people })
  const checked = await checkMerge(repo, { ours, theirs })
  expect(checked).toEqual(merged.outcome === 'conflict' ? merged : { outcome: 'clean' })
  if (merged.outcome === 'conflict') return merged.paths
  return merged.outcome === 'clean' ? merged.treeId : 'nothing'
}

/** Does it with the git program in a work tree; the tree, or undefined when it conflicts. */
async function treeOfGit(at: string, args: readonly string[]): Promise<string | undefined> {
  // git 2.39 ends by itself at some conflicts of moved folders (merge-ort.c, "this shouldn't happen"), and leaves its lock.
  rmSync(join(folders, '.git/index.lock'), { force: true })
  git(folders, ['checkout', '-q', '--force', '--detach', at])
  git(folders, ['clean', '-qfdx'])
  const run = await runGitClient(folders, [...args], identity)
  if (run.code === 0) return git(folders, ['rev-parse', 'HEAD^{tree}'])
  await runGitClient(folders, [args[0] ?? '', args[0] === 'rebase' ? '--abort' : '--quit'])
  return undefined
}

const treeOf = (commitId: string) => git(repo.path, ['rev-parse', `${commitId}^{tree}`])

test('merges come out as git merges', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, async (left, right) => {
      const [ours, theirs] = [branch(left).id, branch(right).id]
      expect(await mergeOfOurs(ours, theirs)).toEqual(await mergeOfGit(ours, theirs))
    }),
    runs(30, 11, 300),
  )
}, 300_000)

/** Where one side changes a file that is there, makes one, or takes one away, and the other side does nothing. */
const anyApart = fc.record({
  ours: fc.uniqueArray(fc.constantFrom(...startTree.keys()), { minLength: 1, maxLength: 6 }),
  deletes: fc.tuple(fc.boolean(), fc.boolean()),
  text: fc.constantFrom('X', 'Y'),
})

test('sides that touch different files are merged, picked and reverted by libgit2, as git does it', async () => {
  await fc.assert(
    fc.asyncProperty(anyApart, async ({ ours: taken, deletes, text }) => {
      const change = (paths: readonly string[], side: 0 | 1) => {
        const tree = new Map(startTree)
        for (const path of paths) {
          if (deletes[side]) tree.delete(path)
          else tree.set(path, { mode: '100755', data: `${text}\n` })
        }
        if (!deletes[side]) tree.set(`d/${side}`, { mode: '100644', data: text })
        return commitTree([base], startTree, tree)
      }
      const ours = change(taken, 0)
      const left = [...startTree.keys()].filter((path) => !taken.includes(path)).slice(0, 3)
      const theirs = change(left, 1)
      expect(await mergeNatively(handle, { base, ours, theirs })).toBeDefined()
      const wanted = await mergeOfGit(ours, theirs)
      expect(await mergeOfOurs(ours, theirs)).toEqual(wanted)
      const pick = { ...people, commit: theirs, onto: ours }
      await count(base, ours, theirs)
      const picked = await pickOnto(repo, { kind: 'cherry-pick', ...pick })
      expectPicked(picked, wanted as string, ours)
      const merged = await writeMerge(repo, { ours, theirs, ...people })
      const onto = merged.outcome === 'clean' ? merged.commitId : ours
      await count(theirs, onto, base)
      const reverted = await pickOnto(repo, { kind: 'revert', ...pick, onto })
      expectPicked(reverted, treeOf(ours), onto)
    }),
    runs(20, 16, 200),
  )
}, 300_000)

test('merges of branches that have merged one another come out as git merges', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, anySteps, anySteps, async (left, right, more, other) => {
      const [one, two] = [branch(left), branch(right)]
      // Each took the other's change in by keeping its own files, and went on.
      const ours = commitTree([one.id, two.id], one.tree, after(one.tree, more))
      const theirs = commitTree([two.id, one.id], two.tree, after(two.tree, other))
      expect(await mergeOfOurs(ours, theirs)).toEqual(await mergeOfGit(ours, theirs))
    }),
    runs(8, 12),
  )
}, 300_000)

test('one file that the sides rename to two names conflicts, in merges and picks', async () => {
  const move = (to: string) => {
    const tree = new Map(startTree)
    tree.delete('one.txt')
    tree.set(to, { mode: '100644', data: startTree.get('one.txt')?.data ?? '' })
    return commitTree([base], startTree, tree)
  }
  const [ours, theirs] = [move('first.txt'), move('second.txt')]
  const paths = ['first.txt', 'one.txt', 'second.txt']
  expect(await mergeOfGit(ours, theirs)).toEqual(paths)
  expect(await mergeOfOurs(ours, theirs)).toEqual(paths)
  const picked = await pickOnto(repo, {
    kind: 'cherry-pick',
    ...people,
    commit: theirs,
    onto: ours,
  })
  expect(picked).toEqual({ outcome: 'conflict', paths })
})

test('histories without a common commit are not merged, as git refuses to', async () => {
  const other = commitTree([], new Map(), after(startTree, []))
  const run = await runGitClient(repo.path, ['merge-tree', '--write-tree', base, other])
  expect(run.stderr).toContain('refusing to merge unrelated histories')
  expect(await mergeOfOurs(base, other)).toEqual([])
})

function expectPicked(found: Picked, judge: string | undefined, onto: string): void {
  if (found.outcome === 'empty') expect(judge).toBe(treeOf(onto))
  else expect(found.outcome === 'clean' ? found.treeId : undefined).toBe(judge)
}

test('picks come out as git cherry-picks', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, anySteps, async (left, first, second) => {
      const onto = branch(left).id
      const before = branch(first)
      const picked = branch(second, before.id, before.tree).id
      await count(before.id, onto, picked)
      const same = ['cherry-pick', '--keep-redundant-commits', '--allow-empty', picked]
      const judge = await treeOfGit(onto, same)
      expectPicked(
        await pickOnto(repo, { kind: 'cherry-pick', ...people, commit: picked, onto }),
        judge,
        onto,
      )
    }),
    runs(15, 13, 150),
  )
}, 300_000)

test('reverts come out as git reverts', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, async (first, second) => {
      const change = branch(first)
      const onto = branch(second, change.id, change.tree).id
      await count(change.id, onto, base)
      const judge = await treeOfGit(onto, ['revert', '--no-edit', change.id])
      const found = await pickOnto(repo, { kind: 'revert', ...people, commit: change.id, onto })
      // What changes nothing git refuses to commit.
      if (found.outcome !== 'empty') expectPicked(found, judge, onto)
    }),
    runs(15, 14, 125),
  )
}, 300_000)

test('rebases come out as git rebases', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, anySteps, async (left, first, second) => {
      const onto = branch(left).id
      const before = branch(first)
      const head = branch(second, before.id, before.tree).id
      const judge = await treeOfGit(head, ['rebase', '-q', '--empty=drop', onto])
      const moved = await rebase(repo, { head, onto, committer })
      expect(moved.outcome === 'clean' ? treeOf(moved.head) : undefined).toBe(judge)
    }),
    runs(10, 15),
  )
}, 300_000)
