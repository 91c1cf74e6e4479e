import type { Db } from '../../../store/schema.ts'

export type HookUserRow = NonNullable<Awaited<ReturnType<typeof findHookUser>>>

export function findHookUser(db: Db, id: number) {
  return db
    .selectFrom('users')
    .select(['id', 'name', 'username', 'public_email', 'avatar_file', 'avatar_name'])
    .where('id', '=', id)
    .executeTakeFirst()
}
