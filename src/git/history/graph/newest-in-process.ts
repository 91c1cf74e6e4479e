import type { OpenRepository } from '../../engine/open-repository.ts'
import type { Commit, ObjectId } from '../../types.ts'
import { hasGrafts } from './load.ts'

/**
 * The newest commits below a tip in the order of `git log`, from the commits themselves: for the first pages,
 * which need no table of the whole history. `read` gives a commit at once.
 */
export function newestInProcess(
  repository: OpenRepository,
  tip: ObjectId,
  firstParent: boolean,
  count: number,
  read: (id: ObjectId) => Commit,
): Commit[] {
  if (hasGrafts(repository)) repository.assertEngine('replaced parents')
  const found: Commit[] = []
  const seen = new Set([tip])
  const queue = [read(tip)]
  while (found.length < count) {
    const next = queue.shift()
    if (!next) break
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
  let at = 0
  for (const waiting of queue) {
    if (waiting.committer.seconds < seconds) break
    at += 1
  }
  queue.splice(at, 0, commit)
}
