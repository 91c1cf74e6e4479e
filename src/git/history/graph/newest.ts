import type { Commit, ObjectId } from '../../types.ts'

/** Which commits, and how many of them. */
interface Newest {
  readonly tip: ObjectId
  readonly firstParent: boolean
  readonly count: number
}

/**
 * The newest commits up to a tip in the order of `git log`, from the commits themselves: for the first pages, which
 * need no table of the whole history.
 */
export function newestCommits(
  { tip, firstParent, count }: Newest,
  read: (id: ObjectId) => Commit,
): Commit[] {
  const found: Commit[] = []
  const seen = new Set([tip])
  const queue = [read(tip)]
  for (let next = queue.shift(); next && found.length < count; next = queue.shift()) {
    found.push(next)
    for (const id of firstParent ? next.parentIds.slice(0, 1) : next.parentIds) {
      if (seen.has(id)) continue
      seen.add(id)
      insert(queue, read(id))
    }
  }
  return found
}

/** Puts a commit where its date belongs, behind those of the same date (as git does). */
function insert(queue: Commit[], commit: Commit): void {
  const { seconds } = commit.committer
  const at = queue.findIndex((waiting) => waiting.committer.seconds < seconds)
  queue.splice(at < 0 ? queue.length : at, 0, commit)
}
