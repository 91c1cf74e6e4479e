import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** Status of the newest pipeline of each merge request's head, by id; those without one are left out. */
export async function headPipelineStatuses(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: number; status: string | null }>`
    SELECT mr.id, (SELECT p.status FROM pipelines p
      WHERE p.project_id IN (mr.target_project_id, mr.source_project_id) AND p.sha = mr.head_sha
      ORDER BY p.id DESC LIMIT 1) AS status
    FROM merge_requests mr WHERE mr.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`.execute(
    db,
  )
  return new Map(rows.flatMap(({ id, status }) => (status === null ? [] : [[id, status]])))
}
