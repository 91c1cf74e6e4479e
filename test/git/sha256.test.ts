import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommitStats } from '../../src/git/diff/commit-stats.ts'
import { readLog } from '../../src/git/history/log.ts'
import { readBlob } from '../../src/git/objects/blob.ts'
import { resolveRevision } from '../../src/git/objects/revision.ts'
import { readTree } from '../../src/git/objects/tree.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../support/git.ts'
import { writeHistory } from '../support/random-history.ts'

let world: GitWorld
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

test('a repository with SHA-256 ids is read like any other', async () => {
  const { path } = await world.store.init(256, { defaultBranch: 'main', objectFormat: 'sha256' })
  const line = Array.from({ length: 12 }, (_, i) => ({
    parents: i === 0 ? [] : [i - 1],
    seconds: 1_600_000_000 + i * 10,
    author: i % 3,
    changes: [[i % 5, i % 4] as const],
  }))
  const ids = writeHistory(path, line)
  expect(ids[0]).toHaveLength(64)
  const big = git(path, ['hash-object', '-w', '--stdin'], { input: 'x'.repeat(2_000_000) })
  const check = async () => {
    const repo = repoAt(path)
    const log = await readLog(repo, { limit: 100 })
    expect(log.commits.map((commit) => commit.id)).toEqual(ids.toReversed())
    const some = await readLog(repo, { limit: 100, path: 'b/c', author: 'Ana' })
    expect(some.commits.map((commit) => commit.id)).toEqual(
      git(path, ['log', '--format=%H', '--author=Ana', '--', 'b/c']).split('\n').filter(Boolean),
    )
    const { entries } = await readTree(repo, { ref: 'HEAD', recursive: true })
    expect(
      entries.map((entry) => `${entry.mode} ${entry.type} ${entry.id}\t${entry.path}`).sort(),
    ).toEqual(git(path, ['ls-tree', '-r', '-t', 'HEAD']).split('\n').sort())
    for (const entry of entries) {
      const last = git(path, ['log', '-1', '--format=%H', '--', entry.path])
      const { commits } = await readLog(repo, { path: entry.path, limit: 1 })
      expect(commits[0]?.id).toBe(last)
    }
    const [stats] = await readCommitStats(repo, [ids[0]!])
    expect(stats).toMatchObject({ additions: 1, files: 1 })
    expect((await resolveRevision(repo, ids[3]!.slice(0, 9))).commitId).toBe(ids[3])
    expect((await readBlob(repo, big)).size).toBe(2_000_000)
    await expect(readBlob(repo, '1'.repeat(64))).rejects.toMatchObject({ code: 'not_found' })
  }
  await check()
  git(path, ['tag', 'big', big])
  git(path, ['repack', '-adfq'])
  git(path, ['commit-graph', 'write', '--reachable', '--changed-paths'])
  await check()
})
