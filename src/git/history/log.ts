import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { damaged, GitError } from '../error.ts'
import { cleanPath, clip } from '../names.ts'
import { commitNow, readCommits } from '../objects/commit.ts'
import { resolveCommit } from '../objects/resolve.ts'
import type { Repo } from '../repo.ts'
import type { Commit, ObjectId } from '../types.ts'
import { authorTest } from './author-pattern.ts'
import { authorsOf } from './graph/authors.ts'
import type { History } from './graph/history.ts'
import { newestCommits } from './graph/newest.ts'
import { allTips, resolveRange } from './log-range.ts'
import { type CommitSource, commitSource } from './log-source.ts'

export interface LogOptions {
  /** A branch, tag, id, `HEAD`, or a range `a..b`; `HEAD` when absent. */
  readonly revision?: string | undefined
  /** Commits of all branches, tags and merge requests; `revision` is then not looked at. */
  readonly all?: boolean | undefined
  /** Only commits that changed this path; taken literally, renames are not followed. */
  readonly path?: string | undefined
  /** A pattern for `Name <mail>` as `git log --author` takes it; blank means all. */
  readonly author?: string | undefined
  /** A text that the message holds, in letters of either case; blank means all. */
  readonly search?: string | undefined
  /** Inclusive bounds of the committer's date, ISO 8601. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly firstParent?: boolean | undefined
  readonly order?: 'default' | 'topo' | undefined
  readonly skip?: number | undefined
  readonly limit: number
}

export interface LogPage {
  readonly commits: readonly Commit[]
  /** Whether commits follow the page. */
  readonly more: boolean
}

export const readLogOperation = operation({
  name: 'readLog',
  lane: (options: LogOptions) =>
    options.path || options.author || options.search || options.since || (options.skip ?? 0) > 2000
      ? 'heavy'
      : 'light',
  inProcess: isInProcess,
  async run({ repository, signal }, options: LogOptions): Promise<FoundPage> {
    if (repository.where === 'in process') return pageInProcess(repository, options)
    return logIds(repository, options, signal)
  },
})

/** Commits that the main process walks over by itself. */
const mostInProcess = 100
const narrowing = ['all', 'path', 'author', 'search', 'since', 'until'] as const

/** The first pages of one branch, whole: they need the commits shown and hardly more. */
function isInProcess(options: LogOptions): boolean {
  if (narrowing.some((name) => options[name]) || options.order === 'topo') return false
  if (options.revision?.includes('..')) return false
  return (options.skip ?? 0) + options.limit <= mostInProcess
}

async function pageInProcess(repository: OpenRepository, options: LogOptions): Promise<FoundPage> {
  const { commitId } = await resolveCommit(repository, options.revision || 'HEAD')
  const skip = options.skip ?? 0
  const count = skip + options.limit + 1
  const firstParent = options.firstParent ?? false
  const all = newestCommits({ tip: commitId, firstParent, count }, (id) =>
    commitNow(repository, id),
  )
  const found = all.slice(skip)
  return { commits: found.slice(0, options.limit), more: found.length > options.limit }
}

/**
 * A page of the commits list: newest first, exactly the commits and the order of `git log` with the
 * same options (docs/contract/B-resolved §2.1). `not_found` for an unknown revision.
 */
export async function readLog(
  repo: Repo,
  options: LogOptions,
  signal?: AbortSignal,
): Promise<LogPage> {
  const found = await repo.engine.run(readLogOperation, repo.path, options, signal)
  if ('commits' in found) return found
  const commits = await readCommits(repo, found.ids, signal)
  if (commits.length < found.ids.length) {
    throw damaged('commits of the history are missing')
  }
  return { commits, more: found.more }
}

interface IdPage {
  readonly ids: readonly ObjectId[]
  readonly more: boolean
}

/** An engine process finds the ids; commits cross processes far slower than they are read. */
type FoundPage = LogPage | IdPage

/** The ids of a page. */
async function logIds(
  repository: OpenRepository,
  options: LogOptions,
  signal: AbortSignal,
): Promise<IdPage> {
  const range = options.all
    ? await allTips(repository)
    : await resolveRange(repository, options.revision || 'HEAD')
  if (range.include.length === 0) return { ids: [], more: false }
  const since = secondsOf(options.since, Math.ceil)
  const { history, source } = await commitSource(repository, {
    range,
    path: cleanPath(options.path ?? ''),
    firstParent: options.firstParent ?? false,
    topological: options.order === 'topo',
    search: options.search?.trim() ?? '',
    since,
  })
  const filter = filterOf(repository, history, options)
  const skip = options.skip ?? 0
  const found = filter
    ? await filtered(source, filter, skip, options.limit + 1, signal)
    : (await source(skip + options.limit + 1, signal)).slice(skip)
  return {
    ids: found.slice(0, options.limit).map((position) => history.idOf(position)),
    more: found.length > options.limit,
  }
}

type Filter = (positions: readonly number[], signal: AbortSignal) => Promise<readonly number[]>

function filterOf(
  repository: OpenRepository,
  history: History,
  options: LogOptions,
): Filter | undefined {
  const until = secondsOf(options.until, Math.floor)
  const pattern = options.author?.trim() ? options.author : undefined
  if (until === undefined && pattern === undefined) return undefined
  const inTime = (position: number) => until === undefined || history.dateOf(position) <= until
  if (pattern === undefined) return async (positions) => positions.filter(inTime)
  const test = authorTest(pattern)
  const verdicts = new Map<number, boolean>()
  const authors = authorsOf(repository, history)
  return async (positions, signal) => {
    const left = positions.filter(inTime)
    await authors.load(left, signal)
    const numbers = left.map((position) => authors.numberOf(position))
    const unknown = [...new Set(numbers)].filter((number) => !verdicts.has(number))
    const found = await test(unknown.map((number) => authors.name(number)))
    for (const [at, number] of unknown.entries()) verdicts.set(number, found[at] === true)
    return left.filter((_, at) => verdicts.get(numbers[at] ?? -1))
  }
}

const wholeHistory = 1_000_000

/** Reads on in growing steps until enough commits have passed the filter. */
async function filtered(
  source: CommitSource,
  filter: Filter,
  skip: number,
  count: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const found: number[] = []
  let read = 0
  let step = 64
  while (found.length < skip + count) {
    if (signal.aborted) throw new GitError('timeout', 'the caller went away')
    const positions = (await source(read + step, signal)).slice(read)
    for (const position of await filter(positions, signal)) found.push(position)
    if (positions.length < step) break
    read += step
    // What is not among the newest thousands may be anywhere: then all the rest is read at once.
    step = step < 2048 ? step * 2 : wholeHistory
  }
  return found.slice(skip, skip + count)
}

function secondsOf(
  instant: string | undefined,
  round: (value: number) => number,
): number | undefined {
  if (instant === undefined || instant === '') return undefined
  const time = Date.parse(instant)
  if (Number.isNaN(time)) throw new GitError('invalid', `not a time: ${clip(instant)}`)
  return Math.max(round(time / 1000), 0)
}
