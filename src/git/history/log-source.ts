import { LRUCache } from 'lru-cache'
import { gitLines } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { ObjectId } from '../types.ts'
import type { History } from './graph/history.ts'
import { historyWith } from './graph/load.ts'
import { DateWalk, type WalkOptions } from './graph/ordered-walk.ts'
import { hiddenFrom } from './graph/paint.ts'
import { PathWalk } from './graph/path-walk.ts'
import type { LogRange } from './log-range.ts'

/** What decides which commits a walk meets, before they are filtered one by one. */
export interface WalkRequest {
  readonly range: LogRange
  readonly path: string
  readonly firstParent: boolean
  readonly topological: boolean
  /** A text of the message; empty means all. */
  readonly search: string
  readonly since: number | undefined
}

/** Commits in order, read as far as somebody looks. */
export type CommitSource = (count: number, signal: AbortSignal) => Promise<readonly number[]>

type Walk = DateWalk | PathWalk

/** Walks kept so that the next page goes on where the last one stopped. */
const walksKept = 8
const walks = new WeakMap<History, LRUCache<string, Walk>>()

/** The commits of a request, from a walk that is kept for the next page. */
export async function commitSource(
  repository: OpenRepository,
  request: WalkRequest,
): Promise<{ history: History; source: CommitSource }> {
  const { range, path, search } = request
  const history = await historyWith(repository, [...range.include, ...range.exclude])
  // git simplifies the history of a path while it marks ranges: there it is asked itself, as for an order that few want and
  // for texts of messages, which no graph has.
  if (request.topological || search !== '' || (path !== '' && range.exclude.length > 0)) {
    return { history, source: askGit(repository, history, request) }
  }
  const walk = keptWalk(repository, history, request)
  if (walk instanceof PathWalk)
    return { history, source: (count, signal) => walk.first(count, signal) }
  return { history, source: async (count) => firstOf(walk, count) }
}

/** The newest commits of a range, for who will not ask for a next page. */
export async function readRange(
  repository: OpenRepository,
  range: LogRange,
  count: number,
): Promise<ObjectId[]> {
  const history = await historyWith(repository, [...range.include, ...range.exclude])
  return firstOf(walkOver(history, range), count).map((position) => history.idOf(position))
}

/** The commits of a range, all of whose ends are in the history, by date. */
export function walkOver(
  history: History,
  range: LogRange,
  options: Pick<WalkOptions, 'firstParent' | 'since'> = {},
): DateWalk {
  const tips = range.include.map((id) => history.at(id))
  const exclude = range.exclude.map((id) => history.at(id))
  const hidden = exclude.length > 0 ? hiddenFrom(history, tips, exclude) : undefined
  return new DateWalk(history, { ...options, tips, hidden })
}

function firstOf(walk: DateWalk, count: number): number[] {
  const positions: number[] = []
  for (let i = 0; i < count; i += 1) {
    const position = walk.at(i)
    if (position < 0) break
    positions.push(position)
  }
  return positions
}

function keptWalk(repository: OpenRepository, history: History, request: WalkRequest): Walk {
  const kept = walks.get(history) ?? new LRUCache<string, Walk>({ max: walksKept })
  walks.set(history, kept)
  const key = JSON.stringify(request)
  const walk = kept.get(key) ?? newWalk(repository, history, request)
  kept.set(key, walk)
  return walk
}

function newWalk(repository: OpenRepository, history: History, request: WalkRequest): Walk {
  const { range, path, firstParent, since } = request
  if (path === '') return walkOver(history, range, { firstParent, since })
  const tips = range.include.map((id) => history.at(id))
  return new PathWalk(repository, history, { tips, firstParent, since }, path)
}

function askGit(repository: OpenRepository, history: History, request: WalkRequest): CommitSource {
  const { range, firstParent, topological, since, path, search } = request
  return async (count, signal) => {
    const ids = await gitLines({
      repo: repository.path,
      args: [
        '--literal-pathspecs',
        'log',
        '--format=%H',
        `--max-count=${count}`,
        ...(firstParent ? ['--first-parent'] : []),
        ...(topological ? ['--topo-order'] : []),
        ...(search === '' ? [] : ['--regexp-ignore-case', '--fixed-strings', `--grep=${search}`]),
        ...(since === undefined ? [] : [`--max-age=${since}`]),
        '--stdin',
        '--',
        ...(path === '' ? [] : [path]),
      ],
      // As git itself puts a range: among commits of one second their order counts.
      stdin: [
        ...range.exclude.map((id) => `^${id}\n`),
        ...range.include.map((id) => `${id}\n`),
      ].join(''),
      signal,
    })
    return ids.map((id) => history.at(id))
  }
}
