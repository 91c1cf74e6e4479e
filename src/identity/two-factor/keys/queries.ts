import type { Instant } from '../../../base/clock.ts'
import type { Db, NewRowOf, RowOf } from '../../../store/schema.ts'

export type SecurityKeyRow = RowOf<'security_keys'>

/** The keys of a user, in the order in which they were added. */
export function securityKeysQuery(db: Db, userId: number) {
  return db.selectFrom('security_keys').selectAll().where('user_id', '=', userId).orderBy('id')
}

export function listSecurityKeys(db: Db, userId: number): Promise<SecurityKeyRow[]> {
  return securityKeysQuery(db, userId).execute()
}

export function findSecurityKey(db: Db, userId: number, id: number) {
  return securityKeysQuery(db, userId).where('id', '=', id).executeTakeFirst()
}

export function findKeyByCredential(db: Db, credentialId: string) {
  return db
    .selectFrom('security_keys')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .executeTakeFirst()
}

export function insertSecurityKey(db: Db, row: NewRowOf<'security_keys'>): Promise<SecurityKeyRow> {
  return db.insertInto('security_keys').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function renameSecurityKey(db: Db, id: number, name: string): Promise<SecurityKeyRow> {
  return await db
    .updateTable('security_keys')
    .set({ name })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Notes a use; false when the key's counter says that the use is not the latest: a copy of the key, or a replay. */
export async function touchSecurityKey(
  db: Db,
  id: number,
  used: { readonly before: number; readonly count: number; readonly now: Instant },
): Promise<boolean> {
  const done = await db
    .updateTable('security_keys')
    .set({ sign_count: used.count, last_used_at: used.now })
    .where('id', '=', id)
    .where('sign_count', '=', used.before)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

export async function deleteSecurityKey(db: Db, id: number): Promise<void> {
  await db.deleteFrom('security_keys').where('id', '=', id).execute()
}

export async function deleteSecurityKeys(db: Db, userId: number): Promise<void> {
  await db.deleteFrom('security_keys').where('user_id', '=', userId).execute()
}

/** Notes that a challenge was answered; false when it was before. */
export async function useChallenge(db: Db, digest: Buffer, expiresAt: Instant): Promise<boolean> {
  const done = await db
    .insertInto('used_challenges')
    .values({ digest, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (done.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function deleteChallengesBefore(db: Db, now: Instant): Promise<void> {
  await db.deleteFrom('used_challenges').where('expires_at', '<=', now).execute()
}
