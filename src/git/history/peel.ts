import { byteCache } from '../../base/byte-cache.ts'
import { Timeslice } from '../../base/timeslice.ts'
import { mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { readLinked, readObject } from '../objects/objects.ts'
import { parseCommit, parseTag } from '../objects/parse-object.ts'
import { compareVersions } from '../ref-files/ref-filter.ts'
import type { ObjectId, Ref, Tag } from '../types.ts'
import { currentHistory } from './graph/load.ts'

/** What stands behind a ref's object, and when it was made. */
export interface Peeled {
  /** None for tags of trees and blobs. */
  readonly commitId: ObjectId | undefined
  /** The annotated tag's own data. */
  readonly tag?: Tag | undefined
  /** Tagger's or committer's seconds: what `creatordate` sorts by. */
  readonly seconds: number
}

const peeledKey = Symbol('peeled')

/** What the object of a ref leads to. */
export async function peelObject(repository: OpenRepository, id: ObjectId): Promise<Peeled> {
  const peeled = (await peelEach(repository, [id])).get(id)
  if (!peeled) throw new GitError('failed', `${id} was not read`)
  return peeled
}

/** What each of the objects leads to; remembered, because lists ask again and again. */
async function peelEach(
  repository: OpenRepository,
  ids: readonly ObjectId[],
): Promise<ReadonlyMap<ObjectId, Peeled>> {
  const known = repository.keep(peeledKey, () => byteCache<Peeled>(2 * mebibyte, () => 300))
  const history = currentHistory(repository)
  const found = new Map<ObjectId, Peeled>()
  const slice = new Timeslice(3)
  for (const id of new Set(ids)) {
    if (slice.isOver()) await slice.yield()
    const before = known.get(id)
    const position = before ? -1 : history.find(id)
    const peeled =
      before ??
      (position >= 0
        ? { commitId: id, seconds: history.dateOf(position) }
        : await readPeeled(repository, id))
    found.set(id, peeled)
    known.set(id, peeled)
  }
  return found
}

async function readPeeled(repository: OpenRepository, id: ObjectId): Promise<Peeled> {
  const object = await readObject(repository, id)
  if (object.type === 'commit') {
    return { commitId: id, seconds: parseCommit(id, object.data).committer.seconds }
  }
  if (object.type !== 'tag') return { commitId: undefined, seconds: 0 }
  const tag = parseTag(id, object.data)
  return {
    commitId: await commitOfTag(repository, tag),
    tag,
    seconds: tag.tagger?.seconds ?? 0,
  }
}

async function commitOfTag(repository: OpenRepository, tag: Tag): Promise<ObjectId | undefined> {
  let at = tag
  for (let depth = 0; depth < 10; depth += 1) {
    if (at.targetType === 'commit') return at.targetId
    if (at.targetType !== 'tag') return undefined
    at = parseTag(at.targetId, await readLinked(repository, at.targetId, 'tag'))
  }
  throw new GitError('failed', `${tag.id} is a tag of a tag of a tag without end`)
}

/** The commits behind objects, in their order. */
export async function peelAll(
  repository: OpenRepository,
  ids: readonly ObjectId[],
): Promise<(ObjectId | undefined)[]> {
  const all = await peelEach(repository, ids)
  return ids.map((id) => all.get(id)?.commitId)
}

/** When what stands behind each ref was made, in seconds. */
export async function datesOf(
  repository: OpenRepository,
  refs: readonly Ref[],
): Promise<readonly number[]> {
  const peeled = await peelEach(
    repository,
    refs.map((ref) => ref.id),
  )
  return refs.map((ref) => peeled.get(ref.id)?.seconds ?? 0)
}

/**
 * Refs in another order than that of their names, in which they come. By date means by that of what stands behind
 * them; those of one date stay as they are.
 */
export async function sortRefs(
  repository: OpenRepository,
  refs: readonly Ref[],
  by: 'name' | 'updated' | 'version',
  order: 'asc' | 'desc',
): Promise<readonly Ref[]> {
  if (by === 'name') return order === 'asc' ? refs : refs.toReversed()
  const sign = order === 'asc' ? 1 : -1
  if (by === 'version') return refs.toSorted((a, b) => sign * compareVersions(a.name, b.name))
  const dates = await datesOf(repository, refs)
  const dated = refs.map((ref, index) => ({ ref, seconds: dates[index] ?? 0 }))
  return dated.sort((a, b) => sign * (a.seconds - b.seconds)).map((each) => each.ref)
}
