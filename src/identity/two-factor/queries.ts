import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type TotpRow = RowOf<'totp_secrets'>

export function findTotp(db: Db, userId: number): Promise<TotpRow | undefined> {
  return db.selectFrom('totp_secrets').selectAll().where('user_id', '=', userId).executeTakeFirst()
}

/** Keeps the secret of an app that is to be confirmed; false when one is confirmed already. */
export async function saveTotp(
  db: Db,
  userId: number,
  secret: string,
  now: Instant,
): Promise<boolean> {
  const done = await db
    .insertInto('totp_secrets')
    .values({ user_id: userId, secret, created_at: now })
    .onConflict((conflict) =>
      conflict
        .column('user_id')
        .doUpdateSet({ secret, created_at: now, last_step: 0 })
        .where('totp_secrets.confirmed_at', 'is', null),
    )
    .executeTakeFirst()
  return (done.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function confirmTotp(db: Db, userId: number, now: Instant): Promise<void> {
  await db
    .updateTable('totp_secrets')
    .set({ confirmed_at: now })
    .where('user_id', '=', userId)
    .execute()
}

/** Uses up the codes of a time step and of all before it; false when they were used up. */
export async function takeStep(db: Db, userId: number, step: number): Promise<boolean> {
  const done = await db
    .updateTable('totp_secrets')
    .set({ last_step: step, misses: 0 })
    .where('user_id', '=', userId)
    .where('last_step', '<', step)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Counts a code before it is compared; gives how many there were since `since`, and since when. */
export function countTry(db: Db, userId: number, since: Instant, now: Instant) {
  const isOld = sql<boolean>`misses_since is null or misses_since < ${since}`
  return db
    .updateTable('totp_secrets')
    .set({
      misses: sql<number>`case when ${isOld} then 1 else misses + 1 end`,
      misses_since: sql<Instant>`case when ${isOld} then ${now} else misses_since end`,
    })
    .where('user_id', '=', userId)
    .returning(['misses', 'misses_since'])
    .executeTakeFirst()
}

/** Whether an app is confirmed. */
export async function hasTotp(db: Db, userId: number): Promise<boolean> {
  return (await findTotp(db, userId))?.confirmed_at != null
}

export async function deleteTotp(db: Db, userId: number): Promise<void> {
  await db.deleteFrom('totp_secrets').where('user_id', '=', userId).execute()
}

export async function countRecoveryCodes(db: Db, userId: number): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_codes')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}

/** Puts new codes in the place of those before. */
export async function replaceRecoveryCodes(
  db: Db,
  userId: number,
  digests: readonly Buffer[],
): Promise<void> {
  await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  if (digests.length === 0) return
  await db
    .insertInto('recovery_codes')
    .values(digests.map((digest) => ({ user_id: userId, digest })))
    .execute()
}

/** Uses a code up; false when there is none such. */
export async function takeRecoveryCode(db: Db, userId: number, digest: Buffer): Promise<boolean> {
  const done = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('digest', '=', digest)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}
