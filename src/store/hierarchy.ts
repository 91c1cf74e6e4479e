import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from './schema.ts'

/** Ids of a namespace and of all above it. A subquery for `IN`. */
export function namespacesAbove(namespaceId: number): RawBuilder<number> {
  return sql<number>`(SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = ${namespaceId})`
}

/** Ids of a namespace and of all below it. A subquery for `IN`. */
export function namespacesBelow(namespaceId: number): RawBuilder<number> {
  return sql<number>`(SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = ${namespaceId})`
}

/** Whether a namespace or one above it (`n`) fulfils a condition. */
export async function hasAbove(
  db: Db,
  namespaceId: number,
  condition: RawBuilder<SqlBool>,
): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM namespaces n
    WHERE n.id IN ${namespacesAbove(namespaceId)} AND ${condition} LIMIT 1`.execute(db)
  return rows.length > 0
}
