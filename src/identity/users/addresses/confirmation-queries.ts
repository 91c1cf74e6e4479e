import type { Instant } from '../../../base/clock.ts'
import type { Db, NewRowOf, RowOf } from '../../../store/schema.ts'

export type ConfirmationRow = RowOf<'email_confirmations'>

/**
 * A newer link takes the place of an older one, but not of one that was made after `unlessSince`: false then, and nothing
 * is saved, however many ask at once.
 */
export async function saveConfirmation(
  db: Db,
  row: NewRowOf<'email_confirmations'>,
  unlessSince?: Instant,
): Promise<boolean> {
  const saved = await db
    .insertInto('email_confirmations')
    .values(row)
    .onConflict((conflict) => {
      const update = conflict
        .columns(['user_id', 'purpose', 'email'])
        .doUpdateSet({ digest: row.digest, created_at: row.created_at })
      if (unlessSince === undefined) return update
      return update.where('email_confirmations.created_at', '<=', unlessSince)
    })
    .returning('id')
    .executeTakeFirst()
  return saved !== undefined
}

export function findConfirmation(
  db: Db,
  digest: Buffer,
  purpose: ConfirmationRow['purpose'],
  since: Instant,
): Promise<ConfirmationRow | undefined> {
  return db
    .selectFrom('email_confirmations')
    .selectAll()
    .where('digest', '=', digest)
    .where('purpose', '=', purpose)
    .where('created_at', '>=', since)
    .executeTakeFirst()
}

/** Takes a link away once it was followed; false when somebody else was faster. */
export async function takeConfirmation(db: Db, id: number): Promise<boolean> {
  const done = await db.deleteFrom('email_confirmations').where('id', '=', id).executeTakeFirst()
  return done.numDeletedRows > 0n
}

/** Takes away all links of a user that serve one purpose. */
export async function deleteConfirmations(
  db: Db,
  userId: number,
  purpose: ConfirmationRow['purpose'],
): Promise<void> {
  await db
    .deleteFrom('email_confirmations')
    .where('user_id', '=', userId)
    .where('purpose', '=', purpose)
    .execute()
}
