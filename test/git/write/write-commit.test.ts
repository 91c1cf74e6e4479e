import { readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GitError } from '../../../src/git/error.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type CommitAction, writeCommit } from '../../../src/git/write/write-commit.ts'
import { writeTag } from '../../../src/git/write/write-tag.ts'
import { commitFiles, fsck, listing } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

const author = { name: 'Ana Autor', email: 'ana@x.test', date: '2021-09-20T09:06:12.000+02:00' }
const committer = { name: 'Bo', email: 'bo@x.test', date: '2021-09-20T08:00:00.000Z' }

let world: GitWorld
let repo: Repo
let start: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  start = commitFiles(repo, {
    files: {
      'a.txt': 'A\n',
      'dir/b.txt': 'B\n',
      'dir/sub/c.txt': 'C\n',
      'run.sh': { mode: '100755', data: '#!/bin/sh\n' },
      link: { mode: '120000', data: 'a.txt' },
      module: { submodule: '1'.repeat(40) },
      'raw:d\xff.txt': 'never touched\n',
    },
  })
})
afterAll(() => world.close())

function write(actions: readonly CommitAction[], parentIds = [start], message = 'Message') {
  return writeCommit(repo, { parentIds, actions, author, committer, message })
}

async function problem(actions: readonly CommitAction[]): Promise<unknown> {
  const error = await write(actions).then(
    () => undefined,
    (reason: GitError) => reason,
  )
  return error?.detail.reason
}

const content = (text: string) => Buffer.from(text)
const show = (id: string, path: string) => gitBytes(repo.path, ['show', `${id}:${path}`]).toString()

describe('a commit of several actions', () => {
  test('has the people, the dates and the very message it was given', async () => {
    const { id } = await write(
      [{ kind: 'create', path: 'n', content: content('') }],
      [start],
      'Näme',
    )
    const format = ['show', '-s', '--format=%an|%ae|%ad|%cn|%ce|%cd|%P', '--date=raw', id]
    expect(git(repo.path, format)).toBe(
      `Ana Autor|ana@x.test|1632121572 +0200|Bo|bo@x.test|1632124800 +0000|${start}`,
    )
    expect(git(repo.path, ['cat-file', 'commit', id]).endsWith('\n\nNäme')).toBe(true)
    expect(fsck(repo)).toBe('')
  })

  test('applies them in order, each seeing the ones before', async () => {
    const { id } = await write([
      { kind: 'create', path: 'new/deep/x', content: content('1') },
      { kind: 'update', path: 'new/deep/x', content: content('2') },
      { kind: 'move', previousPath: 'new/deep/x', path: 'new/y' },
      { kind: 'chmod', path: 'new/y', executable: true },
      { kind: 'delete', path: 'a.txt' },
      { kind: 'create', path: 'a.txt/now-a-folder', content: content('3') },
      { kind: 'delete', path: 'dir/sub/c.txt' },
      { kind: 'move', previousPath: 'dir/b.txt', path: 'dir/sub', content: content('') },
    ])
    expect(show(id, 'new/y')).toBe('2')
    expect(show(id, 'dir/sub')).toBe('')
    const names = listing(repo, id).map((line) => line.replace(/ blob \w+| commit \w+/, ''))
    expect(names).toEqual([
      '100644\ta.txt/now-a-folder',
      '100644\tdir/sub',
      '100644\td\xff.txt',
      '120000\tlink',
      '160000\tmodule',
      '100755\tnew/y',
      '100755\trun.sh',
    ])
    expect(fsck(repo)).toBe('')
  })

  test('of an update keeps the mode, and of a link replaces only the link', async () => {
    const { id } = await write([
      { kind: 'update', path: 'run.sh', content: content('x') },
      { kind: 'update', path: 'link', content: content('/etc/passwd'), executable: true },
    ])
    expect(listing(repo, id).join()).toMatch(/100755 blob \w+\trun.sh/)
    expect(listing(repo, id).join()).toMatch(/120000 blob \w+\tlink/)
    expect(show(id, 'a.txt')).toBe('A\n')
  })

  test('may be the first of a repository, and may empty it', async () => {
    const first = await write([{ kind: 'create', path: 'x', content: content('x') }], [])
    expect(git(repo.path, ['rev-list', '--parents', first.id])).toBe(first.id)
    const empty = await write([{ kind: 'delete', path: 'x' }], [first.id])
    expect(listing(repo, empty.id)).toEqual([])
    expect(fsck(repo)).toBe('')
  })

  test('says whether anything changed', async () => {
    const same = await write([{ kind: 'update', path: 'a.txt', content: content('A\n') }])
    expect(same.changed).toBe(false)
    expect((await write([])).changed).toBe(false)
    expect((await write([{ kind: 'delete', path: 'a.txt' }])).changed).toBe(true)
  })

  test('counts the lines of new files as git does', async () => {
    const late = Buffer.concat([Buffer.from('x\n'.repeat(4000)), Buffer.from([0])])
    const files = [
      content(''),
      content('1\n2'),
      content('1\r\n\r\n\n'),
      Buffer.from([0x31, 0x0a, 0]),
      late.subarray(1),
      late,
    ]
    const actions = files.map((file, i) => ({
      kind: 'create' as const,
      path: `counted/${i}`,
      content: file,
    }))
    const { id, stats } = await write(actions)
    const lines = git(repo.path, ['diff-tree', '-r', '--no-commit-id', '--numstat', id]).split('\n')
    const counted = lines.map((line) => Number(line.split('\t')[0]) || 0)
    expect(counted).toEqual([0, 2, 3, 0, 0, 4001])
    expect(stats).toEqual({
      additions: counted.reduce((sum, count) => sum + count, 0),
      deletions: 0,
      files: files.length,
    })
  })

  test('cleans names as git does, and refuses what is no name or no message', async () => {
    const named = (name: string, message = 'm') =>
      writeCommit(repo, {
        parentIds: [start],
        actions: [],
        author: { ...author, name },
        committer,
        message,
      })
    const { id } = await named(' "Eve <e@x> \n Doe." ')
    expect(git(repo.path, ['show', '-s', '--format=%an', id])).toBe('Eve e@x  Doe')
    await expect(named(' . ')).rejects.toMatchObject({ detail: { reason: 'person' } })
    await expect(named('x', 'a\0b')).rejects.toMatchObject({ detail: { reason: 'message' } })
  })
})

describe('an action that cannot be done', () => {
  test.each<[string, CommitAction, string]>([
    ['create over a file', { kind: 'create', path: 'a.txt', content: content('') }, 'file_exists'],
    ['create over a link', { kind: 'create', path: 'link', content: content('') }, 'file_exists'],
    [
      'create over a folder',
      { kind: 'create', path: 'dir', content: content('') },
      'directory_exists',
    ],
    [
      'create below a file',
      { kind: 'create', path: 'a.txt/x', content: content('') },
      'file_exists',
    ],
    ['update of nothing', { kind: 'update', path: 'zzz', content: content('') }, 'file_missing'],
    ['update of a folder', { kind: 'update', path: 'dir', content: content('') }, 'file_missing'],
    [
      'update of a submodule',
      { kind: 'update', path: 'module', content: content('') },
      'file_missing',
    ],
    ['delete of nothing', { kind: 'delete', path: 'dir/zzz' }, 'file_missing'],
    ['chmod of nothing', { kind: 'chmod', path: 'zzz', executable: true }, 'file_missing'],
    ['move of nothing', { kind: 'move', previousPath: 'zzz', path: 'y' }, 'file_missing'],
    ['move onto a file', { kind: 'move', previousPath: 'a.txt', path: 'run.sh' }, 'file_exists'],
    ['move onto itself', { kind: 'move', previousPath: 'a.txt', path: 'a.txt' }, 'file_exists'],
    [
      'move onto a folder',
      { kind: 'move', previousPath: 'a.txt', path: 'dir' },
      'directory_exists',
    ],
    [
      'move of a link to .gitmodules',
      { kind: 'move', previousPath: 'link', path: '.gitmodules' },
      'path_invalid',
    ],
  ])('%s', async (_name, action, reason) => {
    expect(await problem([action])).toBe(reason)
  })

  test.each<[string, string]>([
    ['', 'path_empty'],
    ['../x', 'traversal'],
    ['a/../../x', 'traversal'],
    ...[
      '/x',
      '.',
      './x',
      'a//b',
      'a/',
      '.git/config',
      '.GIT/hooks/x',
      'a/.git',
      '.git.',
      '.git ',
      'git~1',
      'GIT~1/x',
      '.g\u200cit/x',
      '.git::$INDEX_ALLOCATION/x',
      'a\0b',
      'a\nb',
      'a\rb',
      'a\\b',
      `${'x/'.repeat(2100)}x`,
      'y'.repeat(300),
      'lone\ud800',
    ].map((path): [string, string] => [path, 'path_invalid']),
  ])('the path %j', async (path, reason) => {
    expect(await problem([{ kind: 'create', path, content: content('') }])).toBe(reason)
    expect(await problem([{ kind: 'move', previousPath: path, path: 'ok' }])).toBe(reason)
  })

  test('names its index and path, and nothing of the commit is there', async () => {
    const actions: CommitAction[] = [
      { kind: 'create', path: 'ok', content: content('only in this commit') },
      { kind: 'delete', path: 'missing' },
    ]
    await expect(write(actions)).rejects.toMatchObject({
      code: 'not_found',
      detail: { action: 1, reason: 'file_missing', path: 'missing' },
    })
    const blob = git(repo.path, ['hash-object', '--stdin'], { input: 'only in this commit' })
    expect(() => git(repo.path, ['cat-file', '-e', blob])).toThrow()
  })

  test('a .gitmodules that git would refuse in a push is refused here', async () => {
    const hostile = '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch /tmp/p\n'
    const action: CommitAction = { kind: 'create', path: '.gitmodules', content: content(hostile) }
    expect(await problem([action])).toBe('fsck')
    const fine = '[submodule "x"]\n\tpath = x\n\turl = https://x.test/x.git\n'
    const { id } = await write([{ kind: 'create', path: '.gitmodules', content: content(fine) }])
    expect(show(id, '.gitmodules')).toBe(fine)
    expect(fsck(repo)).toBe('')
  })
})

test('odd but lawful names are written as they are', async () => {
  const names = [
    '-rf',
    ' lead',
    'a b',
    '%41',
    '#?&',
    '"quoted"',
    "it's",
    'é',
    'e\u0301',
    '💾',
    '.gitx',
    'a:b',
    ':(top)x',
  ]
  const { id } = await write(
    names.map((path) => ({ kind: 'create', path, content: content(path) })),
  )
  for (const name of names) expect(show(id, name)).toBe(name)
})

test('a thousand files in many folders make the tree that git makes, in one pack', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`d${i % 37}/e${i % 5}/f${i}.txt`, `content ${i}\n`]),
  )
  const expected = commitFiles(repo, { files, parents: [start], ref: 'refs/heads/many' })
  const { id, treeId } = await write(
    Object.entries(files).map(([path, text]) => ({ kind: 'create', path, content: content(text) })),
  )
  expect(treeId).toBe(git(repo.path, ['rev-parse', `${expected}^{tree}`]))
  expect(listing(repo, id)).toEqual(listing(repo, expected))
  expect(fsck(repo)).toBe('')
})

type Files = Map<string, readonly [mode: string, content: string]>

/** Whether a file may come to be at a path: nothing there, below it or above it. */
function isFree(files: Files, path: string): boolean {
  return ![...files.keys()].some(
    (each) => each === path || each.startsWith(`${path}/`) || path.startsWith(`${each}/`),
  )
}

/** Does one action to a plain map; false when it can't be done. */
function applyToModel(files: Files, action: CommitAction): boolean {
  const old = files.get(action.kind === 'move' ? action.previousPath : action.path)
  if (action.kind === 'create') {
    if (!isFree(files, action.path)) return false
    files.set(action.path, [action.executable ? '100755' : '100644', action.content.toString()])
    return true
  }
  if (!old) return false
  if (action.kind === 'delete') files.delete(action.path)
  if (action.kind === 'update') files.set(action.path, [old[0], action.content.toString()])
  if (action.kind === 'chmod')
    files.set(action.path, [action.executable ? '100755' : '100644', old[1]])
  if (action.kind !== 'move') return true
  // The target must be free before the source goes.
  if (!isFree(files, action.path)) return false
  files.delete(action.previousPath)
  files.set(action.path, old)
  return true
}

test('any actions give the tree that a simple model gives', async () => {
  const path = fc.constantFrom('a', 'a/b', 'a/b/c', 'b', 'a-', 'a.b', 'b/a', 'b/a0', 'ä/é')
  const text = fc.constantFrom('', 'x', 'y\n').map(content)
  const action: fc.Arbitrary<CommitAction> = fc.oneof(
    fc.record({
      kind: fc.constant('create' as const),
      path,
      content: text,
      executable: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('update' as const), path, content: text }),
    fc.record({ kind: fc.constant('move' as const), previousPath: path, path }),
    fc.record({ kind: fc.constant('delete' as const), path }),
    fc.record({ kind: fc.constant('chmod' as const), path, executable: fc.boolean() }),
  )

  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 6 }), async (actions) => {
      const files: Files = new Map()
      const expected = actions.every((each) => applyToModel(files, each)) ? files : undefined
      const result = await write(actions, []).catch(() => undefined)
      expect(result === undefined).toBe(expected === undefined)
      if (!result || !expected) return
      const lines = listing(repo, result.id).map((line) => Buffer.from(line, 'latin1').toString())
      const found = lines.map((line) => [line.split('\t')[1], line.slice(0, 6)])
      const modeled = [...expected].map(([name, [mode]]) => [name, mode])
      expect(found.sort()).toEqual(modeled.sort())
    }),
    runs(150, 1),
  )
  expect(fsck(repo)).toBe('')
}, 60_000)

test('an annotated tag is one that git reads', async () => {
  const id = await writeTag(repo, {
    name: 'v1.0',
    targetId: start,
    tagger: author,
    message: 'One\n',
  })
  git(repo.path, ['update-ref', 'refs/tags/v1.0', id])
  expect(git(repo.path, ['cat-file', 'tag', 'v1.0'])).toBe(
    `object ${start}\ntype commit\ntag v1.0\ntagger Ana Autor <ana@x.test> 1632121572 +0200\n\nOne`,
  )
  expect(fsck(repo)).toBe('')
  await expect(
    writeTag(repo, { name: '-x', targetId: start, tagger: author, message: '' }),
  ).rejects.toMatchObject({ code: 'invalid' })
  await expect(
    writeTag(repo, { name: 'x', targetId: '2'.repeat(40), tagger: author, message: '' }),
  ).rejects.toMatchObject({ code: 'not_found' })
})

test('commits are written while maintenance takes emptied folders of objects away', async () => {
  const busy = await world.repository()
  const objects = join(busy.path, 'objects')
  let removing = true
  const remover = (async () => {
    while (removing) {
      for (const name of readdirSync(objects)) {
        if (!/^[0-9a-f]{2}$/.test(name)) continue
        try {
          rmdirSync(join(objects, name))
        } catch {
          // There is something in it.
        }
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  const writing = Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      writeCommit(busy, {
        parentIds: [],
        // A large one is written in more steps, with more time for the folder to go.
        actions: [{ kind: 'create', path: `f${i}`, content: Buffer.alloc(i % 2 ? 40_000 : 9, i) }],
        author,
        committer,
        message: 'm',
      }),
    ),
  )
  const ids = await writing.finally(() => {
    removing = false
    return remover
  })
  for (const { id } of ids) expect(git(busy.path, ['cat-file', '-t', id])).toBe('commit')
  expect(fsck(busy)).toBe('')
}, 30_000)
