import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { datesOf, sortRefs } from '../history/peel.ts'
import { loadCommit } from '../objects/commit.ts'
import { namedRefs, pageOf, type RefFilter, type RefPage } from '../ref-files/ref-filter.ts'
import type { Commit, ObjectId, Ref } from '../types.ts'

export interface Branch {
  /** Without `refs/heads/`. */
  readonly name: string
  readonly commit: Commit
}

const orders = {
  name_asc: ['name', 'asc'],
  name_desc: ['name', 'desc'],
  updated_asc: ['updated', 'asc'],
  updated_desc: ['updated', 'desc'],
} as const

export interface ListBranchesOptions extends RefFilter, RefPage {
  /** Only branches whose commit was made in this span, in seconds; either end may be open. */
  readonly committed?: { readonly from?: number | undefined; readonly to?: number | undefined }
  /** Only branches that stand at one of these commits, or only the others. */
  readonly at?: { readonly ids: readonly ObjectId[]; readonly wanted: boolean } | undefined
  readonly sort?: keyof typeof orders | undefined
}

export interface BranchPage {
  readonly items: readonly Branch[]
  /** Branches that pass the filter. */
  readonly total: number
  readonly more: boolean
}

const prefix = 'refs/heads/'

/** A page of the branches with their commits (docs/contract/B-resolved §4). */
export const listBranches = engineCall({
  name: 'listBranches',
  lane: 'light',
  async run({ repository }, options: ListBranchesOptions): Promise<BranchPage> {
    const named = await chosenRefs(repository, options)
    const [by, order] = orders[options.sort ?? 'name_asc']
    const sorted = await sortRefs(repository, named, by, order)
    const { items, more } = pageOf(sorted, options)
    const branches = items.map(async ({ name, id }) => ({
      name,
      commit: await loadCommit(repository, id),
    }))
    return { items: await Promise.all(branches), total: named.length, more }
  },
})

/** The branches that pass every filter, in the order of their names. */
async function chosenRefs(
  repository: OpenRepository,
  options: ListBranchesOptions,
): Promise<readonly Ref[]> {
  const { at, committed } = options
  let refs = await namedRefs(repository, prefix, options)
  if (at) {
    const ids = new Set(at.ids)
    refs = refs.filter((ref) => ids.has(ref.id) === at.wanted)
  }
  if (committed?.from === undefined && committed?.to === undefined) return refs
  const { from = 0, to = Number.POSITIVE_INFINITY } = committed
  const dates = await datesOf(repository, refs)
  return refs.filter((_, index) => {
    const date = dates[index] ?? 0
    return from <= date && date < to
  })
}
