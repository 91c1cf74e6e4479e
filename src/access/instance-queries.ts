import type { Db } from '../store/schema.ts'

/** One setting of the instance as it was set, or undefined. */
export async function findInstanceSetting(db: Db, key: string): Promise<unknown> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', key)
    .executeTakeFirst()
  return row === undefined ? undefined : (JSON.parse(row.value) as unknown)
}
