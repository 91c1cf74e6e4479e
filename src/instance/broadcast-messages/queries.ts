import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type BroadcastMessageRow = RowOf<'broadcast_messages'>

/** Newest first (docs/contract/A-resolved §12). */
export function broadcastMessagesQuery(db: Db) {
  return db.selectFrom('broadcast_messages').selectAll().orderBy('id', 'desc')
}

const MOST_SHOWN = 50

/** The newest messages, which every page asks for. */
export function listNewestMessages(db: Db): Promise<BroadcastMessageRow[]> {
  return cachedQuery(db, 'broadcast messages', (db) =>
    broadcastMessagesQuery(db).limit(MOST_SHOWN).execute(),
  )
}

export function findBroadcastMessage(db: Db, id: number): Promise<BroadcastMessageRow | undefined> {
  return db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst()
}

export function insertBroadcastMessage(
  db: Db,
  row: NewRowOf<'broadcast_messages'>,
): Promise<BroadcastMessageRow> {
  return db.insertInto('broadcast_messages').values(row).returningAll().executeTakeFirstOrThrow()
}

export function updateBroadcastMessage(
  db: Db,
  id: number,
  changes: ChangesOf<'broadcast_messages'>,
): Promise<BroadcastMessageRow> {
  return db
    .updateTable('broadcast_messages')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteBroadcastMessage(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('broadcast_messages').where('id', '=', id))
}
