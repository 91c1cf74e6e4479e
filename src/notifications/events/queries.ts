import type { Insertable } from 'kysely'
import type { EventsTable } from '../../store/schema/issues.ts'
import type { Db } from '../../store/schema.ts'

export async function insertEvent(db: Db, event: Insertable<EventsTable>): Promise<void> {
  await db.insertInto('events').values(event).execute()
}

/** The issue or merge request that a comment is on. */
export async function findNoteSubject(
  db: Db,
  noteId: number,
): Promise<{ readonly type: 'Issue' | 'MergeRequest'; readonly id: number } | undefined> {
  const row = await db
    .selectFrom('notes')
    .select(['noteable_type', 'noteable_id'])
    .where('id', '=', noteId)
    .executeTakeFirst()
  const type = row?.noteable_type
  if ((type !== 'Issue' && type !== 'MergeRequest') || !row?.noteable_id) return undefined
  return { type, id: row.noteable_id }
}
