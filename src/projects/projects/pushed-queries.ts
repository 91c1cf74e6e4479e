import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** What a push asks of its project, read inside the push's own transaction. */
export async function findPushedRow(db: Db, projectId: number) {
  return await db
    .selectFrom('projects')
    .select(['id', 'namespace_id', 'empty_repo', 'default_branch'])
    .where('id', '=', projectId)
    .executeTakeFirst()
}

export async function saveFirstPush(
  db: Db,
  projectId: number,
  defaultBranch: string | null,
): Promise<void> {
  await db
    .updateTable('projects')
    .set({ empty_repo: false, default_branch: defaultBranch })
    .where('id', '=', projectId)
    .execute()
}

export async function saveActivity(db: Db, projectId: number, at: Instant): Promise<void> {
  await db
    .updateTable('projects')
    .set({ last_activity_at: sql<Instant>`max(last_activity_at, ${at})` })
    .where('id', '=', projectId)
    .execute()
}
