import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listMergedAmong, listRefsContaining } from '../../../src/git/history/contains.ts'
import { countCommits } from '../../../src/git/history/count.ts'
import {
  countAheadBehind,
  findMergeBases,
  isAncestorOf,
} from '../../../src/git/history/merge-base.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../../support/git.ts'
import { histories, writeHistory } from '../../support/random-history.ts'
import { runs } from '../../support/runs.ts'

let world: GitWorld
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

/** Runs git where exit code 1 means "no". */
function lines(repo: Repo, args: readonly string[]): string[] {
  try {
    return git(repo.path, args).split('\n').filter(Boolean)
  } catch {
    return []
  }
}

async function compareAll(
  repo: Repo,
  ids: readonly string[],
  picks: readonly number[],
): Promise<void> {
  const some = picks.map((n) => ids[n % ids.length]!)
  for (const [a, b, c] of [some.slice(0, 3), some.slice(1, 4), some.slice(2, 5)]) {
    const two = await findMergeBases(repo, [a!, b!])
    expect(two.toSorted()).toEqual(lines(repo, ['merge-base', '--all', a!, b!]).toSorted())
    const three = await findMergeBases(repo, [a!, b!, c!])
    expect(three.toSorted()).toEqual(
      lines(repo, ['merge-base', '--octopus', '--all', a!, b!, c!]).toSorted(),
    )
    const [counted] = await countAheadBehind(repo, a!, [b!])
    expect(`${counted?.behind}\t${counted?.ahead}`).toBe(
      git(repo.path, ['rev-list', '--left-right', '--count', `${a}...${b}`]),
    )
    expect(await isAncestorOf(repo, a!, b!)).toBe(two.includes(a!))
    for (const revision of [a!, `${a}..${b}`]) {
      for (const firstParent of [false, true]) {
        const args = ['rev-list', '--count', ...(firstParent ? ['--first-parent'] : []), revision]
        expect(await countCommits(repo, { revision, firstParent })).toBe(
          Number(git(repo.path, args)),
        )
      }
    }
  }
  const commit = some[0]!
  const prefixes = ['refs/heads/', 'refs/tags/']
  const containing = await listRefsContaining(repo, { revision: commit, prefixes })
  expect(containing.map((ref) => ref.name)).toEqual(
    lines(repo, ['for-each-ref', '--format=%(refname)', `--contains=${commit}`, ...prefixes]),
  )
  const reached = new Set(lines(repo, ['rev-list', commit]))
  expect(await listMergedAmong(repo, { into: commit, ids })).toEqual(reached)
}

test('merge bases, counts and containing refs of any history are what git says', async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.array(fc.nat(39), { minLength: 5, maxLength: 5 }),
      async (commits, picks) => {
        const { path } = await world.repository()
        const ids = writeHistory(path, commits)
        await compareAll(repoAt(path), ids, picks)
        git(path, ['commit-graph', 'write', '--reachable'])
        await compareAll(repoAt(path), ids, picks)
      },
    ),
    runs(5, 11),
  )
}, 480_000)

test('a criss-cross merge has both bases', async () => {
  const { path } = await world.repository()
  const commit = (parents: number[], seconds: number) => ({
    parents,
    seconds,
    author: 0,
    changes: [],
  })
  const ids = writeHistory(path, [
    commit([], 100),
    commit([0], 200),
    commit([0], 300),
    commit([1, 2], 400),
    commit([2, 1], 500),
  ])
  expect(await findMergeBases(repoAt(path), [ids[3]!, ids[4]!])).toEqual([ids[2], ids[1]])
})

test('unrelated histories have no base, unknown revisions are named', async () => {
  const { path } = await world.repository()
  const commit = (seconds: number) => ({ parents: [], seconds, author: 0, changes: [] })
  writeHistory(path, [commit(1), commit(2)])
  expect(await findMergeBases(repoAt(path), ['c0', 'c1'])).toEqual([])
  await expect(findMergeBases(repoAt(path), ['x', 'c0', 'y'])).rejects.toMatchObject({
    code: 'not_found',
    detail: { revisions: 'x, y' },
  })
})
