import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { ChangesOf, Db, RowOf } from '../../store/schema.ts'

export type TraceRow = RowOf<'ci_traces'>

export async function findTrace(db: Db, jobId: number): Promise<TraceRow | undefined> {
  return await db.selectFrom('ci_traces').selectAll().where('job_id', '=', jobId).executeTakeFirst()
}

export async function saveTrace(
  db: Db,
  row: Pick<TraceRow, 'job_id' | 'size' | 'shown' | 'crc'> & { readonly debug: boolean },
  now: Instant,
): Promise<void> {
  const { job_id: _, ...changes } = { ...row, updated_at: now }
  await db
    .insertInto('ci_traces')
    .values({ ...row, updated_at: now })
    .onConflict((conflict) => conflict.column('job_id').doUpdateSet(changes))
    .execute()
}

export async function updateTrace(
  db: Db,
  jobId: number,
  values: ChangesOf<'ci_traces'>,
): Promise<void> {
  await db.updateTable('ci_traces').set(values).where('job_id', '=', jobId).execute()
}

export async function deleteTrace(db: Db, jobId: number): Promise<void> {
  await db.deleteFrom('ci_traces').where('job_id', '=', jobId).execute()
}

/** Those of some jobs that have ended and whose log is not put away: their task was lost with its process. */
export async function listUnstored(
  db: Db,
  jobIds: readonly number[],
  before: Instant,
): Promise<number[]> {
  const rows = await db
    .selectFrom('ci_traces')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_traces.job_id')
    .select('ci_traces.job_id')
    .where(
      sql<boolean>`ci_traces.job_id IN (SELECT value FROM json_each(${JSON.stringify(jobIds)}))`,
    )
    .where('ci_traces.sha256', 'is', null)
    .where('ci_traces.size', '>', 0)
    .where('ci_traces.updated_at', '<', before)
    .where('ci_jobs.status', 'in', ['success', 'failed', 'canceled'])
    .limit(100)
    .execute()
  return rows.map((row) => row.job_id)
}

/** Those of some ids that no job has any more. */
export async function listDeletedJobs(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<{ id: number }>`
    SELECT value AS id FROM json_each(${JSON.stringify(ids)})
    WHERE value NOT IN (SELECT id FROM ci_jobs)`.execute(db)
  return rows.map((row) => row.id)
}

/** Removes logs that ended before a moment, except those of the newest successful pipeline of a ref; gives how many. */
export async function deleteOldTraces(db: Db, before: Instant, most: number): Promise<number> {
  const { rows } = await sql<{ job_id: number }>`
    DELETE FROM ci_traces WHERE job_id IN (
      SELECT t.job_id FROM ci_traces t
      JOIN ci_jobs j ON j.id = t.job_id
      JOIN pipelines p ON p.id = j.pipeline_id
      WHERE t.sha256 IS NOT NULL AND t.updated_at < ${before}
        AND (p.status <> 'success' OR EXISTS (SELECT 1 FROM pipelines newer
          WHERE newer.project_id = p.project_id AND newer.ref = p.ref AND newer.id > p.id
            AND newer.status = 'success'))
      ORDER BY t.updated_at LIMIT ${most})
    RETURNING job_id`.execute(db)
  return rows.length
}
