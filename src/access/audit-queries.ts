import type { Insertable } from 'kysely'
import type { AuditEventsTable } from '../store/schema/core.ts'
import type { Db } from '../store/schema.ts'

export async function insertAuditEvent(db: Db, row: Insertable<AuditEventsTable>): Promise<void> {
  await db.insertInto('audit_events').values(row).execute()
}
