import type { Instant } from '../../../base/clock.ts'
import type { Db, NewRowOf, RowOf } from '../../../store/schema.ts'

export type UserStatusRow = RowOf<'user_statuses'>

/** What somebody says of themselves; one that was to be cleared by now is gone. */
export function findStatus(
  db: Db,
  userId: number,
  now: Instant,
): Promise<UserStatusRow | undefined> {
  return db
    .selectFrom('user_statuses')
    .selectAll()
    .where('user_id', '=', userId)
    .where((where) => where.or([where('clear_at', 'is', null), where('clear_at', '>', now)]))
    .executeTakeFirst()
}

export function saveStatus(db: Db, row: NewRowOf<'user_statuses'>): Promise<UserStatusRow> {
  const { user_id: _, ...changes } = row
  return db
    .insertInto('user_statuses')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(changes))
    .returningAll()
    .executeTakeFirstOrThrow()
}
