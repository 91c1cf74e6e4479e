import { sql } from 'kysely'
import type { ProcessMode } from '../../store/schema/environments.ts'
import type { Db } from '../../store/schema.ts'

/** Whether a job of the group has the resource now. */
export async function isResourceTaken(db: Db, projectId: number, group: string): Promise<boolean> {
  const row = await db
    .selectFrom('ci_jobs')
    .select('id')
    .where('project_id', '=', projectId)
    .where('resource_group', '=', group)
    .where('status', 'in', ['preparing', 'pending', 'running', 'canceling'])
    .executeTakeFirst()
  return row !== undefined
}

/** Which of the jobs that wait for a resource is next, as the mode of the resource says. */
export async function findNextForResource(
  db: Db,
  projectId: number,
  group: string,
  mode: ProcessMode,
): Promise<{ id: number; pipeline_id: number } | undefined> {
  const newest = mode === 'newest_first' || mode === 'newest_ready_first'
  const waiting = db
    .selectFrom('ci_jobs')
    .select(['id', 'pipeline_id'])
    .where('project_id', '=', projectId)
    .where('resource_group', '=', group)
    .where('status', '=', 'waiting_for_resource')
  const next =
    mode === 'unordered'
      ? waiting.orderBy('id')
      : waiting.orderBy('pipeline_id', newest ? 'desc' : 'asc').orderBy('id')
  const found = await next.executeTakeFirst()
  if (!found || mode === 'unordered' || mode === 'newest_ready_first') return found
  // In order, a job waits for those of pipelines before its own that are not that far yet.
  const before = await db
    .selectFrom('ci_jobs')
    .select('id')
    .where('project_id', '=', projectId)
    .where('resource_group', '=', group)
    .where('retried', '=', 0)
    .where('status', 'in', ['created', 'scheduled', 'preparing'])
    .where('pipeline_id', newest ? '>' : '<', found.pipeline_id)
    .executeTakeFirst()
  return before ? undefined : found
}

/** The mode of a resource group; that of the project for one that has none of its own yet. */
export async function findProcessMode(
  db: Db,
  projectId: number,
  key: string,
): Promise<ProcessMode> {
  const { rows } = await sql<{ mode: ProcessMode }>`
    SELECT coalesce(g.process_mode,
      json_extract(p.settings, '$.resource_group_default_process_mode'), 'unordered') AS mode
    FROM projects p LEFT JOIN ci_resource_groups g ON g.project_id = p.id AND g.key = ${key}
    WHERE p.id = ${projectId}`.execute(db)
  return rows[0]?.mode ?? 'unordered'
}
