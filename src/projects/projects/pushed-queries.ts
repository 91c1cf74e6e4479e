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

/** What a push changes in its project. */
export async function savePushed(
  db: Db,
  projectId: number,
  change: { at: Instant; empty: boolean; defaultBranch: string | null },
): Promise<void> {
  await db
    .updateTable('projects')
    .set({
      last_activity_at: sql<Instant>`max(last_activity_at, ${change.at})`,
      empty_repo: change.empty,
      default_branch: change.defaultBranch,
    })
    .where('id', '=', projectId)
    .execute()
}
