import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildRepository } from '../../../fixtures/repositories/build.ts'
import { readCommitStats } from '../../../src/git/diff/commit-stats.ts'
import { readFileAt } from '../../../src/git/history/file.ts'
import { readFolderCommits } from '../../../src/git/history/folder-commits.ts'
import { readLog } from '../../../src/git/history/log.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../../support/git.ts'
import { histories, writeHistory } from '../../support/random-history.ts'
import { runs } from '../../support/runs.ts'

let world: GitWorld
const folder = mkdtempSync(join(tmpdir(), 'gitstead-last-'))
beforeAll(() => {
  world = openGitWorld()
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

async function compareEntries(repo: Repo, ref: string): Promise<void> {
  const format = '--format=%(objecttype) %(path)'
  const listed = git(repo.path, ['ls-tree', '-r', '-t', format, ref])
  const folders = new Map<string, ReadonlyMap<string, string>>()
  for (const line of listed.split('\n').filter(Boolean)) {
    const gap = line.indexOf(' ')
    const path = line.slice(gap + 1)
    const args = ['--literal-pathspecs', 'log', '-1', '--format=%H', ref, '--', path]
    const last = git(repo.path, args)
    const { commits } = await readLog(repo, { revision: ref, path, limit: 1 })
    expect([path, commits[0]?.id]).toEqual([path, last])
    const [folder, name] = [posix.dirname(path).replace(/^\.$/, ''), posix.basename(path)]
    const asked = { ref, path: folder, names: [name] }
    const inFolder = folders.get(folder) ?? (await readFolderCommits(repo, asked))
    folders.set(folder, inFolder)
    expect([path, inFolder.get(name)]).toEqual([path, last])
    if (line.slice(0, gap) !== 'blob') continue
    expect([path, (await readFileAt(repo, { ref, path })).lastCommitId]).toEqual([path, last])
  }
}

test('the last commit of every entry is what git log -1 says, in any history', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (commits) => {
      const { path } = await world.repository()
      writeHistory(path, commits.slice(0, -1).concat(commits.slice(-1)))
      const half = `c${commits.length >> 1}`
      await compareEntries(repoAt(path), half)
      git(path, ['commit-graph', 'write', '--reachable', '--changed-paths'])
      const repo = repoAt(path)
      await compareEntries(repo, half)
      await compareEntries(repo, 'main')
    }),
    runs(3, 5),
  )
}, 480_000)

test.each(['odd-names', 'renames', 'merges'] as const)(
  'files and numbers of %s agree with git',
  async (name) => {
    const repo = repoAt(await buildRepository(name, join(folder, `${name}.git`)))
    if (name !== 'odd-names') await compareEntries(repo, 'HEAD')
    const { commits } = await readLog(repo, { limit: 100 })
    const ids = commits.map((commit) => commit.id)
    for (let round = 0; round < 2; round += 1) {
      const stats = await readCommitStats(repo, ids)
      ids.forEach((id, i) => {
        const [added = 0, deleted = 0] = numbers(repo, id)
        expect([id, stats[i]?.additions, stats[i]?.deletions]).toEqual([id, added, deleted])
      })
    }
  },
)

/** Lines added and deleted against the first parent. */
function numbers(repo: Repo, id: string): number[] {
  const parents = git(repo.path, ['rev-list', '--parents', '-1', id]).split(' ')
  const out = git(repo.path, [
    'diff',
    '-M',
    '--shortstat',
    parents[1] ?? '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    id,
  ])
  return [/(\d+) insertion/, /(\d+) deletion/].map((part) => Number(part.exec(out)?.[1] ?? 0))
}

test('a file comes with everything that is known of it', async () => {
  const repo = repoAt(await buildRepository('basic', join(folder, 'basic.git')))
  const path = git(repo.path, ['ls-tree', '-r', '--name-only', 'HEAD']).split('\n')[0]!
  const file = await readFileAt(repo, { ref: 'HEAD', path, contentUpTo: 1000 })
  expect(file).toMatchObject({
    path,
    blobId: git(repo.path, ['rev-parse', `HEAD:${path}`]),
    commitId: git(repo.path, ['rev-parse', 'HEAD']),
    lastCommitId: git(repo.path, ['log', '-1', '--format=%H', '--', path]),
    size: Number(git(repo.path, ['cat-file', '-s', `HEAD:${path}`])),
  })
  expect(file.content?.length).toBe(file.size)
  await expect(readFileAt(repo, { ref: 'HEAD', path: 'no/file' })).rejects.toMatchObject({
    code: 'not_found',
    detail: { path: 'no/file' },
  })
})
