import { nativeChanges } from '../diff/native-diff.ts'
import type { RawChange } from '../diff/parse-diff.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { StoredEntry } from '../write/store-object.ts'
import type { ThreeTrees } from './git-merge.ts'

/** What a merge changes of our side, by path; undefined for what is gone. */
export type MergedChanges = ReadonlyMap<string, StoredEntry | undefined>

/**
 * What a merge, pick or revert changes of our side, where libgit2 is sure to do as git does: no text has to be merged, since no
 * file was changed by both sides, and nothing can be a rename, since no side both added and deleted files. Then it is what the
 * other side has changed; `Merge.commits` comes to the same in four times as long. Undefined where git has to decide.
 */
export async function mergeNatively(
  repository: OpenRepository,
  { base, ours, theirs }: ThreeTrees,
): Promise<MergedChanges | undefined> {
  const [left, right] = await Promise.all(
    [ours, theirs].map((side) => nativeChanges(repository, base, side)),
  )
  if (!left || !right || !areApart(left, right)) return undefined
  return new Map(right.map(entryOf))
}

/** Whether no path of one side is one of the other, or is below it or above it. */
function areApart(left: readonly RawChange[], right: readonly RawChange[]): boolean {
  const paths = [left, right].map((changes) => new Set(changes.map(({ newPath }) => newPath)))
  return [left, right].every((changes, side) =>
    changes.every(({ newPath }) => {
      // A path that is no UTF-8 can't be named here.
      if (newPath.includes('\ufffd')) return false
      const parts = newPath.split('/')
      return !parts.some((_, at) => paths[1 - side]?.has(parts.slice(0, at + 1).join('/')))
    }),
  )
}

function entryOf(change: RawChange): readonly [string, StoredEntry | undefined] {
  const { status, newPath: path, newMode, newId } = change
  if (status === 'deleted') return [path, undefined]
  return [path, { mode: Number.parseInt(newMode, 8), id: newId }]
}
