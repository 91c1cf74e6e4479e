import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { type Peeled, peelObject, sortRefs } from '../history/peel.ts'
import { loadCommit } from '../objects/commit.ts'
import { namedRefs, pageOf, type RefFilter, type RefPage } from '../ref-files/ref-filter.ts'
import { refsOf } from '../ref-files/ref-table.ts'
import type { Commit, ObjectId, Ref, Tag } from '../types.ts'

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
    const named = await namedRefs(repository, prefix, options)
    const { orderBy = 'updated', sort = 'desc' } = options
    const sorted = await sortRefs(repository, named, orderBy, sort)
    const { items, more } = pageOf(sorted, options)
    const found = await Promise.all(items.map((ref) => describe(repository, ref)))
    return { items: found, total: named.length, more }
  },
})

async function describe(repository: OpenRepository, ref: Ref): Promise<TagRef> {
  const { tag, commitId }: Peeled = await peelObject(repository, ref.id)
  const commit = commitId === undefined ? undefined : await loadCommit(repository, commitId)
  return { name: ref.name, id: ref.id, tag, commit }
}

/** A tag by its short name; undefined when there is none. */
export const findTag = engineCall({
  name: 'findTag',
  lane: 'light',
  async run({ repository }, name: string): Promise<TagRef | undefined> {
    const id = refsOf(repository).find(`${prefix}${name}`)
    return id === undefined ? undefined : describe(repository, { name, id })
  },
})
