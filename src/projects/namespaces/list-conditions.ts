import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../../access/visible-queries.ts'

interface Filters {
  readonly visibility?: string | undefined
  readonly archived?: boolean | undefined
  readonly active?: boolean | undefined
  readonly marked_for_deletion_on?: string | undefined
  readonly repository_storage?: string | undefined
  readonly custom_attributes?: Readonly<Record<string, string>> | undefined
}

/** How lists of projects and of groups are narrowed alike; `archived` says whether the row that a query is at is. */
export function stateConditions(
  kind: 'project' | 'group',
  archived: RawBuilder<SqlBool>,
  filters: Filters,
  viewer: Viewer,
): Expression<SqlBool>[] {
  const column = (name: string) =>
    sql.ref(`${kind === 'project' ? 'projects' : 'namespaces'}.${name}`)
  const { visibility, active, marked_for_deletion_on: day, repository_storage: storage } = filters
  const marked = sql<SqlBool>`${column('marked_for_deletion_on')} IS NOT NULL`
  const found: Expression<SqlBool>[] = []
  if (filters.archived !== undefined) {
    found.push(filters.archived ? archived : sql<SqlBool>`NOT ${archived}`)
  }
  if (active === true) found.push(sql<SqlBool>`NOT ${archived} AND NOT ${marked}`)
  if (active === false) found.push(sql<SqlBool>`(${archived} OR ${marked})`)
  if (visibility !== undefined) found.push(sql<SqlBool>`${column('visibility')} = ${visibility}`)
  if (day !== undefined) found.push(sql<SqlBool>`${column('marked_for_deletion_on')} = ${day}`)
  // The rest counts from administrators alone.
  if (!viewer.admin) return found
  if (storage !== undefined) found.push(sql<SqlBool>`${storage} = 'default'`)
  for (const [key, value] of Object.entries(filters.custom_attributes ?? {})) {
    found.push(sql<SqlBool>`EXISTS (SELECT 1 FROM custom_attributes c
      WHERE c.subject_type = ${kind} AND c.subject_id = ${column('id')}
        AND c.key = ${key} AND c.value = ${value})`)
  }
  return found
}
