import { runGit } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { releaseDeadLocks, removeLeftOvers } from '../locks/left-over.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { filesBelow } from './repository-files.ts'

/*
 * What keeps a repository fast. Nothing here is needed for right answers, everything may run beside
 * reads and pushes, and nothing is started by git itself (`gc.auto` is off).
 */

/** The state of a repository's files: what maintenance decides by, and what `doctor` shows. */
export interface RepositoryState {
  readonly looseObjects: number
  readonly packs: number
  /** Bytes of all object files. */
  readonly size: number
  readonly looseRefs: number
  /** Layers of the commit graph; 0 means that there is none. */
  readonly graphLayers: number
  readonly hasBitmap: boolean
}

export interface MaintenanceOptions {
  /** Rewrites everything into one pack and drops what nothing has reached for two weeks. */
  readonly full?: boolean | undefined
  readonly now: string
  readonly signal?: AbortSignal | undefined
}

const writeGraph = ['commit-graph', 'write', '--changed-paths', '--no-progress']
const graphLocks = [
  'objects/info/commit-graph.lock',
  'objects/info/commit-graphs/commit-graph-chain.lock',
]
const hour = 3_600_000
const day = 24 * hour
const looseRefsAllowed = 50
const looseObjectsAllowed = 500
const packsAllowed = 8
const layersAllowed = 6
/** Maintenance of a large repository takes minutes. */
const timeLimit = hour

/**
 * Adds commits that have just arrived to the commit graph, with the paths that they changed. About ten
 * milliseconds, so it runs after every push.
 */
export async function extendGraph(
  repo: Repo,
  tips: readonly ObjectId[],
  signal?: AbortSignal,
): Promise<void> {
  if (tips.length === 0) return
  await releaseDeadLocks(repo.path, graphLocks)
  await runGit({
    repo: repo.path,
    args: [...writeGraph, '--stdin-commits', '--split'],
    stdin: `${tips.join('\n')}\n`,
    timeout: timeLimit,
    signal,
  })
}

/** Does what the state of the repository asks for; gives the steps that were taken. */
export async function maintainRepository(
  repo: Repo,
  options: MaintenanceOptions,
): Promise<readonly string[]> {
  const state = await inspectRepository(repo, options.signal)
  const done: string[] = []
  const run = async (step: string, args: readonly string[]) => {
    await runGit({ repo: repo.path, args, timeout: timeLimit, signal: options.signal })
    done.push(step)
  }
  await removeLeftOvers(repo.path)
  if (state.looseRefs > looseRefsAllowed || options.full) {
    await run('pack-refs', ['pack-refs', '--all', '--prune'])
  }
  const untidy = state.looseObjects > looseObjectsAllowed || state.packs > packsAllowed
  if (options.full) {
    await run('repack', [...fullRepack, `--cruft-expiration=${expiry(options)}`])
    // Loose objects that have expired are in no pack, and no repack takes them away.
    await run('prune', ['prune', `--expire=${expiry(options)}`])
  } else if (untidy) await run('repack', geometricRepack)
  if (state.graphLayers === 0 || state.graphLayers > layersAllowed || options.full) {
    await run('commit-graph', [...writeGraph, '--reachable', '--split=replace'])
  }
  // Open handles keep packs that are gone mapped into memory.
  if (done.length > 0) repo.engine.forget(repo.path)
  return done
}

const repack = ['repack', '-d', '-l', '-q', '--write-midx', '--write-bitmap-index']

/** Small packs and loose objects are rolled up; large packs stay as they are. */
const geometricRepack = [...repack, '--geometric=2']

/** Everything reachable goes into one pack with a bitmap, the rest into a cruft pack until it expires. */
const fullRepack = [...repack, '-a', '--cruft']

/** Unreachable objects are kept for two weeks: pushes may be about to use them. */
function expiry(options: MaintenanceOptions): string {
  return new Date(Date.parse(options.now) - 14 * day).toISOString()
}

/** Thousands of files are looked at: not in the process that answers requests. */
const inspectRepositoryOperation = operation({
  name: 'inspectRepository',
  lane: 'heavy',
  seconds: 300,
  run: ({ repository, signal }, _input: Record<never, never>) => inspect(repository, signal),
})

/** Looks at a repository's files. */
export function inspectRepository(repo: Repo, signal?: AbortSignal): Promise<RepositoryState> {
  return repo.engine.run(inspectRepositoryOperation, repo.path, {}, signal)
}

async function inspect(repository: OpenRepository, signal: AbortSignal): Promise<RepositoryState> {
  const files = await filesBelow(repository, signal)
  const named = (pattern: RegExp) => files.filter((file) => pattern.test(file.name))
  return {
    looseObjects: named(/^objects\/[0-9a-f]{2}\/[0-9a-f]{38,62}$/).length,
    packs: named(/^objects\/pack\/pack-[0-9a-f]+\.pack$/).length,
    // What a push brings counts once it is accepted.
    size: named(/^objects\/(?!tmp_objdir-)/).reduce((sum, file) => sum + file.size, 0),
    looseRefs: named(/^refs\//).length,
    graphLayers: named(/^objects\/info\/(?:commit-graph|commit-graphs\/graph-.*\.graph)$/).length,
    hasBitmap: named(/^objects\/pack\/.*\.bitmap$/).length > 0,
  }
}
