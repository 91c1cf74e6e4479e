import type { Db } from '../../store/schema.ts'

/** Whether a task with this key waits or runs. */
export async function isTaskWaiting(db: Db, name: string, uniqueKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('id')
    .where('name', '=', name)
    .where('unique_key', '=', uniqueKey)
    .where('state', 'in', ['ready', 'running'])
    .executeTakeFirst()
  return row !== undefined
}
