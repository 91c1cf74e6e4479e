import { type Selectable, sql } from 'kysely'
import { type Instant, later } from '../../base/clock.ts'
import type { ProjectsTable } from '../../store/schema/core.ts'
import type { Db } from '../../store/schema.ts'

type PushedRow = Pick<
  Selectable<ProjectsTable>,
  'id' | 'namespace_id' | 'empty_repo' | 'default_branch'
>

/** What a push asks of its project, read inside the push's own transaction. */
export async function findPushedRow(db: Db, projectId: number) {
  const { rows } = await sql<PushedRow>`
    SELECT id, namespace_id, empty_repo, default_branch FROM projects WHERE id = ${projectId}`.execute(
    db,
  )
  return rows[0]
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

/** Later activity is noted only so long after the last: with each write all requests read the project anew. */
export async function saveActivity(
  db: Db,
  projectId: number,
  at: Instant,
  afterMs: number,
): Promise<void> {
  await sql`
    UPDATE projects SET last_activity_at = ${at}
    WHERE id = ${projectId} AND last_activity_at < ${later(at, -afterMs)}`.execute(db)
}
