import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

const isOn = sql<boolean>`json_extract(settings, '$.container_expiration_policy.enabled') = 1`

/**
 * Gives projects whose policy was turned on a first date, and those with a shorter cadence than before an earlier one;
 * forgets those where it is off. Of one project, or of all.
 */
export async function syncRuns(
  db: Db,
  now: Instant,
  first: (settings: string) => Instant,
  projectId?: number,
): Promise<void> {
  const among = (column: RawBuilder<number>) =>
    projectId === undefined ? sql`TRUE` : sql`${column} = ${projectId}`
  await sql`DELETE FROM container_cleanup_runs WHERE ${among(sql`project_id`)}
    AND project_id NOT IN (SELECT id FROM projects WHERE ${among(sql`id`)} AND ${isOn})`.execute(db)
  const cadence = sql`json_extract(p.settings, '$.container_expiration_policy.cadence')`
  const days = sql`CASE ${cadence} WHEN '7d' THEN 7 WHEN '14d' THEN 14 WHEN '1month' THEN 30
    WHEN '3month' THEN 90 ELSE 1 END`
  const { rows } = await sql<{ id: number; settings: string }>`
    SELECT p.id, p.settings FROM projects p
      LEFT JOIN container_cleanup_runs run ON run.project_id = p.id
      WHERE ${among(sql`p.id`)} AND ${isOn} AND (run.project_id IS NULL
        OR julianday(run.next_run_at) > julianday(${now}) + ${days} + 0.0001)
      LIMIT 1000`.execute(db)
  for (const { id, settings } of rows) {
    await saveRun(db, id, first(settings))
  }
}

async function saveRun(db: Db, projectId: number, nextRunAt: Instant): Promise<void> {
  await db
    .insertInto('container_cleanup_runs')
    .values({ project_id: projectId, next_run_at: nextRunAt })
    .onConflict((on) => on.column('project_id').doUpdateSet({ next_run_at: nextRunAt }))
    .execute()
}

/** Says when a policy that was due runs next, unless it was turned off or dated anew meanwhile. */
export async function postponeRun(
  db: Db,
  projectId: number,
  { due, next }: { readonly due: Instant; readonly next: Instant },
): Promise<void> {
  await db
    .updateTable('container_cleanup_runs')
    .set({ next_run_at: next })
    .where('project_id', '=', projectId)
    .where('next_run_at', '<=', due)
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
