import type { Db } from '../../store/schema.ts'

/** Active users of these names. */
export function listUsersByName(db: Db, names: readonly string[]) {
  return db
    .selectFrom('users')
    .select(['id', 'username', 'external'])
    .where('username', 'in', names)
    .where('state', '=', 'active')
    .execute()
}
