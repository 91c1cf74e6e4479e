import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLog } from '../../../src/git/history/log.ts'
import { countAheadBehind } from '../../../src/git/history/merge-base.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../../support/git.ts'
import { writeHistory } from '../../support/random-history.ts'

let world: GitWorld
let repo: Repo
let ids: string[]
let graph: Buffer
const file = () => join(repo.path, 'objects/info/commit-graph')

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const line = Array.from({ length: 30 }, (_, i) => ({
    parents: i === 0 ? [] : i % 6 === 5 ? [i - 1, i - 4] : [i - 1],
    seconds: 1_600_000_000 + i,
    author: 0,
    changes: [[i % 3, i % 4] as const],
  }))
  ids = writeHistory(repo.path, line)
  git(repo.path, ['commit-graph', 'write', '--reachable', '--changed-paths'])
  graph = readFileSync(file())
  rmSync(file())
})
afterAll(() => world.close())

/** Reads with this file as the graph. */
async function check(bytes: Buffer): Promise<void> {
  rmSync(file(), { force: true })
  writeFileSync(file(), bytes)
  const fresh = repoAt(repo.path)
  const { commits } = await readLog(fresh, { limit: 100 })
  expect(commits.map(({ id }) => id)).toEqual(ids.toReversed())
  const path = await readLog(fresh, { limit: 100, path: 'a' })
  expect(path.commits.length).toBeGreaterThan(3)
  const [counted] = await countAheadBehind(fresh, ids[3] ?? '', ['main'])
  expect(counted).toEqual({ ahead: 26, behind: 0 })
}

describe('a history is read whole', () => {
  test('with a graph that was cut off anywhere', async () => {
    await check(graph)
    for (let part = 0; part < 16; part += 1) {
      await check(graph.subarray(0, Math.floor((graph.length * part) / 16)))
    }
  })

  test('with a graph whose head is damaged, or of another kind', async () => {
    for (const at of [0, 3, 4, 5, 6, 8, 9, 12, 19, 20, 28, 31]) {
      const bytes = Buffer.from(graph)
      bytes[at] = (bytes[at] ?? 0) ^ 0xff
      await check(bytes)
    }
    await check(Buffer.from('not a graph at all'))
    await check(Buffer.alloc(5000))
  })

  test('with a graph whose parents go in circles', async () => {
    const bytes = Buffer.from(graph)
    const at = bytes.indexOf('CDAT')
    const commits = Number(bytes.readBigUInt64BE(at + 4))
    // Every commit says that the first of the table is its parent.
    for (let i = 0; i < 30; i += 1) bytes.writeUInt32BE(0, commits + i * 36 + 20)
    await check(bytes)
  })

  test('with a graph without corrected dates, as git wrote it before 2.31', async () => {
    rmSync(file(), { force: true })
    const args = ['-c', 'commitGraph.generationVersion=1', 'commit-graph', 'write', '--reachable']
    git(repo.path, args)
    const bytes = readFileSync(file())
    expect(bytes.includes('GDA2')).toBe(false)
    await check(bytes)
  })

  test('with a chain that names files which are not there', async () => {
    rmSync(file(), { force: true })
    git(repo.path, ['commit-graph', 'write', '--reachable', '--split'])
    const chain = join(repo.path, 'objects/info/commit-graphs/commit-graph-chain')
    const whole = readFileSync(chain)
    for (const text of [
      '',
      'nonsense\n',
      `${'1'.repeat(40)}\n${whole}`,
      `${whole}${'2'.repeat(40)}\n`,
    ]) {
      rmSync(chain, { force: true })
      writeFileSync(chain, text)
      const { commits } = await readLog(repoAt(repo.path), { limit: 100 })
      expect(commits.map(({ id }) => id)).toEqual(ids.toReversed())
    }
    rmSync(chain, { force: true })
    writeFileSync(chain, whole)
    const layer = join(
      repo.path,
      `objects/info/commit-graphs/graph-${whole.toString().trim()}.graph`,
    )
    rmSync(layer, { force: true })
    writeFileSync(layer, graph)
    truncateSync(layer, statSync(layer).size >> 1)
    const { commits } = await readLog(repoAt(repo.path), { limit: 100 })
    expect(commits).toHaveLength(30)
  })
})
