import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { prefixHere } from '../../../src/base/process-mark.ts'
import { OpenRepositories } from '../../../src/git/engine/open-repository.ts'
import { combine } from '../../../src/git/merge/combine.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { ObjectWriter } from '../../../src/git/write/object-writer.ts'
import { commitFiles, fsck } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

/* The git program that merges pair after pair: what it leaves, and what happens when it is not there any more. */

const repositories = new OpenRepositories()
const never = new AbortController().signal

let world: GitWorld
let repo: Repo
let base: string
beforeAll(async () => {
  world = openGitWorld()
})
beforeEach(async () => {
  repo = await world.repository()
  base = commitFiles(repo, { parents: [], files: { a: 'a\n', b: 'b\n' }, ref: 'refs/heads/base' })
})
afterAll(() => world.close())

const change = (files: Record<string, string>, ref = 'x') =>
  commitFiles(repo, { parents: [base], files, ref: `refs/heads/${ref}` })

/** The git programs that wait for a merge in the repository. */
function programs(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const said = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        return said.includes('merge-tree') && said.includes(repo.path)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Where a program writes to. */
function folderOf(pid: number): string {
  const set = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return set.find((one) => one.startsWith('GIT_OBJECT_DIRECTORY='))?.split('=')[1] ?? ''
}

const isThere = (folder: string) => () => existsSync(folder)

async function treeOf(ours: string, theirs: string, signal = never): Promise<unknown> {
  const merge = { kind: 'merge', ours, theirs } as const
  const writer = new ObjectWriter(repo.path)
  const combined = await combine(repositories.get(repo.path), merge, writer, signal)
  if (combined.outcome === 'conflict') return combined.paths
  await writer.flush()
  return combined.treeId
}

const treeOfGit = (ours: string, theirs: string) =>
  git(repo.path, ['merge-tree', '--write-tree', ours, theirs])

test('one program merges pair after pair, and nothing of a merge is left in its folder', async () => {
  const [clean, more, other] = [change({ a: 'A\n' }), change({ b: 'B\n' }), change({ a: 'C\n' })]
  for (let round = 0; round < 3; round += 1) {
    expect(await treeOf(clean, more)).toBe(treeOfGit(clean, more))
    expect(await treeOf(clean, other)).toEqual(['a'])
    const pick = { kind: 'cherry-pick', commit: more, onto: clean, mainline: 0 } as const
    expect(await combine(repositories.get(repo.path), pick, undefined, never)).toMatchObject({
      outcome: 'clean',
    })
  }
  const [pid = 0, ...others] = programs()
  expect(others).toEqual([])
  await expect.poll(() => readdirSync(folderOf(pid))).toEqual([])
  expect(fsck(repo)).toBe('')
})

test('picks one right after the other lose nothing to the emptying of the folder', async () => {
  const onto = change({ a: 'A\n' })
  const commits = Array.from({ length: 5 }, (_, n) => change({ b: `${n}\n` }))
  for (const kind of ['cherry-pick', 'revert'] as const)
    for (const commit of commits) {
      const combined = await combine(
        repositories.get(repo.path),
        { kind, commit, onto: kind === 'revert' ? commit : onto },
        new ObjectWriter(repo.path),
        never,
      )
      const wanted = kind === 'revert' ? base : treeOfGit(onto, commit)
      const treeId = combined.outcome === 'clean' ? combined.treeId : combined.paths
      expect(treeId).toBe(git(repo.path, ['rev-parse', `${wanted}^{tree}`]))
    }
})

test('two merges at once have a program each', async () => {
  const ours = change({ a: 'A\n' })
  const sides = Array.from({ length: 6 }, (_, n) => change({ b: `${n}\n` }))
  const found = await Promise.all(sides.map((theirs) => treeOf(ours, theirs)))
  expect(found).toEqual(sides.map((theirs) => treeOfGit(ours, theirs)))
  // The others end.
  await expect.poll(() => programs().length, { timeout: 10_000 }).toBe(1)
})

test('a program that somebody has killed is replaced', async () => {
  const [ours, theirs] = [change({ a: 'A\n' }), change({ b: 'B\n' })]
  await treeOf(ours, theirs)
  const [pid = 0] = programs()
  const folder = folderOf(pid)
  process.kill(pid, 'SIGKILL')
  await expect.poll(programs, { timeout: 10_000 }).toEqual([])
  expect(await treeOf(ours, theirs)).toBe(treeOfGit(ours, theirs))
  await expect.poll(isThere(folder), { timeout: 10_000 }).toBe(false)
})

test('a program that waited sees new commits, and packs that replaced others', async () => {
  const ours = change({ a: 'A\n' }, 'ours')
  await treeOf(ours, change({ b: 'B\n' }, 'first'))
  for (let round = 0; round < 3; round += 1) {
    const theirs = change({ b: `round ${round}\n` }, `round-${round}`)
    git(repo.path, ['repack', '-a', '-d', '-f', '-q'])
    expect(await treeOf(ours, theirs)).toBe(treeOfGit(ours, theirs))
  }
})

test('commits without a common one conflict, and the next merge is made', async () => {
  const stranger = commitFiles(repo, { parents: [], files: { z: 'z' }, ref: 'refs/heads/z' })
  const [ours, theirs] = [change({ a: 'A\n' }), change({ b: 'B\n' })]
  for (let round = 0; round < 2; round += 1) {
    expect(await treeOf(ours, stranger)).toEqual([])
    expect(await treeOf(ours, theirs)).toBe(treeOfGit(ours, theirs))
  }
})

test('a caller who goes away ends the program, and its folder goes with it', async () => {
  const [ours, theirs] = [change({ a: 'A\n' }), change({ b: 'B\n' })]
  await treeOf(ours, theirs)
  const folder = folderOf(programs()[0] ?? 0)
  const leaving = new AbortController()
  const merged = treeOf(ours, theirs, leaving.signal)
  leaving.abort()
  await expect(merged).rejects.toMatchObject({ code: 'timeout' })
  await expect.poll(programs, { timeout: 10_000 }).toEqual([])
  await expect.poll(isThere(folder), { timeout: 10_000 }).toBe(false)
  expect(await treeOf(ours, theirs)).toBe(treeOfGit(ours, theirs))
})

test('a program without work ends after ten seconds', async () => {
  await treeOf(change({ a: 'A\n' }), change({ b: 'B\n' }))
  const folder = folderOf(programs()[0] ?? 0)
  await expect.poll(programs, { timeout: 25_000 }).toEqual([])
  await expect.poll(isThere(folder), { timeout: 10_000 }).toBe(false)
}, 40_000)

/** Makes a folder such as a killed process leaves, and has a new process merge. */
function mergeBeside(folder: string, own = () => {}): void {
  mkdirSync(join(folder, 'ab'), { recursive: true })
  own()
  const module = pathToFileURL(
    join(import.meta.dirname, '../../../dist/git/merge/merge-program.js'),
  )
  const start = `import(${JSON.stringify(module.href)}).then((m) => m.mergeInProgram(${JSON.stringify(repo.path)},
    () => ({ ours: '${base}', theirs: '${base}' }), async () => {}, new AbortController().signal)).then(() => process.exit(0))`
  execFileSync(process.execPath, ['-e', start])
}

test('what a killed process has left is removed by the next one', () => {
  const folder = join(tmpdir(), `${prefixHere('gitstead-merge-')}999999999-1-0123456789ab`)
  mergeBeside(folder)
  expect(existsSync(folder)).toBe(false)
})

test.runIf(process.getuid?.() === 0)('a folder of another user is left alone', () => {
  const folder = join(tmpdir(), `${prefixHere('gitstead-merge-')}999999999-1-ba9876543210`)
  mergeBeside(folder, () => chownSync(folder, 65_534, 65_534))
  expect(existsSync(folder)).toBe(true)
  rmSync(folder, { recursive: true })
})
