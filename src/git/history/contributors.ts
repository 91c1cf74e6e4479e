import { gitRecords } from '../command.ts'
import { operation } from '../engine/operation.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { CommitStats, ObjectId } from '../types.ts'
import { isAncestorOf } from './merge-base.ts'
import { countByGit, nothing } from './numstat.ts'
import { addUp, type LineCounts, type NewCommit, type TallyState } from './tally.ts'

/** One e-mail address and what was committed under it (docs/contract/B "Contributor"). */
export interface Contributor {
  readonly name: string
  readonly email: string
  readonly commits: number
  readonly additions: number
  readonly deletions: number
  /** Seconds since 1970 of their newest commit. */
  readonly newest: number
}

/**
 * What is remembered between calls, of one repository. Everything is keyed by commit ids, so nothing
 * is ever wrong, only missing.
 */
export interface ContributorCache {
  /** Line counts of commits, as far as they are known. */
  readLines(ids: readonly ObjectId[]): Promise<ReadonlyMap<ObjectId, LineCounts>>
  saveLines(lines: ReadonlyMap<ObjectId, LineCounts>): Promise<void>
  /** Tips whose totals are kept, those used last first. */
  listTips(): Promise<readonly ObjectId[]>
  readTotals(tip: ObjectId): Promise<TallyState | undefined>
  saveTotals(tip: ObjectId, totals: TallyState): Promise<void>
}

export interface ContributorOrder {
  readonly orderBy?: 'name' | 'email' | 'commits' | undefined
  readonly sort?: 'asc' | 'desc' | undefined
}

interface Range {
  readonly tip: ObjectId
  readonly base: ObjectId | undefined
}

/** Authors of the commits that are no merges, newest first. */
const listAuthorsOperation = operation({
  name: 'listAuthors',
  lane: 'heavy',
  seconds: 300,
  async run({ repository, signal }, { tip, base }: Range): Promise<NewCommit[]> {
    const commits: NewCommit[] = []
    const range = base === undefined ? [tip] : [tip, `^${base}`]
    const args = [
      'log',
      '-z',
      '--no-merges',
      '--encoding=UTF-8',
      '--format=%H%n%ae%n%at%n%an',
      ...range,
    ]
    for await (const record of gitRecords({ repo: repository.path, args, signal, timeout: 0 })) {
      const [id = '', email = '', seconds = '', name = ''] = record.toString('utf8').split('\n')
      commits.push({ id, email, name, seconds: Number(seconds) })
    }
    return commits
  },
})

/** Lines added and deleted by commits that are no merges, renames found. */
const countLinesOperation = operation({
  name: 'countLines',
  lane: 'heavy',
  seconds: 300,
  async run(
    { repository, signal },
    { ids }: { readonly ids: readonly ObjectId[] },
  ): Promise<ReadonlyMap<ObjectId, LineCounts>> {
    const stats = new Map<ObjectId, CommitStats>(ids.map((id) => [id, nothing]))
    await countByGit(repository, ids, stats, signal, 0)
    return new Map([...stats].map(([id, { additions, deletions }]) => [id, [additions, deletions]]))
  },
})

/** Commits counted by one process: what was counted is kept even if the rest is cut short. */
const batch = 2000
/** Tips looked at for one to start from. */
const mostTips = 20

/** The tip kept last that the wanted one follows. */
async function findStart(
  repo: Repo,
  tip: ObjectId,
  cache: ContributorCache,
): Promise<{ readonly base: ObjectId; readonly totals: TallyState } | undefined> {
  for (const base of (await cache.listTips()).slice(0, mostTips)) {
    const follows = await isAncestorOf(repo, base, tip).catch(() => false)
    const totals = follows ? await cache.readTotals(base) : undefined
    if (totals) return { base, totals }
  }
  return undefined
}

async function linesOf(
  repo: Repo,
  commits: readonly NewCommit[],
  cache: ContributorCache,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ObjectId, LineCounts>> {
  const ids = commits.map((commit) => commit.id)
  const lines = new Map(await cache.readLines(ids))
  const missing = ids.filter((id) => !lines.has(id))
  const batches = Array.from({ length: Math.ceil(missing.length / batch) }, (_, i) =>
    missing.slice(i * batch, (i + 1) * batch),
  )
  // Two at a time: the counting is git's, and a machine has two cores at least.
  const work = batches.values()
  const count = async () => {
    for (const some of work) {
      const input = { ids: some }
      const counted = await repo.engine.run(countLinesOperation, repo.path, input, signal)
      await cache.saveLines(counted)
      for (const [id, counts] of counted) lines.set(id, counts)
    }
  }
  await Promise.all([count(), count()])
  return lines
}

/**
 * Who made the commits reachable from `tip`, merges left out, with the lines they added and deleted
 * (docs/contract/B-resolved §1.6, B being the contract where the two differ). After a push only the new commits are
 * looked at.
 */
export async function readContributors(
  repo: Repo,
  tip: ObjectId,
  cache: ContributorCache,
  signal?: AbortSignal,
): Promise<Contributor[]> {
  const known = await cache.readTotals(assertObjectId(tip))
  if (known) return asContributors(known)
  const start = await findStart(repo, tip, cache)
  const range = { tip, base: start?.base }
  const commits = await repo.engine.run(listAuthorsOperation, repo.path, range, signal)
  const lines = await linesOf(repo, commits, cache, signal)
  const totals = addUp(start?.totals ?? [], commits, lines)
  await cache.saveTotals(tip, totals)
  return asContributors(totals)
}

function asContributors(totals: TallyState): Contributor[] {
  return totals.map(([email, name, commits, additions, deletions, newest]) => ({
    ...{ email, name, commits, additions, deletions, newest },
  }))
}

function compareText(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()]
  if (left === right) return 0
  return left < right ? -1 : 1
}

const orders = {
  name: (a: Contributor, b: Contributor) => compareText(a.name, b.name),
  email: (a: Contributor, b: Contributor) => compareText(a.email, b.email),
  commits: (a: Contributor, b: Contributor) => a.commits - b.commits,
  date: (a: Contributor, b: Contributor) => a.newest - b.newest,
} as const

/** Without `orderBy` by the date of each one's newest commit (docs/contract/B); ascending by default. */
export function sortContributors(
  contributors: readonly Contributor[],
  order: ContributorOrder = {},
): Contributor[] {
  const compare = orders[order.orderBy ?? 'date']
  const sign = order.sort === 'desc' ? -1 : 1
  return contributors.toSorted((a, b) => sign * (compare(a, b) || compareText(a.email, b.email)))
}
