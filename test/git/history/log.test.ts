import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LogOptions, readLog } from '../../../src/git/history/log.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../../support/git.ts'
import {
  histories,
  type MadeCommit,
  madePaths,
  writeHistory,
} from '../../support/random-history.ts'
import { isLong, runs } from '../../support/runs.ts'

let world: GitWorld
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** The same question put to git. */
function oracle(repo: Repo, options: LogOptions): string[] {
  const seconds = (instant: string) => Date.parse(instant) / 1000
  const out = git(repo.path, [
    '--literal-pathspecs',
    'log',
    '--format=%H',
    `--skip=${options.skip ?? 0}`,
    `--max-count=${options.limit}`,
    ...(options.firstParent ? ['--first-parent'] : []),
    ...(options.order === 'topo' ? ['--topo-order'] : []),
    ...(options.since ? [`--max-age=${seconds(options.since)}`] : []),
    ...(options.until ? [`--min-age=${seconds(options.until)}`] : []),
    ...(options.author ? [`--author=${options.author}`] : []),
    ...(options.all ? ['--all'] : [options.revision ?? 'HEAD']),
    '--',
    ...(options.path ? [options.path] : []),
  ])
  return out.split('\n').filter(Boolean)
}

/** A list of git's without what the start of the range reaches. */
function withoutHidden(
  repo: Repo,
  { revision = '' }: LogOptions,
  whole: readonly string[],
): string[] {
  const [, start] = /^(\w+)\.\.\w+$/.exec(revision) ?? []
  if (start === undefined) return [...whole]
  const hidden = new Set(git(repo.path, ['rev-list', start]).split('\n'))
  return whole.filter((id) => !hidden.has(id))
}

function questions(commits: readonly MadeCommit[]): LogOptions[] {
  const n = commits.length
  const limit = 1000
  const middle = commits[n >> 1]!.seconds
  const some = [`c${n >> 1}`, `c${n - 1}`, `c${Math.max(n - 3, 0)}`]
  const ranges = some.flatMap((a) => some.map((b) => `${a}..${b}`))
  return [
    { limit },
    { limit, skip: 3 },
    { limit: 2, skip: 1 },
    { limit, firstParent: true },
    { limit, order: 'topo' },
    { limit, order: 'topo', firstParent: true },
    { limit, all: true },
    { limit, all: true, order: 'topo' },
    { limit, until: iso(middle) },
    ...['Ana', 'B.', '^Bob', 'com>$', 'a+b (c)', 'x\\|e@', '[^A]na', '[[:upper:]]na', '[]B]ob'].map(
      (author) => ({
        limit,
        author,
      }),
    ),
    ...ranges.map((revision) => ({ limit, revision })),
    ...ranges.map((revision) => ({ limit, revision, order: 'topo' as const })),
    { limit, revision: `${some[0]}...${some[1]}` },
    ...[...madePaths, 'b', 'b/d', 'ü', 'none', 'a/b'].flatMap((path) => [
      { limit, path },
      { limit, path, firstParent: true },
      { limit, path, order: 'topo' as const },
      { limit, path, revision: ranges[1] },
      { limit, path, all: true, skip: 1 },
      { limit, path, author: 'Ana' },
    ]),
  ]
}

async function compareAll(repo: Repo, commits: readonly MadeCommit[]): Promise<void> {
  for (const question of questions(commits)) {
    const page = await readLog(repo, question)
    const ids = page.commits.map((commit) => commit.id)
    const whole = oracle(repo, question)
    // git ends a range early where clocks went back far, and then lists commits that it should hide.
    const expected = whole.length > ids.length ? withoutHidden(repo, question, whole) : whole
    expect([question, ids]).toEqual([question, expected])
  }
}

test('the log of any history is the log of git, without a graph, with one, and beyond it', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(39), async (commits, cut) => {
      const { path } = await world.repository()
      const known = commits.slice(0, Math.min(cut + 1, commits.length))
      writeHistory(path, known)
      await compareAll(repoAt(path), known)
      git(path, ['commit-graph', 'write', '--reachable', '--changed-paths', '--split'])
      const repo = repoAt(path)
      await compareAll(repo, known)
      writeHistory(path, commits)
      await compareAll(repo, commits)
    }),
    {
      endOnFailure: isLong || process.env.FC_RUNS !== undefined,
      ...runs(2, 7),
    },
  )
}, 1_500_000)

test('pages are the same as one long list', async () => {
  const { path } = await world.repository()
  const made = fc
    .sample(histories, { numRuns: 30, seed: 3 })
    .toSorted((a, b) => b.length - a.length)
  writeHistory(path, made[0]!)
  const repo = repoAt(path)
  const all = await readLog(repo, { limit: 1000 })
  const paged: string[] = []
  for (let skip = 0; ; skip += 3) {
    const page = await readLog(repo, { skip, limit: 3 })
    paged.push(...page.commits.map((commit) => commit.id))
    expect(page.more).toBe(skip + 3 < all.commits.length)
    if (!page.more) break
  }
  expect(paged).toEqual(all.commits.map((commit) => commit.id))
})

test('since leaves older commits out', async () => {
  const { path } = await world.repository()
  const line = Array.from({ length: 20 }, (_, i) => ({
    parents: i === 0 ? [] : [i - 1],
    seconds: 1_600_000_000 + i * 10,
    author: 0,
    changes: [[0, i % 4] as const],
  }))
  writeHistory(path, line)
  const repo = repoAt(path)
  for (const order of ['default', 'topo'] as const) {
    for (const option of [
      { since: iso(1_600_000_055) },
      { since: iso(1_600_000_050), until: iso(1_600_000_100) },
    ]) {
      const question = { limit: 100, order, ...option }
      const page = await readLog(repo, question)
      expect(page.commits.map((commit) => commit.id)).toEqual(oracle(repo, question))
    }
  }
  await expect(readLog(repo, { limit: 1, since: 'soon' })).rejects.toMatchObject({
    code: 'invalid',
  })
})

test.each(['[a', '\\(a*\\)\\1', 'a\\{3\\}', 'a\0'])(
  'the author pattern %j is refused: it is none, or could take the engine for ever',
  async (author) => {
    const { path } = await world.repository()
    writeHistory(path, [{ parents: [], seconds: 1_600_000_000, author: 0, changes: [[0, 1]] }])
    const listed = readLog(repoAt(path), { limit: 5, author })
    await expect(listed).rejects.toMatchObject({ code: 'invalid' })
  },
)

test('the log of an empty repository has no revision', async () => {
  const repo = await world.repository()
  await expect(readLog(repo, { limit: 5 })).rejects.toMatchObject({ code: 'not_found' })
  expect(await readLog(repo, { limit: 5, all: true })).toEqual({ commits: [], more: false })
})

test('a parent that is missing is an error, not a short list', async () => {
  const repo = await world.repository()
  const tree = git(repo.path, ['mktree'], { input: '' })
  const id = git(repo.path, ['hash-object', '-w', '-t', 'commit', '--literally', '--stdin'], {
    input: `tree ${tree}\nparent ${'1'.repeat(40)}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`,
  })
  git(repo.path, ['update-ref', 'refs/heads/main', id])
  await expect(readLog(repo, { limit: 5 })).rejects.toMatchObject({ code: 'damaged' })
})
