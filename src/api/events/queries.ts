import type { Insertable } from 'kysely'
import type { EventsTable } from '../../store/schema/issues.ts'
import type { Db } from '../../store/schema.ts'

export async function insertEvent(db: Db, event: Insertable<EventsTable>): Promise<void> {
  await db.insertInto('events').values(event).execute()
}
