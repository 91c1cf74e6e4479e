import { sql } from 'kysely'
import { type Instant, later } from '../../base/clock.ts'
import type { Db, RowOf } from '../../store/schema.ts'

/** A project as a push meets it. */
export type PushedProject = Pick<
  RowOf<'projects'>,
  'id' | 'namespace_id' | 'empty_repo' | 'default_branch'
>

/** The project that refs moved in, read inside the push's own transaction; undefined when it is gone. */
export async function findPushedProject(
  db: Db,
  projectId: number,
): Promise<PushedProject | undefined> {
  const { rows } = await sql<PushedProject>`
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
