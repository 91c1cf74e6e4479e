import { engineCall } from '../engine/engine-call.ts'
import { entryAt } from './tree.ts'
import { allEntries } from './tree-walk.ts'

export interface FindPathsOptions {
  readonly ref: string
  /** What is in the path, with or without gaps; letters of either case. */
  readonly search: string
  readonly limit: number
}

/** The files of a revision whose paths fit a search, the best first. */
export const findPaths = engineCall({
  name: 'findPaths',
  lane: 'heavy',
  async run({ repository, signal }, options: FindPathsOptions): Promise<string[]> {
    const { rootId } = await entryAt(repository, { ref: options.ref, path: '' })
    const search = options.search.toLowerCase().replaceAll(/\s+/g, '')
    const ranked: { readonly path: string; readonly rank: number }[] = []
    for (const { type, path } of await allEntries(repository, rootId, '', signal)) {
      if (type !== 'blob') continue
      const rank = rankOf(path.toLowerCase(), search)
      if (rank !== undefined) ranked.push({ path, rank })
    }
    ranked.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    return ranked.slice(0, options.limit).map(({ path }) => path)
  },
})

/** How well a path fits, 0 best: its name is the text, begins with it, holds it, the path holds it, or its letters in order. */
export function rankOf(path: string, search: string): number | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (search === '' || name === search) return 0
  if (name.startsWith(search)) return 1
  if (name.includes(search)) return 2
  if (path.includes(search)) return 3
  let at = 0
  for (const sign of search) {
    at = path.indexOf(sign, at) + 1
    if (at === 0) return undefined
  }
  return 4
}
