import { engineCall } from '../engine/engine-call.ts'
import { loadCommit } from '../objects/commit.ts'
import type { Commit } from '../types.ts'
import { sortRefs } from './peel.ts'
import { namedRefs, pageOf, type RefFilter, type RefPage } from './ref-filter.ts'

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
    const named = namedRefs(repository, prefix, options)
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
