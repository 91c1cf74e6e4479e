import type { Db } from '../../store/schema.ts'

/** The address of a person who may be written to. */
export function findReachable(db: Db, userId: number) {
  return db
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .where('state', '=', 'active')
    .where('kind', '=', 'human')
    .executeTakeFirst()
}
