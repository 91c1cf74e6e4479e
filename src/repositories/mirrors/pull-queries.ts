import { type SqlBool, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type PullMirrorRow = RowOf<'pull_mirrors'>

export function findPullMirror(db: Db, projectId: number): Promise<PullMirrorRow | undefined> {
  return db
    .selectFrom('pull_mirrors')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/** Makes the mirror of a project, or changes the one that is there. */
export function savePullMirror(db: Db, values: NewRowOf<'pull_mirrors'>): Promise<PullMirrorRow> {
  const { project_id: _project, created_at: _created, ...changes } = values
  return db
    .insertInto('pull_mirrors')
    .values(values)
    .onConflict((on) => on.column('project_id').doUpdateSet(changes))
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updatePullMirror(
  db: Db,
  projectId: number,
  changes: ChangesOf<'pull_mirrors'>,
): Promise<void> {
  await db.updateTable('pull_mirrors').set(changes).where('project_id', '=', projectId).execute()
}

/** Projects that follow another server and have not looked there since a moment, those that have waited longest first. */
export async function listDueMirrors(
  db: Db,
  since: Instant,
  mostFailures: number,
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('pull_mirrors')
    .innerJoin('projects', 'projects.id', 'pull_mirrors.project_id')
    .select('pull_mirrors.project_id')
    .where(sql<SqlBool>`projects.settings ->> '$.mirror'`)
    .where('projects.pending_delete', '=', 0)
    .where('projects.archived', '=', 0)
    .where('pull_mirrors.failures', '<', mostFailures)
    .where((eb) =>
      eb.or([
        eb('pull_mirrors.last_update_started_at', 'is', null),
        eb('pull_mirrors.last_update_started_at', '<=', since),
      ]),
    )
    .orderBy('pull_mirrors.last_update_started_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.project_id)
}
