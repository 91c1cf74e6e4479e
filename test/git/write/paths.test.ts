import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Repo } from '../../../src/git/repo.ts'
import { isReadByGit, pathProblem } from '../../../src/git/write/paths.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let blob: string
beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  blob = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'x\n' })
})
afterAll(() => world.close())

/** Whether git takes the path into an index and finds nothing wrong with the trees of it. */
function gitTakes(path: string): boolean {
  const env = { GIT_INDEX_FILE: `${repo.path}/index-of-test` }
  const input = `100644 ${blob}\t${path}\0`
  try {
    git(repo.path, ['update-index', '-z', '--add', '--index-info'], { input, env })
    const tree = git(repo.path, ['write-tree'], { env })
    const commit = git(repo.path, ['commit-tree', '-m', 'x', tree])
    git(repo.path, ['update-ref', 'refs/heads/test', commit])
    git(repo.path, ['fsck', '--strict', '--no-dangling'])
    git(repo.path, ['read-tree', '--empty'], { env })
    return true
  } catch {
    return false
  } finally {
    git(repo.path, ['update-ref', '-d', 'refs/heads/test'])
    git(repo.path, ['read-tree', '--empty'], { env })
  }
}

describe('a path that may be written', () => {
  test('is one that git takes and finds sound', () => {
    const part = fc.constantFrom(
      ...['a', 'b c', '.', '..', '.git', '.GIT', '.gitx', 'git~1', 'é', '.git ', '.git.', 'x.git'],
      ...['.g\u200cit', '.git:stream', '.gitmodules', '日本', '-', '~', 'CON', '...', 'a\\b', ' '],
    )
    const paths = fc
      .sample(fc.array(part, { minLength: 1, maxLength: 3 }), { numRuns: 26, seed: 10 })
      .map((parts) => parts.join('/'))
    const lawful = [...new Set(paths)].filter((path) => pathProblem(path) === undefined)
    for (const path of lawful) expect([path, gitTakes(path)]).toEqual([path, true])
    expect(lawful.length).toBeGreaterThan(4)
  })

  test.each([
    ['', 'path_empty'],
    ['..', 'traversal'],
    ['a/../b', 'traversal'],
    ['/a', 'path_invalid'],
    ['a/', 'path_invalid'],
    ['a//b', 'path_invalid'],
    ['./a', 'path_invalid'],
    ['a/./b', 'path_invalid'],
    ['.git/config', 'path_invalid'],
    ['a/.GIT/config', 'path_invalid'],
    ['a/.git', 'path_invalid'],
    ['GIT~1/x', 'path_invalid'],
    ['.git. .', 'path_invalid'],
    ['.git::$INDEX_ALLOCATION', 'path_invalid'],
    ['.\u200cgit/x', 'path_invalid'],
    ['a\\b', 'path_invalid'],
    ['a\nb', 'path_invalid'],
    ['a\0b', 'path_invalid'],
    ['\ud800', 'path_invalid'],
    ['x'.repeat(256), 'path_invalid'],
    [`${'y/'.repeat(2048)}z`, 'path_invalid'],
  ] as const)('is not %j (%s)', (path, problem) => {
    expect(pathProblem(path)).toBe(problem)
  })

  test.each([
    ...['a', '.gitignore', '.github/x', 'git', 'git~2', '.gi', '.g it', 'a..b', '...', '-rf', '~'],
    ...['a b', 'ü', '日本', 'x'.repeat(255), `${'y/'.repeat(2047)}z`, '.gitt', 'con', "a'b", '*'],
  ])('is %j', (path) => {
    expect(pathProblem(path)).toBeUndefined()
  })
})

test('files that git itself reads are known under all their names', () => {
  const read = [
    ...['.gitmodules', 'a/.gitattributes', '.GITMODULES', '.gitignore', '.mailmap', 'gitmod~1'],
    ...[
      'GI7EBA~1',
      '.gitmodules ',
      '.gitmodules.',
      '.gitmodules:x',
      '.git\u200cmodules',
      'x/gitatt~4',
    ],
  ]
  for (const path of read) expect([path, isReadByGit(path)]).toEqual([path, true])
  const others = [
    'gitmodules',
    '.gitmodulesx',
    '.git',
    'a.gitmodules',
    '.gitmodules/x',
    'gitmod~0x',
  ]
  for (const path of others) expect([path, isReadByGit(path)]).toEqual([path, false])
})
