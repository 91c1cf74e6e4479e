import type { Db } from '../../store/schema.ts'
import { listTagNames } from './queries.ts'
import { listTagsWith } from './removal-queries.ts'

/** Names that are read at once: a repository may have more tags than there is memory for. */
const AT_ONCE = 5000

type List = (page: { readonly last: string; readonly most: number }) => Promise<string[]>

/** The tags of a repository by their names, many at a time. */
export function tagNamesOf(db: Db, repositoryId: number) {
  return pages((page) => listTagNames(db, repositoryId, page))
}

/** Those whose images hold a blob or manifest, many at a time. */
export function tagNamesWith(db: Db, repositoryId: number, sha256: string) {
  return pages((page) => listTagsWith(db, repositoryId, sha256, page))
}

async function* pages(list: List): AsyncGenerator<readonly string[]> {
  let last = ''
  for (;;) {
    const names = await list({ last, most: AT_ONCE })
    if (names.length > 0) yield names
    if (names.length < AT_ONCE) return
    last = names.at(-1) ?? ''
  }
}
