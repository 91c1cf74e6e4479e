import { type RawBuilder, sql } from 'kysely'

/** Ids of a namespace and of all above it. A subquery for `IN`. */
export function namespacesAbove(namespaceId: number): RawBuilder<number> {
  return sql<number>`(SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = ${namespaceId})`
}

/** Ids of a namespace and of all below it. A subquery for `IN`. */
export function namespacesBelow(namespaceId: number): RawBuilder<number> {
  return sql<number>`(SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = ${namespaceId})`
}
