import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listChangedPaths } from '../../../src/git/diff/changed-paths.ts'
import { compareCommits } from '../../../src/git/diff/compare.ts'
import { type Diff, readDiff, readPrintedDiff } from '../../../src/git/diff/diff.ts'
import type { DiffLimits } from '../../../src/git/diff/limits.ts'
import { readPatchId } from '../../../src/git/diff/patch-id.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { emptyTree } from '../../../src/git/types.ts'
import { after, anySteps, difference, startTree } from '../../support/any-change.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
/** Two commits each, between which anything has changed. */
const changes: (readonly [from: string, to: string])[] = []

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const start = commitFiles(repo, { files: Object.fromEntries(startTree) })
  for (const [i, steps] of fc.sample(anySteps, { numRuns: 10, seed: 23 }).entries()) {
    const files = difference(startTree, after(startTree, steps))
    const to = commitFiles(repo, { files, parents: [start], ref: `refs/heads/any${i}` })
    changes.push([start, to])
  }
  const [, a = ''] = changes[0] ?? []
  const [, b = ''] = changes[1] ?? []
  changes.push([a, b], [b, a], [emptyTree, a], [a, emptyTree], [a, a])
}, 60_000)
afterAll(() => world.close())

test('changed files are listed as git lists them, renames found', async () => {
  const words: Record<string, string> = { added: 'A', deleted: 'D', renamed: 'R', modified: 'M' }
  for (const [from, to] of changes) {
    const args = ['diff-tree', '-r', '-M', '-z', '--name-status', from, to]
    const fields = gitBytes(repo.path, args).toString('utf8').split('\0').slice(0, -1)
    const expected: string[] = []
    for (let at = 0; at < fields.length; ) {
      const letter = (fields[at] ?? '').charAt(0).replace('T', 'M')
      const paths = letter === 'R' ? 2 : 1
      expected.push([letter, fields[at + 1], fields[at + paths]].join(' '))
      at += 1 + paths
    }
    const found = await listChangedPaths(repo, from, to)
    expect(
      found.map(({ status, oldPath, newPath }) => [words[status], oldPath, newPath].join(' ')),
    ).toEqual(expected)
  }
})

const limits: readonly Partial<DiffLimits>[] = [
  {},
  { expanded: true },
  { fileBytes: 100 },
  { fileBytes: 900 },
  { files: 2 },
  { files: 20 },
  { lines: 10 },
  { bytes: 400, expanded: true },
]

/** A printed diff as the plain one that it stands for. */
async function readPrinted(from: string, to: string, some: Partial<DiffLimits>): Promise<Diff> {
  const printed = await readPrintedDiff(repo, { from, to, limits: some })
  const { overflow, files, patches, ends } = printed
  return {
    overflow,
    files: files.map((file, i) => {
      const text = patches.toString('utf8', i === 0 ? 0 : ends[i - 1], ends[i])
      return { ...file, diff: JSON.parse(text) as string }
    }),
  }
}

test('a printed diff is the same diff, whatever its limits', async () => {
  const plain: Diff[] = []
  for (const [n, some] of limits.entries()) {
    for (const [from, to] of changes.filter((_, i) => (i + n) % 4 === 0)) {
      const diff = await readDiff(repo, { from, to, limits: some })
      expect([from, to, some, await readPrinted(from, to, some)]).toEqual([from, to, some, diff])
      plain.push(diff)
    }
  }
  const files = plain.flatMap((diff) => diff.files)
  const hidden = files.filter((file) => file.collapsed || file.tooLarge)
  expect(new Set(hidden.map((file) => file.diff))).toEqual(new Set(['']))
  expect(new Set(hidden.map((file) => file.collapsed))).toEqual(new Set([true, false]))
  expect(new Set(plain.map((diff) => diff.overflow))).toEqual(new Set([true, false]))
})

test('patch ids are those of git patch-id, and the same for the same change elsewhere', async () => {
  for (const [from, to] of changes) {
    const args = ['diff-tree', '-r', '-p', '--full-index', from, to]
    const input = gitBytes(repo.path, args)
    const expected = git(repo.path, ['patch-id', '--stable'], { input }).split(' ')[0]
    expect([from, to, (await readPatchId(repo, from, to)) ?? '']).toEqual([from, to, expected])
  }
  const one = commitFiles(repo, { files: { z: 'z\n' }, parents: [], ref: 'refs/heads/one' })
  const two = commitFiles(repo, {
    files: { z: 'z\n', y: 'y\n' },
    parents: [one],
    ref: 'refs/heads/one',
  })
  const other = commitFiles(repo, {
    files: { z: 'z\n', x: 'x\n' },
    parents: [],
    ref: 'refs/heads/other',
  })
  const same = commitFiles(repo, { files: { y: 'y\n' }, parents: [other], ref: 'refs/heads/other' })
  expect(await readPatchId(repo, one, two)).toBe(await readPatchId(repo, other, same))
})

test('a comparison has the commits and files that git has, straight or from the merge base', async () => {
  for (const [from, to] of changes.slice(0, 12)) {
    const both = await compareCommits(repo, { from, to })
    const straight = await compareCommits(repo, { from, to, straight: true })
    const list = git(repo.path, ['rev-list', '--reverse', `${from}..${to}`]).split('\n')
    expect(both.commitIds).toEqual(list.filter(Boolean))
    expect(straight.commitIds).toEqual(both.commitIds)
    expect(straight.baseId).toBe(from)
    const base = git(repo.path, ['merge-base', from, to])
    expect(both.baseId).toBe(base)
    expect(both.diff).toEqual(await readDiff(repo, { from: base, to }))
    expect(straight.diff).toEqual(await readDiff(repo, { from, to }))
    expect(await compareCommits(repo, { from, to: from })).toEqual({
      ...{ baseId: from, commitIds: [], diff: { files: [], overflow: false }, sameRef: true },
    })
  }
})
