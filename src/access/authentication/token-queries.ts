import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type AccessTokenRow = RowOf<'access_tokens'>

export function insertToken(db: Db, row: NewRowOf<'access_tokens'>): Promise<AccessTokenRow> {
  return db.insertInto('access_tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export function findTokenById(db: Db, id: number): Promise<AccessTokenRow | undefined> {
  return db.selectFrom('access_tokens').selectAll().where('id', '=', id).executeTakeFirst()
}

const revoking = (db: Db, now: Instant) =>
  db.updateTable('access_tokens').set({ revoked: 1, updated_at: now }).where('revoked', '=', 0)

/** Revokes one token; false when it was revoked already. */
export async function revokeTokenRow(db: Db, id: number, now: Instant): Promise<boolean> {
  const done = await revoking(db, now).where('id', '=', id).executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Revokes every token that came from one by rotation, the first one included. */
export async function revokeFamilyRows(db: Db, familyId: number, now: Instant): Promise<void> {
  await revoking(db, now)
    .where((where) => where.or([where('family_id', '=', familyId), where('id', '=', familyId)]))
    .execute()
}
