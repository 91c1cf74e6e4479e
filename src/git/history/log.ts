import { NeedsEngine } from '../engine/needs-engine.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { cleanPath, clip } from '../names.ts'
import { readCommits } from '../objects/commit.ts'
import { resolveCommit } from '../objects/resolve.ts'
import type { Repo } from '../repo.ts'
import type { Commit, ObjectId } from '../types.ts'
import { gitLog } from './git-log.ts'
import { currentHistory, hasGrafts, historyWith } from './graph/load.ts'
import { newestCommits } from './graph/newest.ts'
import { allTips, type LogRange, resolveRange } from './log-range.ts'
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
    options.path || options.author || options.since || (options.skip ?? 0) > 2000
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
const narrowing = ['all', 'path', 'author', 'since', 'until'] as const

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
  if (hasGrafts(repository)) repository.assertEngine('replaced parents')
  const newest = newestCommits(repository, [commitId], options.firstParent ?? false, count)
  const found = newest.slice(skip)
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
    throw new GitError('failed', 'commits of the history are missing from the repository')
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
  const quick = quickPage(repository, options, range)
  if (quick) return quick
  const query = {
    range,
    path: cleanPath(options.path ?? ''),
    firstParent: options.firstParent ?? false,
    topological: options.order === 'topo',
    since: secondsOf(options.since, Math.ceil),
  }
  const author = options.author?.trim() ? options.author : undefined
  const until = secondsOf(options.until, Math.floor)
  const skip = options.skip ?? 0
  const count = options.limit + 1
  const isSimplified = query.path !== '' && (range.exclude.length > 0 || query.topological)
  if (author !== undefined || isSimplified) {
    const ids = await gitLog(repository, { ...query, author, until, skip, count }, signal)
    return pageOf(ids, options.limit)
  }
  const { history, source } = await commitSource(repository, query)
  const found =
    until === undefined
      ? await source(skip + count, signal)
      : await filtered(source, (at) => history.dateOf(at) <= until, skip + count, signal)
  const ids = found.slice(skip).map((position) => history.idOf(position))
  return pageOf(ids, options.limit)
}

function pageOf(ids: readonly ObjectId[], limit: number): IdPage {
  return { ids: ids.slice(0, limit), more: ids.length > limit }
}

/** Pages beyond this are worth loading the whole history for. */
const quickLimit = 300

/** The first pages of a long history that has no graph yet, without reading all of it. */
function quickPage(
  repository: OpenRepository,
  options: LogOptions,
  range: LogRange,
): IdPage | undefined {
  const plain = !(options.path || options.author?.trim() || options.since || options.until)
  const end = (options.skip ?? 0) + options.limit
  if (!plain || options.order === 'topo' || range.exclude.length > 0) return undefined
  if (end > quickLimit || range.include.length > 20) return undefined
  if (hasGrafts(repository)) return undefined
  const { include } = range
  const history = currentHistory(repository)
  if (history.inGraph > 0 || include.every((tip) => history.find(tip) >= 0)) return undefined
  const found = newestNow(repository, include, options.firstParent ?? false, end + 1)
  if (!found) return undefined
  // Later pages find it done; a failure shows when somebody asks for the history itself.
  historyWith(repository, include).catch(() => {})
  const ids = found.map((commit) => commit.id).slice(options.skip ?? 0)
  return pageOf(ids, options.limit)
}

/** Undefined where a commit can't be read at once. */
function newestNow(
  repository: OpenRepository,
  tips: readonly ObjectId[],
  firstParent: boolean,
  count: number,
): Commit[] | undefined {
  try {
    return newestCommits(repository, tips, firstParent, count)
  } catch (error) {
    if (error instanceof NeedsEngine) return undefined
    throw error
  }
}

const wholeHistory = 1_000_000

/** Reads on in growing steps until enough commits have passed the filter. */
async function filtered(
  source: CommitSource,
  isWanted: (position: number) => boolean,
  count: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const found: number[] = []
  let read = 0
  let step = 64
  while (found.length < count) {
    if (signal.aborted) throw new GitError('timeout', 'the caller went away')
    const positions = (await source(read + step, signal)).slice(read)
    for (const position of positions) if (isWanted(position)) found.push(position)
    if (positions.length < step) break
    read += step
    // What is not among the newest thousands may be anywhere: then all the rest is read at once.
    step = step < 2048 ? step * 2 : wholeHistory
  }
  return found.slice(0, count)
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
