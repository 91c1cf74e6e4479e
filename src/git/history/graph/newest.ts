import type { Commit, ObjectId } from '../../types.ts'

/** Which commits, and how many of them. */
export interface Newest {
  readonly tips: readonly ObjectId[]
  readonly firstParent: boolean
  readonly count: number
}

/**
 * The newest commits below some tips in the order of `git log`, from the commits themselves: for the first pages, which
 * need no table of the whole history. Parents that git replaces are not heeded.
 */
export async function newestCommits(
  { tips, firstParent, count }: Newest,
  read: (id: ObjectId) => Commit | Promise<Commit>,
): Promise<Commit[]> {
  const found: Commit[] = []
  const seen = new Set<ObjectId>()
  const queue: Commit[] = []
  const enter = async (id: ObjectId) => {
    if (seen.has(id)) return
    seen.add(id)
    insert(queue, await read(id))
  }
  for (const tip of tips) await enter(tip)
  while (found.length < count) {
    const next = queue.shift()
    if (!next) break
    found.push(next)
    for (const id of firstParent ? next.parentIds.slice(0, 1) : next.parentIds) await enter(id)
  }
  return found
}

/** Puts a commit where its date belongs, behind those of the same date (as git does). */
function insert(queue: Commit[], commit: Commit): void {
  const { seconds } = commit.committer
  const at = queue.findIndex((waiting) => waiting.committer.seconds < seconds)
  queue.splice(at < 0 ? queue.length : at, 0, commit)
}
