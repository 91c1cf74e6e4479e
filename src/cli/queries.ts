import { sql } from 'kysely'
import type { Db } from '../store/schema.ts'

/** Projects after an id, in order, for a walk over all of them. */
export function listProjectsAfter(db: Db, id: number, limit: number) {
  return db
    .selectFrom('projects')
    .select(['id', 'full_path'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()
}

export async function countProjects(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('projects')
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/** Background tasks that have failed for good. */
export async function countDeadTasks(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('tasks')
    .select(sql<number>`count(*)`.as('total'))
    .where('state', '=', 'dead')
    .executeTakeFirstOrThrow()
  return total
}

export async function isAnyoneHere(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}
