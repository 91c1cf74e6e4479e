import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { loadCommit } from '../objects/commit.ts'
import type { Repo } from '../repo.ts'
import type { Commit, ObjectId, Ref, Tag } from '../types.ts'
import { type Peeled, peelObject, sortByDate } from './peel.ts'
import { compareVersions, namedRefs, pageOf, type RefFilter, type RefPage } from './ref-filter.ts'
import { refsOf } from './ref-table.ts'

export interface TagRef {
  /** Without `refs/tags/`. */
  readonly name: string
  /** What the ref holds: the tag object of an annotated tag, otherwise the commit. */
  readonly id: ObjectId
  /** The annotated tag; none for a lightweight one. */
  readonly tag?: Tag | undefined
  /** The commit behind it; none for tags of trees and blobs. */
  readonly commit?: Commit | undefined
}

export interface ListTagsOptions extends RefFilter, RefPage {
  readonly orderBy?: 'name' | 'updated' | 'version' | undefined
  readonly sort?: 'asc' | 'desc' | undefined
}

export interface TagPage {
  readonly items: readonly TagRef[]
  readonly total: number
  readonly more: boolean
}

const prefix = 'refs/tags/'

/** A page of the tags with what they stand for (docs/contract/B-resolved §4). */
export const listTags = engineCall({
  name: 'listTags',
  lane: 'light',
  async run({ repository }, options: ListTagsOptions): Promise<TagPage> {
    const named = namedRefs(repository, prefix, options)
    const { items, more } = pageOf(await sortTags(repository, named, options), options)
    const found = await Promise.all(items.map((ref) => describe(repository, ref)))
    return { items: found, total: named.length, more }
  },
})

async function sortTags(
  repository: OpenRepository,
  refs: readonly Ref[],
  options: ListTagsOptions,
): Promise<readonly Ref[]> {
  const sign = options.sort === 'asc' ? 1 : -1
  if (options.orderBy === 'name') return sign > 0 ? refs : refs.toReversed()
  if (options.orderBy === 'version') {
    return refs.toSorted((a, b) => sign * compareVersions(a.name, b.name))
  }
  return sortByDate(repository, refs, sign)
}

async function describe(repository: OpenRepository, ref: Ref): Promise<TagRef> {
  const { tag, commitId }: Peeled = await peelObject(repository, ref.id)
  const commit = commitId === undefined ? undefined : await loadCommit(repository, commitId)
  return { name: ref.name, id: ref.id, tag, commit }
}

const findTagOperation = operation({
  name: 'findTag',
  lane: 'light',
  async run({ repository }, input: { readonly name: string }): Promise<TagRef | undefined> {
    const id = refsOf(repository).find(`${prefix}${input.name}`)
    return id === undefined ? undefined : describe(repository, { name: input.name, id })
  },
})

/** A tag by its short name; undefined when there is none. */
export function findTag(
  repo: Repo,
  name: string,
  signal?: AbortSignal,
): Promise<TagRef | undefined> {
  return repo.engine.run(findTagOperation, repo.path, { name }, signal)
}
