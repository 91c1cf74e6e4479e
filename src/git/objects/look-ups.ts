/* Many look-ups at once: one call of the engine for all of them. */

import { engineCall } from '../engine/engine-call.ts'
import type { Lane } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'
import { openLinkedBlob } from './blob.ts'
import { type RefKind, resolveCommit } from './resolve.ts'
import { entryAt } from './tree.ts'

/** Up to so many are light work, and no more reads than a page of commits takes, so that the main process may try by itself. */
const FEW = 20

const isFew = (asked: readonly unknown[]): boolean => asked.length <= FEW
const laneFor = (asked: readonly unknown[]): Lane => (isFew(asked) ? 'light' : 'heavy')

const ABSENT = new Set(['not_found', 'invalid', 'ambiguous', 'empty'])

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof GitError && ABSENT.has(error.code)) return undefined
    throw error
  }
}

function assertWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new GitError('timeout', 'the caller went away')
}

export interface RevisionName {
  readonly name: string
  readonly kind?: RefKind | undefined
}

/** For each of these lists of revisions, the commit of the first that there is. */
export const findCommits = engineCall({
  name: 'findCommits',
  lane: laneFor,
  inProcess: isFew,
  async run(
    { repository, signal },
    lists: readonly (readonly RevisionName[])[],
  ): Promise<(ObjectId | undefined)[]> {
    const found: (ObjectId | undefined)[] = []
    for (const names of lists) {
      let commit: ObjectId | undefined
      for (const { name, kind } of names) {
        assertWanted(signal)
        commit ??= (await orNothing(resolveCommit(repository, name, kind)))?.commitId
      }
      found.push(commit)
    }
    return found
  },
})

export interface FilePlace {
  readonly ref: string
  readonly path: string
}

/** The blob of the file at each of these places; undefined where there is no such revision, or no file. */
export const findFiles = engineCall({
  name: 'findFiles',
  lane: laneFor,
  inProcess: isFew,
  async run(
    { repository, signal },
    places: readonly FilePlace[],
  ): Promise<(ObjectId | undefined)[]> {
    const found: (ObjectId | undefined)[] = []
    for (const place of places) {
      assertWanted(signal)
      const entry = (await orNothing(entryAt(repository, place)))?.entry
      found.push(entry?.type === 'blob' ? entry.id : undefined)
    }
    return found
  },
})

/** The first of these blobs, until they have `bytes` together; a larger one than `limit` is undefined. */
export const readBlobs = engineCall({
  name: 'readBlobs',
  lane: 'heavy',
  async run(
    { repository, signal },
    {
      ids,
      limit,
      bytes,
    }: { readonly ids: readonly ObjectId[]; readonly limit: number; readonly bytes: number },
  ): Promise<(Buffer | undefined)[]> {
    const found: (Buffer | undefined)[] = []
    let read = 0
    for (const id of ids) {
      if (read >= bytes) break
      assertWanted(signal)
      const { content } = await openLinkedBlob(repository, id, limit)
      found.push(content)
      read += content?.length ?? 0
    }
    return found
  },
})
