import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** What an error counts without its events, by the schema. */
export const ERROR_BYTES = 4096

/** How many bytes of errors a project keeps. */
export async function readKeptBytes(db: Db, projectId: number): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT bytes FROM error_sizes WHERE project_id = ${projectId}`.execute(db)
  return rows[0]?.bytes ?? 0
}

/** How many reports of a project wait to be counted, up to `most` of them, and how many bytes these have. */
export async function countWaiting(db: Db, projectId: number, most: number) {
  const { rows } = await sql<{ reports: number; bytes: number }>`
    SELECT count(*) AS reports, coalesce(sum(octet_length(payload)), 0) AS bytes
    FROM (SELECT payload FROM error_reports WHERE project_id = ${projectId} LIMIT ${most})`.execute(
    db,
  )
  return rows[0] ?? { reports: 0, bytes: 0 }
}

/** The projects that keep more than so many bytes of errors. */
export async function listProjectsAbove(db: Db, bytes: number): Promise<number[]> {
  const rows = await db
    .selectFrom('error_sizes')
    .select('project_id')
    .where('bytes', '>', bytes)
    .execute()
  return rows.map((row) => row.project_id)
}

/**
 * Deletes errors of a project with a status, those that were seen longest ago, until so many bytes are free or `most` are
 * gone; says whether there were any.
 */
export async function deleteOldest(
  db: Db,
  projectId: number,
  status: number,
  { bytes, most }: { readonly bytes: number; readonly most: number },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM errors WHERE id IN (
      SELECT id FROM (
        SELECT id, coalesce(sum(bytes) OVER (
          ORDER BY last_seen, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS freed
        FROM (SELECT id, last_seen, bytes FROM errors
          WHERE project_id = ${projectId} AND status = ${status} ORDER BY last_seen, id LIMIT ${most}))
      WHERE freed < ${bytes})`.execute(db)
  return numAffectedRows > 0n
}
