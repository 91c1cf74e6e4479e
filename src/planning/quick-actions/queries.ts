import type { Db } from '../../store/schema.ts'

/** Active users of these names, in no order. */
export async function listCalledUsers(db: Db, names: readonly string[]) {
  if (names.length === 0) return []
  return await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('username', 'in', names)
    .where('state', '=', 'active')
    .execute()
}

/** Names of users. */
export async function listNamesOfUsers(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return await db.selectFrom('users').select(['id', 'username']).where('id', 'in', ids).execute()
}
