import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAncestor } from '../../../src/git/history/ancestry.ts'
import {
  readChangedPaths,
  readNewCommits,
  readNewFiles,
} from '../../../src/git/history/new-commits.ts'
import { readFileSizes } from '../../../src/git/objects/file-sizes.ts'
import { listTipFiles } from '../../../src/git/objects/tip-files.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let start: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  start = commitFiles(repo, {
    files: { 'a.txt': 'a\n', 'old name': 'some text that stays the same\n', gone: 'gone\n' },
  })
})
afterAll(() => world.close())

/** A place for objects that no ref may have yet, as a push has it. */
function quarantine(name: string): { folder: string; env: Record<string, string> } {
  const folder = join(world.folder, `quarantine-${name}`)
  mkdirSync(folder)
  return {
    folder,
    env: {
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repo.path, 'objects'),
    },
  }
}

/** A commit with these files, whose objects go where the environment says. */
function commitInto(
  env: Record<string, string>,
  files: Readonly<Record<string, string>>,
  parents: readonly string[],
  options: { readonly message?: string; readonly env?: Record<string, string> } = {},
): string {
  const blobs = Object.entries(files).map(([path, content]) => {
    const id = git(repo.path, ['hash-object', '-w', '--stdin'], { input: content, env })
    return `100644 blob ${id}\t${path}\n`
  })
  const tree = git(repo.path, ['mktree'], { input: blobs.join(''), env })
  const from = parents.flatMap((id) => ['-p', id])
  const args = ['commit-tree', ...from, '-F', '-', tree]
  const input = options.message ?? 'Change\n'
  return git(repo.path, args, { input, env: { ...env, ...options.env } })
}

describe('what a push brings', () => {
  test('is listed commit by commit, the newest first, from the quarantine only', async () => {
    const { folder, env } = quarantine('commits')
    const one = commitInto(env, { 'a.txt': '1\n' }, [start], {
      message: 'First\n\n    indented\n\nSigned-off-by: A <a@b>\n',
      env: { GIT_AUTHOR_NAME: 'Zoë', GIT_AUTHOR_EMAIL: 'zoe@example.com' },
    })
    const two = commitInto(env, { 'a.txt': '2\n' }, [one, start], { message: 'Merge\n' })
    const commits = await readNewCommits(repo, two, folder)
    expect(commits).toEqual([
      {
        id: two,
        authorEmail: 'ana@example.com',
        committerName: 'Carl Committer',
        committerEmail: 'carl@example.com',
        message: 'Merge\n',
        signed: false,
        merge: true,
      },
      {
        id: one,
        authorEmail: 'zoe@example.com',
        committerName: 'Carl Committer',
        committerEmail: 'carl@example.com',
        message: 'First\n\n    indented\n\nSigned-off-by: A <a@b>\n',
        signed: false,
        merge: false,
      },
    ])
    await expect(readNewCommits(repo, two)).rejects.toMatchObject({ code: 'failed' })
  })

  test('is nothing where refs have it already', async () => {
    expect(await readNewCommits(repo, start)).toEqual([])
    expect(await readNewFiles(repo, start, { sizes: true })).toEqual([])
    expect(await readChangedPaths(repo, start)).toEqual([])
  })

  test('may be signed, encoded otherwise and without a message', async () => {
    const tree = git(repo.path, ['rev-parse', `${start}^{tree}`])
    const people = Buffer.from(
      `author J\xfcrgen <j\xfc@x> 1 +0000\ncommitter J\xfcrgen <j@x> 1 +0000\n`,
      'latin1',
    )
    const store = (...parts: readonly (string | Buffer)[]) =>
      git(repo.path, ['hash-object', '-w', '-t', 'commit', '--stdin'], {
        input: Buffer.concat(parts.map((part) => Buffer.from(part))),
      })
    const head = `tree ${tree}\nparent ${start}\n`
    const signature =
      'gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n'
    const signed = store(
      head,
      people,
      signature,
      'encoding ISO-8859-1\n',
      '\nGr',
      Buffer.of(0xfc),
      '\n',
    )
    const [commit] = await readNewCommits(repo, signed)
    expect(commit).toMatchObject({
      ...{ signed: true, merge: false, message: 'Grü\n' },
      ...{ authorEmail: 'jü@x', committerName: 'Jürgen', committerEmail: 'j@x' },
    })
    const silent = store(head, 'author A <a@b> 1 +0000\ncommitter  <> 1 +0000\n\n')
    expect(await readNewCommits(repo, silent)).toEqual([
      {
        ...{ id: silent, signed: false, merge: false, message: '' },
        ...{ authorEmail: 'a@b', committerName: '', committerEmail: '' },
      },
    ])
  })

  test('are files added and changed with their sizes; what goes and what stays is none', async () => {
    const { folder, env } = quarantine('files')
    const kept = 'some text that stays the same\n'
    const files = { 'a.txt': 'longer text\n', 'new name': kept, 'with\ttab "q"': 'x', ü: '' }
    const tip = commitInto(env, files, [start])
    const found = await readNewFiles(repo, tip, { sizes: true }, folder)
    expect(found.map(({ path, added, size }) => [path, added, size]).sort()).toEqual(
      [
        ['a.txt', false, 12],
        ['new name', true, kept.length],
        ['with\ttab "q"', true, 1],
        ['ü', true, 0],
      ].sort(),
    )
    const bare = await readNewFiles(repo, tip, { sizes: false }, folder)
    expect(bare.map(({ size }) => size)).toEqual([0, 0, 0, 0])
    expect(bare.map(({ id }) => id)).toEqual(found.map(({ id }) => id))
    expect((await readChangedPaths(repo, tip, folder)).sort()).toEqual(
      ['a.txt', 'gone', 'new name', 'old name', 'with\ttab "q"', 'ü'].sort(),
    )
  })

  test('counts each commit by itself: what one adds and the next removes has been brought', async () => {
    const { folder, env } = quarantine('each')
    const first = commitInto(env, { secret: 'key\n' }, [start])
    const second = commitInto(env, { 'a.txt': 'a\n' }, [first])
    const found = await readNewFiles(repo, second, { sizes: true }, folder)
    expect(found.map(({ path }) => path)).toContain('secret')
    expect(await readChangedPaths(repo, second, folder)).toContain('secret')
    // A merge that brings something of its own is looked at against each parent.
    const evil = commitInto(env, { 'a.txt': 'evil\n', mine: 'x' }, [second, start])
    expect(await readChangedPaths(repo, evil, folder)).toContain('mine')
  })

  test('of a first commit is everything in it', async () => {
    const { folder, env } = quarantine('root')
    const root = commitInto(env, { one: '1', two: '22' }, [])
    const found = await readNewFiles(repo, root, { sizes: true }, folder)
    expect(found.map(({ path, added, size }) => [path, added, size])).toEqual([
      ['one', true, 1],
      ['two', true, 2],
    ])
  })

  test('leads back to what it is made on, or does not', async () => {
    const { folder, env } = quarantine('back')
    const one = commitInto(env, { a: '1' }, [start])
    const two = commitInto(env, { a: '2' }, [one])
    const other = commitInto(env, { a: '3' }, [])
    expect(await isAncestor(repo, start, two, folder)).toBe(true)
    expect(await isAncestor(repo, one, two, folder)).toBe(true)
    expect(await isAncestor(repo, two, two, folder)).toBe(true)
    expect(await isAncestor(repo, two, one, folder)).toBe(false)
    expect(await isAncestor(repo, start, other, folder)).toBe(false)
    expect(await isAncestor(repo, start, start)).toBe(true)
  })
})

describe('the files of a commit', () => {
  test('are listed with size and mode, without submodules, also out of a quarantine', async () => {
    const tip = commitFiles(repo, {
      files: {
        'src/ü.ts': 'export {}\n',
        link: { mode: '120000', data: 'src' },
        run: { mode: '100755', data: '#!\n' },
        module: { submodule: '3'.repeat(40) },
        'line\nbreak': 'x',
      },
      parents: [],
      ref: 'refs/heads/files',
    })
    expect(await listTipFiles(repo, tip)).toEqual([
      { path: 'line\nbreak', size: 1, mode: '100644' },
      { path: 'link', size: 3, mode: '120000' },
      { path: 'run', size: 3, mode: '100755' },
      { path: 'src/ü.ts', size: 10, mode: '100644' },
    ])
    const { folder, env } = quarantine('tip')
    const pushed = commitInto(env, { pushed: 'xyz' }, [start])
    expect(await listTipFiles(repo, pushed, folder)).toEqual([
      { path: 'pushed', size: 3, mode: '100644' },
    ])
    await expect(listTipFiles(repo, pushed)).rejects.toMatchObject({ code: 'failed' })
  })

  test('are added up by the end of their names; links and the files of others are left out', async () => {
    const tip = commitFiles(repo, {
      files: {
        'a.ts': '12345',
        'src/b.TS': '123',
        Makefile: '1',
        '.gitignore': '12',
        'node_modules/x.ts': '1'.repeat(100),
        'a/vendor/y.go': '1'.repeat(100),
        'vendored.go': '1234',
        'link.ts': { mode: '120000', data: 'a.ts' },
        'dot.': '1',
      },
      parents: [],
      ref: 'refs/heads/sizes',
    })
    expect(Object.fromEntries(await readFileSizes(repo, tip))).toEqual({
      ...{ '.ts': 8, makefile: 1, '.gitignore': 2, '.go': 4, '.': 1 },
    })
  })
})
