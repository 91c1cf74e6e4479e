import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCommitDiff } from '../../../src/git/diff/diff.ts'
import { readLog } from '../../../src/git/history/log.ts'
import { maintainRepository } from '../../../src/git/maintenance/maintenance.ts'
import { readBlob, streamBlob } from '../../../src/git/objects/blob.ts'
import { readTree } from '../../../src/git/objects/tree.ts'
import { listBranches } from '../../../src/git/refs/branches.ts'
import { updateRefs } from '../../../src/git/refs/update-refs.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { noObject } from '../../../src/git/types.ts'
import { fsck } from '../../support/fast-import.ts'
import { type GitWorld, git, gitTestEnvironment, openGitWorld } from '../../support/git.ts'
import { writeHistory } from '../../support/random-history.ts'

let world: GitWorld
let repo: Repo
let ids: string[]
// Later, upkeep would take objects for two weeks old that no ref names yet.
const now = new Date().toISOString()

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const line = Array.from({ length: 40 }, (_, i) => ({
    parents: i === 0 ? [] : [i - 1],
    seconds: 1_600_000_000 + i * 10,
    author: i % 3,
    changes: [[i % 5, i % 4] as const],
  }))
  ids = writeHistory(repo.path, line)
})
afterAll(() => world.close())

/** git in a process of its own, so that readers here go on meanwhile. */
async function run(...args: string[]): Promise<void> {
  const child = spawn('git', args, { cwd: repo.path, env: gitTestEnvironment, stdio: 'ignore' })
  const [code] = await once(child, 'close')
  expect([args, code]).toEqual([args, 0])
}

/** Reads of every kind, whose answers never change. */
async function readAll(): Promise<void> {
  const log = await readLog(repo, { limit: 100 })
  expect(log.commits.map(({ id }) => id)).toEqual(ids.toReversed())
  const { entries } = await readTree(repo, { ref: ids[20] ?? '', recursive: true })
  for (const entry of entries.filter(({ type }) => type === 'blob')) {
    expect((await readBlob(repo, entry.id)).content.toString()).toMatch(/^content \d\n$/)
  }
  expect((await readCommitDiff(repo, { id: ids[7] ?? '' })).files.length).toBeLessThan(2)
  expect((await listBranches(repo, {})).items.map(({ name }) => name)).toContain('main')
}

describe('nobody who reads notices', () => {
  test('that objects and refs are packed, unpacked and packed again', async () => {
    let isDone = false
    const packing = (async () => {
      for (const step of [
        ['repack', '-adfq'],
        ['pack-refs', '--all', '--prune'],
        ['commit-graph', 'write', '--reachable', '--changed-paths', '--split=replace'],
        ['-c', 'repack.writeBitmaps=false', 'repack', '-dAq', '--unpack-unreachable=now'],
        ['repack', '-adq', '--write-midx'],
        ['commit-graph', 'write', '--reachable'],
        ['prune-packed'],
        ['multi-pack-index', 'expire'],
      ]) {
        await run(...step)
      }
      isDone = true
    })()
    let rounds = 0
    while (!isDone) {
      await readAll()
      rounds += 1
    }
    await packing
    expect(rounds).toBeGreaterThan(0)
    await readAll()
    expect(fsck(repo)).toBe('')
  })

  test('the upkeep, whole or in part, beside pushes and moves of refs', async () => {
    const tree = git(repo.path, ['rev-parse', 'main^{tree}'])
    let isDone = false
    const upkeep = (async () => {
      for (const full of [false, true, false]) await maintainRepository(repo, { full, now })
      isDone = true
    })()
    const made: string[] = []
    while (!isDone || made.length === 0) {
      const args = ['commit-tree', '-m', `n${made.length}`, '-p', 'main', tree]
      const newId = git(repo.path, args)
      const name = `refs/heads/new/${made.length}`
      await updateRefs(repo, [{ name, oldId: noObject, newId }])
      made.push(newId)
      await readAll()
    }
    await upkeep
    for (const [i, id] of made.entries()) {
      expect(git(repo.path, ['rev-parse', `refs/heads/new/${i}`])).toBe(id)
    }
    expect(fsck(repo)).toBe('')
  })

  test('a stream that was begun goes on when its pack is replaced', async () => {
    const data = Buffer.alloc(9_000_000, 'some text that repeats ')
    const id = git(repo.path, ['hash-object', '-w', '--stdin'], { input: data })
    git(repo.path, ['update-ref', 'refs/tags/big', id])
    git(repo.path, ['repack', '-adq'])
    const { body } = await streamBlob(repo, id)
    const first = once(body, 'readable')
    await first
    await run('repack', '-adfq', '--depth=1')
    expect((await buffer(body)).equals(data)).toBe(true)
    repo.engine.forget(repo.path)
    expect((await buffer((await streamBlob(repo, id)).body)).equals(data)).toBe(true)
  })
})

test('upkeep of a repository in order does nothing, and of an empty one no harm', async () => {
  await maintainRepository(repo, { full: true, now })
  expect(await maintainRepository(repo, { now })).toEqual([])
  const empty = await world.repository()
  await maintainRepository(empty, { full: true, now })
  expect(git(empty.path, ['for-each-ref'])).toBe('')
  expect(git(empty.path, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main')
})
