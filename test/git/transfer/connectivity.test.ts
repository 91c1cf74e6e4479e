import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { InProcessEngine } from '../../../src/git/engine/in-process.ts'
import { quarantineEnvironment } from '../../../src/git/history/ancestry.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { isConnected } from '../../../src/git/transfer/connectivity.ts'
import { acceptLooseObjects, listObjectFiles } from '../../../src/git/transfer/quarantine.ts'
import { startUnpacking, type Unpacking } from '../../../src/git/transfer/unpacking.ts'
import { git, gitBytes, gitTestEnvironment } from '../../support/git.ts'
import { runProgram } from '../../support/run-program.ts'

let folder: string
let repo: Repo
let work: string
let head: string
let side: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitstead-connectivity-'))
  work = join(folder, 'work')
  git(folder, ['init', '-q', '-b', 'main', work])
  write('a/b/deep', 'deep\n')
  write('a/other', 'other\n')
  write('top', 'top\n')
  commit('First')
  git(work, ['checkout', '-q', '-b', 'side'])
  write('side/file', 'side\n')
  side = commit('Side')
  git(work, ['checkout', '-q', 'main'])
  write('a/other', 'changed\n')
  head = commit('Second')
  const path = join(folder, 'one.git')
  git(folder, ['clone', '-q', '--bare', work, path])
  repo = { key: 'one', path, engine: new InProcessEngine() }
})
afterAll(async () => {
  await repo.engine.close()
  rmSync(folder, { recursive: true, force: true })
})

function write(name: string, content: string): void {
  mkdirSync(dirname(join(work, name)), { recursive: true })
  writeFileSync(join(work, name), content)
}

function commit(message: string): string {
  git(work, ['add', '-A'])
  git(work, ['commit', '-q', '--allow-empty', '-m', message])
  return git(work, ['rev-parse', 'HEAD']).trim()
}

/** What `git push` would send for a tip, unpacked in a quarantine. */
async function push(tip: string, has: readonly string[] = [head]): Promise<Unpacking> {
  const args = ['pack-objects', '-q', '--revs', '--thin', '--stdout', '--delta-base-offset']
  const pack = gitBytes(work, args, { input: [tip, ...has.map((id) => `^${id}`), ''].join('\n') })
  const unpacking = startUnpacking(repo)
  await unpacking.take(pack)
  return unpacking
}

/** What git's own check of a push says. */
function gitFindsItConnected(quarantine: string, tip: string): boolean {
  const { status } = runProgram({
    program: 'git',
    args: ['rev-list', '--objects', '--stdin', '--not', '--all', '--quiet', '--alternate-refs'],
    cwd: repo.path,
    env: { ...gitTestEnvironment, ...quarantineEnvironment(repo, quarantine) },
    input: `${tip}\n`,
  })
  return status === 0
}

/** Our answer for a push on main, where git must agree with a yes. */
async function connected(unpacking: Unpacking, tip: string, whole = [head]): Promise<boolean> {
  const { quarantine } = unpacking
  const answer = await isConnected(repo, { quarantine, tip, whole }).catch(() => false)
  if (answer) expect(gitFindsItConnected(quarantine, tip)).toBe(true)
  return answer
}

/** Makes changes on top of main, pushes them, and puts main back. */
async function changed<T>(
  change: () => string,
  look: (unpacking: Unpacking, tip: string) => Promise<T>,
): Promise<T> {
  git(work, ['checkout', '-q', '-B', 'try', head])
  const tip = change()
  const unpacking = await push(tip)
  try {
    return await look(unpacking, tip)
  } finally {
    unpacking.stop()
    git(work, ['checkout', '-q', '-f', 'main'])
    git(work, ['clean', '-fdq'])
  }
}

/** Writes files and commits them; `null` removes. */
function commitFiles(files: Record<string, string | null>): string {
  for (const [name, content] of Object.entries(files)) {
    if (content === null) rmSync(join(work, name), { recursive: true })
    else write(name, content)
  }
  return commit('x')
}

const tipOf = (name: string) => git(work, ['rev-parse', name]).trim()

test.each<[string, () => string]>([
  ['a changed file', () => commitFiles({ 'a/b/deep': 'x' })],
  ['new folders', () => commitFiles({ 'n/e/w': 'x' })],
  ['an empty commit', () => commitFiles({})],
  ['a removed folder', () => commitFiles({ a: null })],
  ['all files removed', () => commitFiles({ a: null, top: null })],
  ['nothing at all', () => head],
  [
    'several commits',
    () => {
      commitFiles({ 'a/1': '1' })
      return commitFiles({ 'a/1': null, 'a/2': '2' })
    },
  ],
  [
    'a submodule',
    () => {
      git(work, ['update-index', '--add', '--cacheinfo', `160000,${'7'.repeat(40)},sub`])
      git(work, ['commit', '-q', '-m', 'sub'])
      return tipOf('HEAD')
    },
  ],
  [
    'a tag',
    () => {
      commitFiles({ 'a/tagged': 'x' })
      git(work, ['tag', '-f', '-a', 'v1', '-m', 'v1'])
      return tipOf('v1')
    },
  ],
])('%s is found connected without a walk', async (_, change) => {
  expect(await changed(change, connected)).toBe(true)
})

test('a merge of two branches is, when both are known to be whole', async () => {
  const merge = () => {
    git(work, ['merge', '-q', '--no-ff', '-m', 'merge', side])
    return git(work, ['rev-parse', 'HEAD']).trim()
  }
  expect(await changed(merge, (unpacking, tip) => connected(unpacking, tip, [head, side]))).toBe(
    true,
  )
  expect(await changed(merge, (unpacking, tip) => connected(unpacking, tip, [head]))).toBe(false)
})

test.each<[string, () => string]>([
  [
    'moved',
    () => {
      git(work, ['mv', 'a/b/deep', 'moved'])
      return commit('x')
    },
  ],
  [
    'came back',
    () => {
      commitFiles({ top: 'x' })
      return commitFiles({ top: 'top\n' })
    },
  ],
])('a file that %s is left to git, whose walk knows it', async (_, change) => {
  await changed(change, async (unpacking, tip) => {
    expect(await connected(unpacking, tip)).toBe(false)
    expect(gitFindsItConnected(unpacking.quarantine, tip)).toBe(true)
  })
})

test('what no ref leads to is not connected, although the repository has it', async () => {
  const stray = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'stray' }).trim()
  const tree = git(repo.path, ['mktree'], { input: `100644 blob ${stray}\tstray\n` }).trim()
  const people = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  const lost = git(repo.path, [...people, 'commit-tree', tree, '-m', 'lost']).trim()
  git(work, ['fetch', '-q', repo.path])
  git(repo.path, ['update-ref', 'refs/tmp/lost', lost])
  git(work, ['fetch', '-q', repo.path, 'refs/tmp/lost'])
  git(repo.path, ['update-ref', '-d', 'refs/tmp/lost'])
  const onTop = git(work, [...people, 'commit-tree', tree, '-p', lost, '-m', 'on top']).trim()
  const unpacking = await push(onTop, [lost])
  expect(await connected(unpacking, onTop)).toBe(false)
  expect(await connected(unpacking, lost)).toBe(false)
  unpacking.stop()
})

test('an object that is missing is found out, whichever it is', async () => {
  const build = () => {
    write('a/b/deep', 'new deep')
    write('n/e/w', 'new')
    commit('one')
    write('n/e/w2', 'new too')
    return commit('two')
  }
  await changed(build, async (unpacking, tip) => {
    const { loose } = await listObjectFiles(unpacking.quarantine)
    expect(loose.length).toBeGreaterThan(8)
    for (const path of loose) {
      const kept = readFileSync(path)
      rmSync(path)
      expect(await connected(unpacking, tip), path).toBe(false)
      writeFileSync(path, kept)
    }
    expect(await connected(unpacking, tip)).toBe(true)
  })
})

test('one file among twenty thousand is found in passes along the folder', async () => {
  const blob = tipOf('HEAD:top')
  const treeOf = (last: string) =>
    git(work, ['mktree'], {
      input: Array.from(
        { length: 20_000 },
        (_, i) => `100644 blob ${i === 19_999 ? last : blob}\tf${i}\n`,
      ).join(''),
    }).trim()
  const before = git(work, ['commit-tree', treeOf(blob), '-m', 'many']).trim()
  git(repo.path, ['fetch', '-q', work, `${before}:refs/heads/many`])
  const fresh = git(work, ['hash-object', '-w', '--stdin'], { input: 'fresh' }).trim()
  const tip = git(work, ['commit-tree', treeOf(fresh), '-p', before, '-m', 'one']).trim()
  const unpacking = await push(tip, [before])
  expect(await connected(unpacking, tip, [before])).toBe(true)
  unpacking.stop()
})

test('huge trees are left to git', async () => {
  const blob = tipOf('HEAD:top')
  const files = Array.from({ length: 40_000 }, (_, i) => `100644 blob ${blob}\tf${i}\n`).join('')
  const many = () => {
    const tree = git(work, ['mktree'], { input: files }).trim()
    return git(work, ['commit-tree', tree, '-p', head, '-m', 'many']).trim()
  }
  expect(await changed(many, connected)).toBe(false)
})

test('whatever is changed and whatever is lost, a yes is one that git agrees with', async () => {
  const path = fc.constantFrom('a/b/deep', 'a/other', 'top', 'a/new', 'x/y', 'x/z/q')
  const edit = fc.oneof(
    fc.record({
      kind: fc.constant('write'),
      path,
      to: fc.constantFrom('1', '2', 'top\n', 'other\n'),
    }),
    fc.record({ kind: fc.constant('remove'), path, to: path }),
    fc.record({ kind: fc.constant('move'), path, to: path }),
    fc.record({ kind: fc.constant('commit'), path, to: path }),
  )
  let yes = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(edit, { minLength: 1, maxLength: 6 }),
      fc.option(fc.nat(), { nil: undefined, freq: 2 }),
      async (edits, lose) => {
        const change = () => {
          for (const { kind, path: at, to } of edits) apply(kind, at, to)
          return commit('end')
        }
        await changed(change, async (unpacking, tip) => {
          const { loose } = await listObjectFiles(unpacking.quarantine)
          const lost = lose === undefined ? undefined : loose[lose % loose.length]
          if (lost !== undefined) rmSync(lost)
          if (await connected(unpacking, tip)) yes += 1
        })
      },
    ),
    { numRuns: Number(process.env.FC_RUNS ?? 40) },
  )
  expect(yes).toBeGreaterThan(0)
}, 60_000)

function apply(kind: string, at: string, to: string): void {
  try {
    if (kind === 'write') write(at, to)
    else if (kind === 'remove') rmSync(join(work, at))
    else if (kind === 'move') {
      mkdirSync(dirname(join(work, to)), { recursive: true })
      git(work, ['mv', '-f', at, to])
    } else commit('between')
  } catch {
    // There is nothing of that name, or a folder is in the way.
  }
}

const leftovers = () =>
  readdirSync(join(repo.path, 'objects')).filter((name) => name.startsWith('tmp'))

test('git refuses objects that are damaged, and the quarantine goes with the program', async () => {
  const pack = gitBytes(work, ['pack-objects', '-q', '--stdout'], { input: `${head}\n` })
  const unpacking = startUnpacking(repo)
  await expect(unpacking.take(pack.subarray(0, pack.length - 3))).rejects.toThrow('unpack-objects')
  unpacking.stop()
  await expect.poll(leftovers).toEqual([])
  const waiting = startUnpacking(repo)
  waiting.stop()
  await waiting.closed
  await expect.poll(leftovers).toEqual([])
})

test('accepted objects are those of the repository, sound and read-only, also those that were there', async () => {
  await changed(
    () => commitFiles({ 'a/b/deep': 'accepted' }),
    async (unpacking, tip) => {
      await acceptLooseObjects(repo, unpacking.quarantine)
      expect((await listObjectFiles(unpacking.quarantine)).loose).toEqual([])
      expect(git(repo.path, ['cat-file', '-t', tip]).trim()).toBe('commit')
      const again = await push(tip)
      await acceptLooseObjects(repo, again.quarantine)
      again.stop()
      git(repo.path, ['update-ref', 'refs/heads/accepted', tip])
      git(repo.path, ['fsck', '--full', '--strict'])
      git(repo.path, ['update-ref', '-d', 'refs/heads/accepted'])
    },
  )
})
