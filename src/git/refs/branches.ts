import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { loadCommits } from '../objects/commit.ts'
import type { Commit, Ref } from '../types.ts'
import { sortByDate } from './peel.ts'
import { namedRefs, pageOf, type RefFilter, type RefPage } from './ref-filter.ts'

export interface Branch {
  /** Without `refs/heads/`. */
  readonly name: string
  readonly commit: Commit
}

export interface ListBranchesOptions extends RefFilter, RefPage {
  readonly sort?: 'name_asc' | 'name_desc' | 'updated_asc' | 'updated_desc' | undefined
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
    const sorted = await sortBranches(repository, named, options.sort ?? 'name_asc')
    const { items, more } = pageOf(sorted, options)
    const commits = await loadCommits(
      repository,
      items.map((item) => item.id),
    )
    const branches = items.flatMap(({ name }, i) => {
      const commit = commits[i]
      return commit ? [{ name, commit }] : []
    })
    return { items: branches, total: named.length, more }
  },
})

async function sortBranches(
  repository: OpenRepository,
  refs: readonly Ref[],
  sort: NonNullable<ListBranchesOptions['sort']>,
): Promise<readonly Ref[]> {
  if (sort === 'name_asc') return refs
  if (sort === 'name_desc') return refs.toReversed()
  return sortByDate(repository, refs, sort === 'updated_asc' ? 1 : -1)
}
