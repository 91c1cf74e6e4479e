import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

const isOn = sql<boolean>`json_extract(settings, '$.container_expiration_policy.enabled') = 1`

/** Gives projects whose policy was turned on a first date, and forgets those where it is off. */
export async function syncRuns(db: Db, first: (settings: string) => Instant): Promise<void> {
  await sql`DELETE FROM container_cleanup_runs WHERE project_id NOT IN (
    SELECT id FROM projects WHERE ${isOn})`.execute(db)
  const { rows } = await sql<{ id: number; settings: string }>`
    SELECT id, settings FROM projects WHERE ${isOn}
      AND id NOT IN (SELECT project_id FROM container_cleanup_runs) LIMIT 1000`.execute(db)
  for (const { id, settings } of rows) {
    await saveRun(db, id, first(settings))
  }
}

export async function saveRun(db: Db, projectId: number, nextRunAt: Instant): Promise<void> {
  await db
    .insertInto('container_cleanup_runs')
    .values({ project_id: projectId, next_run_at: nextRunAt })
    .onConflict((on) => on.column('project_id').doUpdateSet({ next_run_at: nextRunAt }))
    .execute()
}

export function listDueRuns(db: Db, now: Instant) {
  return db
    .selectFrom('container_cleanup_runs')
    .innerJoin('projects', 'projects.id', 'container_cleanup_runs.project_id')
    .select(['projects.id', 'projects.settings'])
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .limit(100)
    .execute()
}

/** The repositories of a project that are not being deleted. */
export async function listRepositoryIds(db: Db, projectId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('container_repositories')
    .select('id')
    .where('project_id', '=', projectId)
    .where('status', 'is', null)
    .execute()
  return rows.map((row) => row.id)
}
