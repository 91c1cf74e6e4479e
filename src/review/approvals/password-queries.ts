import type { Db } from '../../store/schema.ts'

/** The hash that a user's password is checked against; null when there is none. */
export async function findPasswordHash(db: Db, userId: number): Promise<string | null> {
  const row = await db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .executeTakeFirst()
  return row?.password_hash ?? null
}
