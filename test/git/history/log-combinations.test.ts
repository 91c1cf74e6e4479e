import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countCommits } from '../../../src/git/history/count.ts'
import { type LogOptions, readLog } from '../../../src/git/history/log.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../../support/git.ts'
import { histories, madePaths, writeHistory } from '../../support/random-history.ts'

let world: GitWorld
let repo: Repo
let size = 0
/** In seconds: the first and the last date of the history. */
let dates: readonly [number, number] = [0, 0]

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  // Clocks that go back make git end a range early, which `log.test.ts` deals with: here they only stand still.
  const made = fc.sample(histories, { numRuns: 60, seed: 21 })
  const longest = made.toSorted((a, b) => b.length - a.length)[0] ?? []
  let last = 1_600_000_000
  const commits = longest.map((commit) => {
    last = Math.max(last, commit.seconds)
    return { ...commit, seconds: last }
  })
  writeHistory(repo.path, commits)
  size = commits.length
  dates = [commits[0]?.seconds ?? 0, last]
})
afterAll(() => world.close())

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

/** Any combination of what a caller may ask for. */
function questions(count: number, seed: number): LogOptions[] {
  const commit = fc.nat(size - 1).map((n) => `c${n}`)
  const revision = fc.oneof(
    fc.constantFrom(undefined, 'main', 'HEAD'),
    commit,
    fc.tuple(commit, commit).map(([a, b]) => `${a}..${b}`),
    fc.tuple(commit, commit).map(([a, b]) => `${a}...${b}`),
  )
  const time = fc.integer({ min: dates[0] - 3, max: dates[1] + 3 }).map(iso)
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
  const question = fc.record({
    revision,
    all: fc.constantFrom(undefined, undefined, undefined, true),
    path: maybe(fc.constantFrom(...madePaths, 'b', 'b/d', 'ü', 'none')),
    author: maybe(fc.constantFrom('Ana', '^Bob', 'example', 'a+b (c)', 'nobody')),
    since: maybe(time),
    until: maybe(time),
    firstParent: maybe(fc.boolean()),
    order: maybe(fc.constantFrom('default' as const, 'topo' as const)),
    skip: maybe(fc.nat(6)),
    limit: fc.integer({ min: 1, max: 12 }),
  })
  return fc.sample(question, { numRuns: count, seed })
}

function argumentsOf(options: LogOptions): string[] {
  const seconds = (instant: string) => Date.parse(instant) / 1000
  return [
    ...(options.firstParent ? ['--first-parent'] : []),
    ...(options.order === 'topo' ? ['--topo-order'] : []),
    ...(options.since ? [`--max-age=${seconds(options.since)}`] : []),
    ...(options.until ? [`--min-age=${seconds(options.until)}`] : []),
    ...(options.author ? [`--author=${options.author}`] : []),
    ...(options.all ? ['--all'] : [options.revision ?? 'HEAD']),
    '--',
    ...(options.path ? [options.path] : []),
  ]
}

/** The whole list, of which a page is asked for: so that it shows whether more follow, too. */
function judge(options: LogOptions): { ids: string[]; more: boolean } {
  const all = git(repo.path, ['--literal-pathspecs', 'log', '--format=%H', ...argumentsOf(options)])
    .split('\n')
    .filter(Boolean)
  const from = options.skip ?? 0
  const ids = all.slice(from, from + options.limit)
  return { ids, more: from + options.limit < all.length }
}

async function compareAll(at: Repo, asked: readonly LogOptions[]): Promise<void> {
  for (const options of asked) {
    const { commits, more } = await readLog(at, options)
    const found = { ids: commits.map(({ id }) => id), more }
    expect([options, found]).toEqual([options, judge(options)])
  }
}

describe('any combination of options lists what git log lists', () => {
  test('without a graph', async () => {
    await compareAll(repoAt(repo.path), questions(40, 31))
  })

  test('with a graph and its filters, by one reader that keeps what it has walked', async () => {
    git(repo.path, ['commit-graph', 'write', '--reachable', '--changed-paths'])
    await compareAll(repoAt(repo.path), questions(50, 32))
  })

  test('with half of the history in the graph', async () => {
    git(repo.path, ['commit-graph', 'write', '--reachable', '--changed-paths', '--split=replace'])
    const half = `c${size >> 1}`
    const input = `${git(repo.path, ['rev-parse', half])}\n`
    const args = ['commit-graph', 'write', '--stdin-commits', '--changed-paths', '--split=replace']
    git(repo.path, args, { input })
    await compareAll(repoAt(repo.path), questions(30, 33))
  })
})

test('pages of every order and filter, put together, are the whole list', async () => {
  const filters: Omit<LogOptions, 'limit'>[] = [
    {},
    { order: 'topo' },
    { firstParent: true },
    { path: 'b' },
    { author: 'Ana' },
    { until: iso(dates[1] - 5) },
    { all: true, path: 'b/d', author: 'example' },
  ]
  for (const filter of filters) {
    const whole = await readLog(repoAt(repo.path), { ...filter, limit: 1000 })
    const reader = repoAt(repo.path)
    const paged: string[] = []
    for (let skip = 0; ; skip += 4) {
      const page = await readLog(reader, { ...filter, skip, limit: 4 })
      paged.push(...page.commits.map(({ id }) => id))
      if (!page.more) break
    }
    expect([filter, paged]).toEqual([filter, whole.commits.map(({ id }) => id)])
  }
})

test('counts are those of rev-list', async () => {
  const revisions = ['main', 'c3', `c2..main`, `main..c2`, `c1...c5`, `c${size - 1}..c0`]
  for (const revision of revisions) {
    for (const firstParent of [false, true]) {
      const args = ['rev-list', '--count', ...(firstParent ? ['--first-parent'] : []), revision]
      const expected = Number(git(repo.path, args))
      expect([revision, firstParent, await countCommits(repo, { revision, firstParent })]).toEqual([
        ...[revision, firstParent, expected],
      ])
    }
  }
})

test('commits that only refs of our own reach are in no list of all', async () => {
  const other = await world.repository()
  writeHistory(other.path, [{ parents: [], seconds: 1_600_000_000, author: 0, changes: [[0, 1]] }])
  const tip = git(other.path, ['rev-parse', 'main'])
  const tree = git(other.path, ['rev-parse', 'main^{tree}'])
  const shown: string[] = [tip]
  for (const [i, kind] of [
    'keep-around',
    'tmp',
    'pipelines',
    'environments',
    'remotes',
  ].entries()) {
    const id = git(other.path, ['commit-tree', '-m', kind, '-p', tip, tree])
    git(other.path, ['update-ref', `refs/${kind}/${i}`, id])
  }
  for (const kind of ['merge-requests/1/head', 'tags/t', 'heads/b']) {
    const id = git(other.path, ['commit-tree', '-m', kind, '-p', tip, tree])
    git(other.path, ['update-ref', `refs/${kind}`, id])
    shown.push(id)
  }
  const { commits } = await readLog(other, { limit: 100, all: true })
  expect(new Set(commits.map(({ id }) => id))).toEqual(new Set(shown))
})

test('the topological order of all takes as many refs as there are', async () => {
  const other = await world.repository()
  writeHistory(other.path, [{ parents: [], seconds: 1_600_000_000, author: 0, changes: [[0, 1]] }])
  const tree = git(other.path, ['rev-parse', 'main^{tree}'])
  const tip = git(other.path, ['rev-parse', 'main'])
  const person = 'A <a@b> 1600000001 +0000'
  const count = 5000
  const lines = Array.from(
    { length: 40 },
    (_, i) => `commit refs/heads/x${i}\ncommitter ${person}\ndata 1\n${i % 10}\nfrom ${tip}\n\n`,
  )
  git(other.path, ['fast-import', '--quiet'], { input: lines.join('') })
  const ids = git(other.path, ['for-each-ref', '--format=%(objectname)', 'refs/heads']).split('\n')
  const updates = Array.from({ length: count }, (_, i) => {
    return `${ids[i % ids.length]} refs/heads/many/b${String(i).padStart(6, '0')}\n`
  })
  writeFileSync(`${other.path}/packed-refs`, `# pack-refs with: sorted \n${updates.join('')}`)
  const { commits } = await readLog(other, { limit: 100, all: true, order: 'topo' })
  expect(new Set(commits.map(({ id }) => id))).toEqual(new Set([...ids, tip]))
  expect(commits.at(-1)?.id).toBe(tip)
  expect(commits.every(({ treeId }) => treeId === tree)).toBe(true)
})
