import type { Db, NewRowOf } from '../store/schema.ts'

export async function insertAuditEvent(db: Db, row: NewRowOf<'audit_events'>): Promise<void> {
  await db.insertInto('audit_events').values(row).execute()
}
