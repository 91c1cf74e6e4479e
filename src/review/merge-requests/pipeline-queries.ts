import { sql } from 'kysely'
import { refsPushed } from '../../repositories/refs/pushed-task.ts'
import type { Db, RowOf } from '../../store/schema.ts'
import { diffChangedJob } from './jobs.ts'

/**
 * The pipeline of the head of the merge request `mr`: the newest that was made for the merge request, else the newest of
 * the commit. Children are part of the one that started them. With a plus before it, no index of a project is taken: it
 * would lead to all pipelines that there are.
 */
export const headPipeline = sql`FROM pipelines p
  WHERE p.id IN (
      SELECT id FROM pipelines
        WHERE project_id IN (mr.target_project_id, mr.source_project_id) AND sha = mr.head_sha
      UNION SELECT id FROM pipelines WHERE merge_request_id = mr.id AND source_sha = mr.head_sha)
    AND +p.project_id IN (mr.target_project_id, mr.source_project_id) AND p.source <> 'parent_pipeline'
  ORDER BY p.source = 'merge_request_event' DESC, p.id DESC LIMIT 1`

/** The pipeline of a merge request's head. */
export async function findHeadPipeline(
  db: Db,
  id: number,
): Promise<RowOf<'pipelines'> | undefined> {
  const { rows } = await sql<RowOf<'pipelines'>>`
    SELECT * FROM pipelines WHERE id = (
      SELECT (SELECT p.id ${headPipeline}) FROM merge_requests mr WHERE mr.id = ${id})`.execute(db)
  return rows[0]
}

/** Status of the pipeline of each merge request's head, by id; those without one are left out. */
export async function headPipelineStatuses(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: number; status: string | null }>`
    SELECT mr.id, (SELECT p.status ${headPipeline}) AS status
    FROM merge_requests mr WHERE mr.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`.execute(
    db,
  )
  return new Map(rows.flatMap(({ id, status }) => (status === null ? [] : [[id, status]])))
}

/** Open merge requests of whose head this is the pipeline. */
export async function listOpenWithHead(db: Db, pipelineId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    SELECT mr.id FROM pipelines ended JOIN merge_requests mr ON mr.head_sha IN (ended.sha, ended.source_sha)
      AND (mr.target_project_id = ended.project_id OR mr.source_project_id = ended.project_id)
    WHERE ended.id = ${pipelineId} AND mr.state = 'opened' AND (SELECT p.id ${headPipeline}) = ended.id
    ORDER BY mr.id`.execute(db)
  return rows.map((row) => row.id)
}

/** Those of the merge requests whose head may still get a pipeline: a task that makes pipelines has not run yet. */
export async function listPipelinesDue(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const open = sql`t.state IN ('ready', 'running')`
  const { rows } = await sql<{ id: number }>`
    SELECT mr.id FROM merge_requests mr
    WHERE mr.id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND (
      EXISTS (SELECT 1 FROM tasks t WHERE t.name = ${diffChangedJob.name} AND ${open}
        AND json_extract(t.payload, '$.id') = mr.id)
      OR EXISTS (SELECT 1 FROM ref_moves m
        WHERE m.project_id = mr.source_project_id AND m.ref = 'refs/heads/' || mr.source_branch
        AND m.new_id = mr.head_sha AND (
          EXISTS (SELECT 1 FROM waiting_pushes w WHERE w.push_id = m.push_id)
          OR EXISTS (SELECT 1 FROM tasks t WHERE t.name = ${refsPushed.name} AND ${open}
            AND m.push_id IN (SELECT value FROM json_each(t.payload, '$.push_ids'))))))`.execute(db)
  return new Set(rows.map((row) => row.id))
}

/** What a merge that waits may have waited for. */
export type AwaitedPipeline =
  | { readonly pipelineId: number }
  | { readonly pushIds: readonly number[] }
  | { readonly mergeRequestId: number }

/** Open merge requests for which auto-merge is set and which wait for this. */
export async function listWaitingFor(db: Db, awaited: AwaitedPipeline): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM merge_requests
    WHERE state = 'opened' AND auto_merge_sha IS NOT NULL AND ${isAwaited(awaited)}`.execute(db)
  return rows.map((row) => row.id)
}

function isAwaited(awaited: AwaitedPipeline) {
  if ('mergeRequestId' in awaited) return sql`id = ${awaited.mergeRequestId}`
  if ('pushIds' in awaited) {
    const pushes = sql`SELECT value FROM json_each(${JSON.stringify(awaited.pushIds)})`
    return sql`auto_merge_sha IN (SELECT new_id FROM ref_moves WHERE push_id IN (${pushes}))`
  }
  const pipeline = sql`FROM pipelines WHERE id = ${awaited.pipelineId}`
  return sql`auto_merge_sha IN (SELECT sha ${pipeline} UNION SELECT source_sha ${pipeline})`
}
