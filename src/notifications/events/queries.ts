import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export async function insertEvent(db: Db, event: Omit<RowOf<'events'>, 'id'>): Promise<void> {
  // Every push adds one: to build it anew each time takes longer than to run it.
  await sql`
    INSERT INTO events (project_id, author_id, action_name, target_type, target_id, target_iid, target_title,
      push_data, note_id, created_at)
    VALUES (${event.project_id}, ${event.author_id}, ${event.action_name}, ${event.target_type},
      ${event.target_id}, ${event.target_iid}, ${event.target_title}, ${event.push_data}, ${event.note_id},
      ${event.created_at})`.execute(db)
}

/** Removes the oldest events, so many at most, as far as they are from before a moment; gives how many there were. */
export async function deleteOldEvents(db: Db, before: Instant, most: number): Promise<number> {
  // They are numbered as they happen: the oldest are found without an index of their times.
  const oldest = db.selectFrom('events').select(['id', 'created_at']).orderBy('id').limit(most)
  const { numDeletedRows } = await db
    .deleteFrom('events')
    .where(
      'id',
      'in',
      db.selectFrom(oldest.as('oldest')).select('id').where('created_at', '<', before),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
