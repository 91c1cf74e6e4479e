import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { markerSize, splitConflicts } from '../../../src/git/merge/conflict-sections.ts'
import { readConflicts } from '../../../src/git/merge/conflicts.ts'
import { resolveConflicts } from '../../../src/git/merge/resolve-conflicts.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { newFolder } from '../../support/database.ts'
import { commitFiles, fsck, type TestFile } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'
import { runGitClient } from '../../support/git-client.ts'

const author = { name: 'Bo', email: 'bo@x.test', date: '2021-09-20T08:00:00.000Z' }
const people = { author, committer: author, message: 'Resolve\n' }
const identity = { GIT_COMMITTER_NAME: 'Bo', GIT_COMMITTER_EMAIL: 'bo@x.test' }

let world: GitWorld
let repo: Repo
let work: string
let count = 0

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(async () => {
  expect(fsck(repo)).toBe('')
  await world.close()
})

type Files = Readonly<Record<string, TestFile | null>>

function branches(base: Files, left: Files, right: Files) {
  count += 1
  const commit = (name: string, files: Files, parents: readonly string[]) =>
    commitFiles(repo, { files, parents, ref: `refs/heads/${name}-${count}` })
  const root = commit('base', base, [])
  return { ours: commit('ours', left, [root]), theirs: commit('theirs', right, [root]) }
}

/** The tree that `git merge -X ours` or `-X theirs` makes, in a work tree of its own. */
async function treeOfGit(ours: string, theirs: string, side: 'ours' | 'theirs'): Promise<string> {
  work = join(newFolder(), 'work')
  git(repo.path, ['clone', '-q', '--shared', '--no-checkout', repo.path, work])
  git(work, ['checkout', '-q', '--detach', ours])
  const run = await runGitClient(work, ['merge', '-q', '-m', 'x', '-X', side, theirs], {
    ...identity,
    GIT_AUTHOR_NAME: 'Bo',
    GIT_AUTHOR_EMAIL: 'bo@x.test',
  })
  expect(run.stderr).toBe('')
  const tree = git(work, ['rev-parse', 'HEAD^{tree}'])
  rmSync(join(work, '..'), { recursive: true })
  return tree
}

async function resolveAll(sides: { ours: string; theirs: string }, side: 'ours' | 'theirs') {
  const { files } = await readConflicts(repo, sides)
  const choices = files.map(({ path, parts = [] }) => ({
    path,
    sections: Object.fromEntries(
      parts.flatMap((part) => (part.kind === 'conflict' ? [[part.id, side] as const] : [])),
    ),
  }))
  return resolveConflicts(repo, { ...sides, ...people, files: choices })
}

const lines = (...all: string[]) => `${all.join('\n')}\n`
const long = Array.from({ length: 20 }, (_, at) => `line ${at}`)

function texts(mark: string) {
  const changed = long.map((line, at) => (at === 3 || at === 12 ? `${line} ${mark}` : line))
  return {
    'src/a/long.txt': lines(...changed, ''),
    'no end.txt': `one\ntwo ${mark}`,
    'crlf.txt': `a\r\n${mark}\r\nc\r\n`,
    'ünï.txt': lines('a', `<script>${mark}</script>`),
    // What looks like git's own marks.
    'marks.txt': lines('title', '=======', mark, '<<<<<<< x', '=======', `>>>>>>> ${mark}`),
    'new.txt': lines('new', mark),
    [`src/only-${mark}.txt`]: mark,
  }
}

test.each(['ours', 'theirs'] as const)(
  'a merge with %s in every section is git’s own',
  async (side) => {
    const { 'new.txt': _, ...base } = texts('base')
    const sides = branches(base, texts('left'), texts('right'))
    const found = await readConflicts(repo, sides)
    expect(found.files.map(({ path, kind }) => [path, kind])).toEqual([
      ['crlf.txt', 'content'],
      ['marks.txt', 'content'],
      ['new.txt', 'both_added'],
      ['no end.txt', 'content'],
      ['src/a/long.txt', 'content'],
      ['ünï.txt', 'content'],
    ])
    const sections = found.files.flatMap(({ parts = [] }) =>
      parts.filter((p) => p.kind === 'conflict'),
    )
    expect(sections.length).toBeGreaterThan(6)
    const done = await resolveAll(sides, side)
    if (done.outcome !== 'clean') throw new Error(done.outcome)
    expect(git(repo.path, ['rev-parse', `${done.commitId}^{tree}`])).toBe(
      await treeOfGit(sides.ours, sides.theirs, side),
    )
    expect(git(repo.path, ['show', '-s', '--format=%P%n%B', done.commitId])).toBe(
      `${sides.ours} ${sides.theirs}\nResolve\n`,
    )
  },
  60_000,
)

test('a whole text takes the place of its file, and all else is as git merges it', async () => {
  const base = { a: 'a\n', 'b/c': 'c\n', 'b/d': lines(...long) }
  const [first, last] = [long.with(0, 'ours'), long.with(19, 'theirs')]
  const sides = branches(
    base,
    { a: 'ours\n', 'b/d': lines(...first) },
    { a: 'theirs\n', 'b/d': lines(...last), 'b/e': 'e' },
  )
  const files = [{ path: 'a', text: 'both\n' }]
  const done = await resolveConflicts(repo, { ...sides, ...people, files })
  if (done.outcome !== 'clean') throw new Error(done.outcome)
  const show = (path: string) => git(repo.path, ['show', `${done.commitId}:${path}`])
  expect([show('a'), show('b/e'), show('b/c')]).toEqual(['both', 'e', 'c'])
  expect(show('b/d')).toBe(first.with(19, 'theirs').join('\n'))
})

test('what no text settles is named, and resolves nothing', async () => {
  const nul = (mark: string) => `a\0${mark}`
  const sides = branches(
    {
      bin: nul('1'),
      gone: 'a\n',
      lost: 'a\n',
      text: 'a\n',
      big: 'a\n',
      latin: 'a\n',
      moved: lines(...long),
    },
    {
      bin: nul('2'),
      gone: null,
      lost: 'b\n',
      text: 'b\n',
      big: 'b\n'.repeat(300_000),
      'to-b': lines(...long),
      moved: null,
    },
    {
      bin: nul('3'),
      gone: 'c\n',
      lost: null,
      text: 'c\n',
      big: 'c\n',
      'to-c': lines(...long),
      moved: null,
    },
  )
  const { files } = await readConflicts(repo, sides)
  const kinds = Object.fromEntries(files.map(({ path, kind }) => [path, kind]))
  expect(kinds).toEqual({
    big: 'too_large',
    bin: 'binary',
    gone: 'deleted_by_ours',
    lost: 'deleted_by_theirs',
    moved: 'other',
    text: 'content',
    'to-b': 'other',
    'to-c': 'other',
  })
  const given = [
    { path: 'bin', text: 'x' },
    { path: 'text', text: 'b\n' },
    { path: 'none', text: 'x' },
  ]
  const done = await resolveConflicts(repo, { ...sides, ...people, files: given })
  if (done.outcome !== 'unresolved') throw new Error(done.outcome)
  const reasons = done.files.map(({ path, reason }) => [path, reason])
  expect(reasons).toContainEqual(['bin', 'not_here'])
  expect(reasons).toContainEqual(['gone', 'not_here'])
  expect(reasons).toContainEqual(['none', 'no_conflict'])
  expect(reasons).not.toContainEqual(expect.arrayContaining(['text']))
})

test('a file without a choice for every section, or with marks left, is not resolved', async () => {
  const sides = branches(
    { a: 'a\n', b: 'b\n', c: 'c\n' },
    { a: 'A\n', b: 'B\n', c: 'C\n' },
    { a: '1\n', b: '2\n', c: '3\n' },
  )
  const files = [
    { path: 'a', sections: {} },
    { path: 'b', text: '<<<<<<< ours\nB\n=======\n2\n>>>>>>> theirs\n' },
  ]
  const done = await resolveConflicts(repo, { ...sides, ...people, files })
  expect(done).toEqual({
    outcome: 'unresolved',
    files: [
      { path: 'a', reason: 'sections' },
      { path: 'b', reason: 'marks' },
      { path: 'c', reason: 'missing' },
    ],
  })
})

test('commits that merge have nothing to resolve, and commits without a common one cannot be', async () => {
  const clean = branches({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' })
  expect(await readConflicts(repo, clean)).toEqual({
    files: [],
    overflow: false,
    unmergeable: false,
  })
  expect(await resolveConflicts(repo, { ...clean, ...people, files: [] })).toEqual({
    outcome: 'none',
  })
  const other = { ours: clean.ours, theirs: branches({ a: 'x\n' }, { b: 'y' }, {}).ours }
  expect((await readConflicts(repo, other)).unmergeable).toBe(true)
})

test('sections of the same texts have ids of their own', () => {
  const merged = lines(
    '<<<<<<< o',
    'a',
    '=======',
    'b',
    '>>>>>>> t',
    'x',
    '<<<<<<< o',
    'a',
    '=======',
    'b',
    '>>>>>>> t',
  )
  const parts = splitConflicts(merged, 7, {
    ours: lines('a', 'x', 'a'),
    theirs: lines('b', 'x', 'b'),
  })
  const ids = parts?.flatMap((part) => (part.kind === 'conflict' ? [part.id] : []))
  expect(new Set(ids).size).toBe(2)
  expect(markerSize([lines('=======', '<<<<<<<< x')])).toBe(9)
})
