import type { Instant } from '../../base/clock.ts'
import type { Page, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type AuditEventRow = RowOf<'audit_events'>

export interface AuditFilters {
  readonly entity_type?: string | undefined
  readonly entity_id?: number | undefined
  readonly created_after?: Instant | undefined
  readonly created_before?: Instant | undefined
}

function filteredQuery(db: Db, filters: AuditFilters) {
  let query = db.selectFrom('audit_events').selectAll()
  if (filters.entity_type) query = query.where('entity_type', '=', filters.entity_type)
  if (filters.entity_id !== undefined) query = query.where('entity_id', '=', filters.entity_id)
  if (filters.created_after) query = query.where('created_at', '>=', filters.created_after)
  if (filters.created_before) query = query.where('created_at', '<=', filters.created_before)
  return query
}

function auditQuery(db: Db, filters: AuditFilters) {
  return filteredQuery(db, filters).orderBy('id', 'desc')
}

/** Events after an id, the oldest first. */
export function listAuditAfter(
  db: Db,
  filters: AuditFilters,
  after: number,
  limit: number,
): Promise<AuditEventRow[]> {
  return filteredQuery(db, filters).where('id', '>', after).orderBy('id').limit(limit).execute()
}

/** One page of the audit trail, newest first. */
export function listAuditRows(
  db: Db,
  filters: AuditFilters,
  page: Page,
): Promise<Paged<AuditEventRow>> {
  return listPage(db, auditQuery(db, filters), page, {
    id: 'audit_events.id',
    idOf: (row) => row.id,
    keys: {},
  })
}

export function findAuditEvent(
  db: Db,
  id: number,
  filters: AuditFilters,
): Promise<AuditEventRow | undefined> {
  return auditQuery(db, filters).where('id', '=', id).executeTakeFirst()
}
