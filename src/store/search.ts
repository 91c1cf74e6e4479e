import { type Expression, type SqlBool, sql } from 'kysely'
import { namespacesBelow } from './hierarchy.ts'

/** The text for LIKE that finds `word` anywhere, its own wildcards taken literally. */
export function containing(word: string): string {
  return `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`
}

/** Words of a search beyond this many are not looked at. */
const MOST_WORDS = 20

/** Each word of the search must be in one of the columns, whatever its letter case. */
export function matchesSearch(search: string, columns: readonly string[]): Expression<SqlBool>[] {
  const words = search.split(/\s+/).filter((word) => word !== '')
  return words.slice(0, MOST_WORDS).map((word) => holdsText(word, columns))
}

/** Whether one of the columns holds the text as it is, whatever its letter case. */
export function holdsText(text: string, columns: readonly string[]): Expression<SqlBool> {
  const found = columns.map(
    (one) => sql<SqlBool>`${sql.ref(one)} LIKE ${containing(text)} ESCAPE '\\'`,
  )
  return sql<SqlBool>`(${sql.join(found, sql` OR `)})`
}

/** Where a search looks: everywhere, in a group with all below it, or in one project. */
export type SearchPlace =
  | { readonly kind: 'all' }
  | { readonly kind: 'group'; readonly groupId: number }
  | { readonly kind: 'project'; readonly projectId: number }

/** Whether the row of `projects` that a query is at is in the place. */
export function isInPlace(place: SearchPlace) {
  if (place.kind === 'all') return sql<SqlBool>`1 = 1`
  if (place.kind === 'project') return sql<SqlBool>`projects.id = ${place.projectId}`
  return sql<SqlBool>`projects.namespace_id IN ${namespacesBelow(place.groupId)}`
}
