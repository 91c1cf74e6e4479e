import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkMerge, rebase, writeMerge } from '../../../src/git/merge/merge.ts'
import { pickOnto } from '../../../src/git/merge/pick.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles, fsck, listing, type TestFile } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

const author = { name: 'Ana', email: 'ana@x.test', date: '2021-09-20T09:06:12.000+02:00' }
const committer = { name: 'Bo', email: 'bo@x.test', date: '2021-09-20T08:00:00.000Z' }
const people = { author, committer, message: 'Joined' }

let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(async () => {
  expect(fsck(repo)).toBe('')
  await world.close()
})

type Files = Readonly<Record<string, TestFile>>

function commit(parents: readonly string[], files: Files, message?: string): string {
  return commitFiles(repo, { parents, files, ref: 'refs/heads/scratch', message })
}

const lines = (...changes: readonly (readonly [number, string])[]) => {
  const all = Array.from({ length: 40 }, (_, i) => `line ${i}`)
  for (const [at, text] of changes) all[at] = text
  return `${all.join('\n')}\n`
}

/** The tree and the conflicting paths as git's own merge finds them. */
function mergeOfGit(ours: string, theirs: string): { tree: string; conflicts: string[] } {
  const args = ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', ours, theirs]
  const text = git(repo.path, ['-c', 'alias.m=!git "$@"; true', 'm', ...args])
  const [tree = '', ...conflicts] = text.split('\0').filter(Boolean)
  return { tree, conflicts }
}

describe('a merge', () => {
  test('of changes apart makes the tree that git makes, with both parents', async () => {
    const base = commit([], { 'a.txt': lines(), 'd/keep': 'k', 'raw:\xff\xfe': 'bytes' })
    const ours = commit([base], { 'a.txt': lines([1, 'ours']), 'd/ours/new': 'o' })
    const theirs = commit([base], { 'a.txt': lines([30, 'theirs']), 'd/keep': null, e: 'e' })
    const merged = await writeMerge(repo, { ours, theirs, ...people })
    expect(merged).toMatchObject({ outcome: 'clean', treeId: mergeOfGit(ours, theirs).tree })
    if (merged.outcome !== 'clean') return
    expect(git(repo.path, ['show', '-s', '--format=%P|%an|%cn|%B', merged.commitId])).toBe(
      `${ours} ${theirs}|Ana|Bo|Joined`,
    )
    expect(await checkMerge(repo, { ours, theirs })).toEqual({ outcome: 'clean' })
  })

  test('names the paths that conflict', async () => {
    const base = commit([], { 'a.txt': lines(), b: 'b', c: 'c', 'x y/é': lines() })
    const ours = commit([base], { 'a.txt': lines([5, 'ours']), b: null, 'x y/é': lines([1, 'o']) })
    const theirs = commit([base], {
      'a.txt': lines([5, 'theirs']),
      b: 'B',
      'x y/é': lines([1, 't']),
    })
    const checked = await checkMerge(repo, { ours, theirs })
    expect(checked).toEqual({ outcome: 'conflict', paths: ['a.txt', 'b', 'x y/é'] })
    expect(await writeMerge(repo, { ours, theirs, ...people })).toEqual(checked)
  })

  test('of names that are not UTF-8 keeps every byte', async () => {
    const base = commit([], { 'raw:caf\xe9': lines(), a: 'a' })
    const ours = commit([base], { a: 'A' })
    const theirs = commit([base], { 'raw:caf\xe9': lines([3, 'x']), 'raw:n\xe9w/\xff': 'n' })
    const merged = await writeMerge(repo, { ours, theirs, ...people })
    expect(merged).toMatchObject({ treeId: mergeOfGit(ours, theirs).tree })
  })

  test('a file that gives way to a folder', async () => {
    const base = commit([], { p: 'file', z: 'z' })
    const ours = commit([base], { z: 'Z' })
    const theirs = commit([base], { p: null, 'p/q': 'below' })
    const merged = await writeMerge(repo, { ours, theirs, ...people })
    expect(merged).toMatchObject({ treeId: mergeOfGit(ours, theirs).tree })
  })

  test('squashed has one parent, and of nothing new is empty', async () => {
    const base = commit([], { a: '1' })
    const theirs = commit([base], { b: '2' })
    const merged = await writeMerge(repo, { ours: base, theirs, ...people, squash: true })
    if (merged.outcome !== 'clean') throw new Error(merged.outcome)
    expect(git(repo.path, ['show', '-s', '--format=%P', merged.commitId])).toBe(base)
    const again = await writeMerge(repo, { ours: theirs, theirs: base, ...people, squash: true })
    expect(again).toEqual({ outcome: 'empty' })
  })

  test('over criss-cross history merges as git does', async () => {
    const base = commit([], { a: lines() })
    const a1 = commit([base], { a: lines([1, 'a1']) })
    const b1 = commit([base], { a: lines([20, 'b1']) })
    const both = { a: lines([1, 'a1'], [20, 'b1']) }
    const a2 = commit([a1, b1], both)
    const b2 = commit([b1, a1], both)
    const ours = commit([a2], { a: lines([1, 'a1'], [20, 'b1'], [10, 'ours']) })
    const theirs = commit([b2], { a: lines([1, 'a1'], [20, 'b1'], [30, 'theirs']) })
    const merged = await writeMerge(repo, { ours, theirs, ...people })
    expect(merged).toMatchObject({ outcome: 'clean', treeId: mergeOfGit(ours, theirs).tree })
  })

  test('of sides that touch different files, in folders that both changed, gives the tree of git', async () => {
    const base = commit([], {
      'a/b/one': '1\n',
      'a/b/two': '2\n',
      'a/gone/x': 'x\n',
      'c/same': 's\n',
      'old/name': lines(),
    })
    const ours = commit([base], {
      'a/b/one': 'one\n',
      'a/b/two': '2\n',
      'a/gone/x': 'x\n',
      'a/new/y': 'y\n',
      'c/same': 'both\n',
      'new/name': lines(),
    })
    const theirs = commit([base], {
      'a/b/one': '1\n',
      'a/b/two': { mode: '100755', data: '2\n' },
      'a/b.c': 'sorted between\n',
      'c/same': 'both\n',
      'old/name': lines(),
    })
    expect(await checkMerge(repo, { ours, theirs })).toEqual({ outcome: 'clean' })
    const merged = await writeMerge(repo, { ours, theirs, ...people })
    expect(merged).toMatchObject({ outcome: 'clean', treeId: mergeOfGit(ours, theirs).tree })
  })

  test('of what is no commit is a typed error', async () => {
    const base = commit([], { a: '1' })
    const unknown = '3'.repeat(40)
    await expect(checkMerge(repo, { ours: unknown, theirs: base })).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(checkMerge(repo, { ours: base, theirs: unknown })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('of any small trees agrees with git', async () => {
    const name = fc.constantFrom('a', 'b', 'd/c', 'd/e/f')
    const side = fc.dictionary(
      name,
      fc.constantFrom(lines([2, 'x']), lines([30, 'y']), 'z', null),
      {
        maxKeys: 4,
      },
    )
    const start: Files = { a: lines(), b: 'b', 'd/c': lines(), 'd/e/f': 'f', other: 'o' }
    const base = commit([], start)
    await fc.assert(
      fc.asyncProperty(side, side, async (left, right) => {
        const ours = commit([base], left)
        const theirs = commit([base], right)
        const judge = mergeOfGit(ours, theirs)
        const checked = await checkMerge(repo, { ours, theirs })
        const merged = await writeMerge(repo, { ours, theirs, ...people })
        expect(checked.outcome).toBe(judge.conflicts.length === 0 ? 'clean' : 'conflict')
        expect(merged.outcome).toBe(checked.outcome)
        if (merged.outcome === 'clean') expect(merged.treeId).toBe(judge.tree)
      }),
      runs(40, 1),
    )
  }, 60_000)
})

describe('a pick', () => {
  test('makes the tree that a cherry-pick makes, and its revert takes it back', async () => {
    const base = commit([], { a: lines(), b: 'b' })
    const change = commit([base], { a: lines([20, 'picked']), n: 'new', b: null })
    const onto = commit([base], { a: lines([1, 'onto']), b: 'b' })
    const picked = await pickOnto(repo, { kind: 'cherry-pick', commit: change, onto, ...people })
    if (picked.outcome !== 'clean' || !picked.commitId) throw new Error(picked.outcome)
    expect(listing(repo, picked.commitId).map((line) => line.split('\t')[1])).toEqual(['a', 'n'])
    expect(git(repo.path, ['show', `${picked.commitId}:a`])).toBe(
      lines([1, 'onto'], [20, 'picked']).trimEnd(),
    )
    expect(git(repo.path, ['show', '-s', '--format=%P|%an|%cn|%B', picked.commitId])).toBe(
      `${onto}|Ana|Bo|Joined`,
    )
    const back = await pickOnto(repo, {
      kind: 'revert',
      commit: picked.commitId,
      onto: picked.commitId,
      ...people,
    })
    expect(back).toMatchObject({ treeId: git(repo.path, ['rev-parse', `${onto}^{tree}`]) })
  })

  test('of what is there already is empty, dry or not', async () => {
    const base = commit([], { a: '1' })
    const change = commit([base], { a: '2' })
    const onto = commit([base], { a: '2', b: 'x' })
    expect(await pickOnto(repo, { kind: 'cherry-pick', commit: change, onto, ...people })).toEqual({
      outcome: 'empty',
    })
    const dry = await pickOnto(repo, {
      kind: 'cherry-pick',
      commit: change,
      onto,
      ...people,
      dryRun: true,
    })
    expect(dry).toEqual({ outcome: 'empty' })
  })

  test('that conflicts says where, and a dry run that would not writes no commit', async () => {
    const base = commit([], { a: '1' })
    const change = commit([base], { a: '2' })
    const other = commit([base], { a: '3' })
    expect(
      await pickOnto(repo, { kind: 'cherry-pick', commit: change, onto: other, ...people }),
    ).toEqual({
      outcome: 'conflict',
      paths: ['a'],
    })
    expect(
      await pickOnto(repo, { kind: 'revert', commit: change, onto: other, ...people }),
    ).toMatchObject({
      outcome: 'conflict',
    })
    const dry = await pickOnto(repo, {
      kind: 'cherry-pick',
      commit: change,
      onto: base,
      ...people,
      dryRun: true,
    })
    expect(dry).toEqual({ outcome: 'clean' })
  })

  test('of a merge commit is its change against the first parent; of a first commit, all of it', async () => {
    const base = commit([], { a: '1' })
    const side = commit([base], { b: '2' })
    const main = commit([base], { c: '3' })
    const merged = commit([main, side], { b: '2', c: '3' })
    const onto = commit([], { z: 'z' })
    const picked = await pickOnto(repo, { kind: 'cherry-pick', commit: merged, onto, ...people })
    if (picked.outcome !== 'clean' || !picked.commitId) throw new Error(picked.outcome)
    expect(listing(repo, picked.commitId).map((line) => line.split('\t')[1])).toEqual(['b', 'z'])
    const undone = await pickOnto(repo, { kind: 'revert', commit: merged, onto: merged, ...people })
    expect(undone).toMatchObject({ treeId: git(repo.path, ['rev-parse', `${main}^{tree}`]) })
    const first = await pickOnto(repo, { kind: 'cherry-pick', commit: base, onto, ...people })
    if (first.outcome !== 'clean' || !first.commitId) throw new Error(first.outcome)
    expect(listing(repo, first.commitId).map((line) => line.split('\t')[1])).toEqual(['a', 'z'])
  })
})

describe('a rebase', () => {
  test('moves the commits with their authors, and leaves out what is there already', async () => {
    const base = commit([], { a: lines() })
    const one = commit([base], { a: lines([1, 'one']) }, 'One\n')
    const two = commit([one], { b: 'b' }, 'Two\n')
    const three = commit([two], { c: 'c' }, 'Three\n')
    const onto = commit([base], { a: lines([30, 'onto']), b: 'b' })
    const moved = await rebase(repo, { head: three, onto, committer })
    if (moved.outcome !== 'clean') throw new Error(moved.outcome)
    expect(moved.count).toBe(2)
    expect(git(repo.path, ['log', '--format=%s|%an|%cn', `${onto}..${moved.head}`])).toBe(
      'Three|Ana Author|Bo\nOne|Ana Author|Bo',
    )
    expect(git(repo.path, ['merge-base', onto, moved.head])).toBe(onto)
  })

  test('of what sits there already changes nothing', async () => {
    const base = commit([], { a: '1' })
    const next = commit([base], { a: '2' })
    const moved = await rebase(repo, { head: next, onto: base, committer })
    expect(moved).toEqual({ outcome: 'clean', head: next, count: 0 })
    const behind = await rebase(repo, { head: base, onto: next, committer })
    expect(behind).toEqual({ outcome: 'clean', head: next, count: 0 })
  })

  test('that conflicts names the commit and the paths', async () => {
    const base = commit([], { a: '1' })
    const mine = commit([base], { a: '2' })
    const onto = commit([base], { a: '3' })
    expect(await rebase(repo, { head: mine, onto, committer })).toEqual({
      outcome: 'conflict',
      commit: mine,
      paths: ['a'],
    })
  })
})
