import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLog } from '../../../src/git/history/log.ts'
import {
  extendGraph,
  inspectRepository,
  maintainRepository,
} from '../../../src/git/maintenance/maintenance.ts'
import { readBlob } from '../../../src/git/objects/blob.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'
import { writeHistory } from '../../support/random-history.ts'

let world: GitWorld

/** What the git program complains about. */
function faultsIn(path: string): string[] {
  const args = ['fsck', '--full', '--strict', '--no-dangling', '--no-progress']
  const { stdout, stderr } = spawnSync('git', ['-C', path, ...args], { encoding: 'utf8' })
  return `${stdout}${stderr}`.split('\n').filter((line) => line && !line.startsWith('notice: '))
}
const now = () => new Date().toISOString()
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

function line(length: number) {
  return Array.from({ length }, (_, i) => ({
    parents: i === 0 ? [] : [i - 1],
    seconds: 1_600_000_000 + i * 10,
    author: 0,
    changes: [[i % 5, i % 4] as const],
  }))
}

test('many loose refs and no graph are put in order, and answers stay the same', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, line(60))
  const before = await readLog(repo, { limit: 100, path: 'a' })
  expect((await inspectRepository(repo)).looseRefs).toBeGreaterThan(50)
  expect(await maintainRepository(repo, { now: now() })).toEqual(['pack-refs', 'commit-graph'])
  expect(await inspectRepository(repo)).toMatchObject({ looseRefs: 0, graphLayers: 1 })
  expect(await maintainRepository(repo, { now: now() })).toEqual([])
  expect(await readLog(repo, { limit: 100, path: 'a' })).toEqual(before)
  expect(faultsIn(repo.path)).toEqual([])
})

test('new commits are added to the graph as a layer', async () => {
  const repo = await world.repository()
  const ids = writeHistory(repo.path, line(30))
  await extendGraph(repo, [ids[19]!])
  await extendGraph(repo, [ids[21]!])
  git(repo.path, ['commit-graph', 'verify'])
  expect((await inspectRepository(repo)).graphLayers).toBe(2)
  const { commits } = await readLog(repo, { limit: 100 })
  expect(commits.map((commit) => commit.id)).toEqual(ids.toReversed())
})

test('a full repack keeps what is reachable or new and drops what is old', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, line(20))
  const fresh = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'fresh' })
  const stale = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'stale' })
  const month = Date.now() / 1000 - 40 * 86_400
  utimesSync(join(repo.path, 'objects', stale.slice(0, 2), stale.slice(2)), month, month)
  await maintainRepository(repo, { full: true, now: now() })
  expect((await readBlob(repo, fresh)).content.toString()).toBe('fresh')
  await expect(readBlob(repo, stale)).rejects.toMatchObject({ code: 'not_found' })
  const state = await inspectRepository(repo)
  expect(state).toMatchObject({ looseObjects: 0, looseRefs: 0, hasBitmap: true, graphLayers: 1 })
  expect(readdirSync(join(repo.path, 'objects/pack'))).toContain('multi-pack-index')
  expect(faultsIn(repo.path)).toEqual([])
})

test('loose objects are rolled up into a pack', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, line(10))
  const blobs = Array.from({ length: 520 }, (_, i) => `blob\ndata ${`n${i}`.length}\nn${i}\n`)
  git(
    repo.path,
    ['-c', 'core.fsync=none', '-c', 'fastimport.unpackLimit=1000', 'fast-import', '--quiet'],
    {
      input: blobs.join(''),
    },
  )
  expect(await maintainRepository(repo, { now: now() })).toContain('repack')
  const state = await inspectRepository(repo)
  expect(state.looseObjects).toBe(0)
  expect(state.hasBitmap).toBe(true)
  const id = git(repo.path, ['hash-object', '--stdin'], { input: 'n7' })
  expect((await readBlob(repo, id)).content.toString()).toBe('n7')
})

test('what a crash left behind is removed at once', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, line(3))
  const lock = join(repo.path, 'refs/heads/main.lock')
  const leftover = join(repo.path, 'objects/pack/tmp_pack_abc')
  for (const path of [lock, leftover]) writeFileSync(path, '')
  await maintainRepository(repo, { now: now() })
  expect(existsSync(lock) || existsSync(leftover)).toBe(false)
})

test('objects that come after a look are seen by the next one, as are those that go', async () => {
  const repo = await world.repository()
  const add = (content: string) =>
    git(repo.path, ['hash-object', '-w', '--stdin'], { input: content })
  const ids = ['1', '2', '3'].map(add)
  const before = await inspectRepository(repo)
  expect(before.looseObjects).toBe(3)
  add('a fourth one')
  const after = await inspectRepository(repo)
  expect(after.looseObjects).toBe(4)
  expect(after.size).toBeGreaterThan(before.size)
  for (const id of ids) rmSync(join(repo.path, 'objects', id.slice(0, 2), id.slice(2)))
  expect((await inspectRepository(repo)).looseObjects).toBe(1)
})

test('damage is named', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, line(3))
  git(repo.path, [
    'update-ref',
    'refs/heads/x',
    git(repo.path, ['hash-object', '-w', '-t', 'commit', '--literally', '--stdin'], {
      input: `tree ${'2'.repeat(40)}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`,
    }),
  ])
  expect(faultsIn(repo.path).join('\n')).toContain('2'.repeat(40))
})
