import type { OpenRepository } from '../../engine/open-repository.ts'
import { commitNow } from '../../objects/commit.ts'
import type { Commit, ObjectId } from '../../types.ts'

/**
 * The newest commits below some tips in the order of `git log`, from the commits themselves: for first pages, which need
 * no table of the whole history. Not for repositories with replaced parents. Throws `NeedsEngine` at a commit that can't be
 * read at once.
 */
export function newestCommits(
  repository: OpenRepository,
  tips: readonly ObjectId[],
  firstParent: boolean,
  count: number,
): Commit[] {
  const found: Commit[] = []
  const seen = new Set(tips)
  const queue: Commit[] = []
  for (const id of seen) insert(queue, commitNow(repository, id))
  while (found.length < count) {
    const next = queue.shift()
    if (!next) break
    found.push(next)
    for (const id of firstParent ? next.parentIds.slice(0, 1) : next.parentIds) {
      if (seen.has(id)) continue
      seen.add(id)
      insert(queue, commitNow(repository, id))
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
