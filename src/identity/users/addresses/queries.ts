import type { Instant } from '../../../base/clock.ts'
import { deleteFound } from '../../../store/delete-found.ts'
import type { Db, RowOf } from '../../../store/schema.ts'

export type EmailRow = RowOf<'emails'>

/** The further addresses of a user; the first one is in the user's row. */
export function emailsQuery(db: Db, userId: number) {
  return db.selectFrom('emails').selectAll().where('user_id', '=', userId).orderBy('id')
}

export function findEmail(db: Db, userId: number, id: number): Promise<EmailRow | undefined> {
  return emailsQuery(db, userId).where('id', '=', id).executeTakeFirst()
}

export function insertEmail(
  db: Db,
  row: { user_id: number; email: string; confirmed_at: Instant | null },
  now: Instant,
): Promise<EmailRow> {
  return db
    .insertInto('emails')
    .values({ ...row, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteEmailRow(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('emails').where('id', '=', id))
}

/** Confirms a further address; false when the user has no such one. */
export async function confirmEmailRow(
  db: Db,
  userId: number,
  email: string,
  now: Instant,
): Promise<boolean> {
  const done = await db
    .updateTable('emails')
    .set({ confirmed_at: now, updated_at: now })
    .where('user_id', '=', userId)
    .where('email', '=', email)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}
