import type { OpenRepository } from '../../engine/open-repository.ts'
import { readLinked } from '../../objects/objects.ts'
import { parseCommit } from '../../objects/parse-object.ts'
import type { ObjectId } from '../../types.ts'
import { currentHistory, hasGrafts, historyWith } from './load.ts'

interface Waiting {
  readonly id: ObjectId
  readonly parentIds: readonly ObjectId[]
  readonly seconds: number
}

/** Commits ahead that are read before it is their turn. */
const readAhead = 8

/**
 * The newest commits below some tips in the order of `git log`, read one by one: for the first pages of
 * a history that is not loaded. Undefined when it is loaded, or small enough to be. The loading goes on
 * beside, so that later pages find it done.
 */
export async function newestCommits(
  repository: OpenRepository,
  tips: readonly ObjectId[],
  firstParent: boolean,
  count: number,
): Promise<readonly ObjectId[] | undefined> {
  if (hasGrafts(repository)) return undefined
  const history = currentHistory(repository)
  if (history.inGraph > 0 || tips.every((tip) => history.find(tip) >= 0)) return undefined
  const found = await walk(repository, tips, firstParent, count)
  // A failure shows when somebody asks for the history itself.
  historyWith(repository, tips).catch(() => {})
  return found
}

async function walk(
  repository: OpenRepository,
  tips: readonly ObjectId[],
  firstParent: boolean,
  count: number,
): Promise<readonly ObjectId[]> {
  const reads = new Map<ObjectId, Promise<Waiting>>()
  const read = (id: ObjectId): Promise<Waiting> => {
    const known = reads.get(id)
    if (known) return known
    const started = readOne(repository, id)
    started.catch(() => {})
    reads.set(id, started)
    return started
  }
  const seen = new Set<ObjectId>(tips)
  const queue = insertAll([], await Promise.all([...seen].map(read)))
  const found: ObjectId[] = []
  while (found.length < count) {
    const next = queue.shift()
    if (!next) break
    found.push(next.id)
    for (const waiting of queue.slice(0, readAhead)) {
      for (const id of waiting.parentIds) void read(id)
    }
    const parents = firstParent ? next.parentIds.slice(0, 1) : next.parentIds
    const fresh = parents.filter((id) => !seen.has(id))
    for (const id of fresh) seen.add(id)
    insertAll(queue, await Promise.all(fresh.map(read)))
  }
  return found
}

/** Puts commits where their date belongs, behind those of the same date (as git does). */
function insertAll(queue: Waiting[], commits: readonly Waiting[]): Waiting[] {
  for (const commit of commits) {
    const at = queue.findIndex((each) => each.seconds < commit.seconds)
    queue.splice(at < 0 ? queue.length : at, 0, commit)
  }
  return queue
}

async function readOne(repository: OpenRepository, id: ObjectId): Promise<Waiting> {
  const commit = parseCommit(id, await readLinked(repository, id, 'commit'))
  return { id, parentIds: commit.parentIds, seconds: commit.committer.seconds }
}
