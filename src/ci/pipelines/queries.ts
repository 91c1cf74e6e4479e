import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { PipelineStatus } from '../../store/schema/commits.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type PipelineRow = RowOf<'pipelines'>

export async function findPipeline(db: Db, id: number): Promise<PipelineRow | undefined> {
  return await db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function pipelinesById(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, PipelineRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** The newest pipeline of a commit, of one ref when given, that no other pipeline started; or the one with an id. */
export async function findNewestPipeline(
  db: Db,
  projectId: number,
  sha: string,
  only: { readonly ref?: string | undefined; readonly id?: number | undefined } = {},
): Promise<PipelineRow | undefined> {
  const { ref, id } = only
  return await db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('sha', '=', sha)
    .$if(id === undefined, (query) => query.where('source', '<>', 'parent_pipeline'))
    .$if(ref !== undefined, (query) => query.where('ref', '=', ref ?? ''))
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? 0))
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

/** Unfinished pipelines of a ref that are older than another, and of other commits. */
export async function listRedundant(db: Db, newer: PipelineRow): Promise<PipelineRow[]> {
  return await db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', newer.project_id)
    .where('ref', '=', newer.ref)
    .where('tag', '=', 0)
    .where('id', '<', newer.id)
    .where('sha', '<>', newer.sha)
    .where('source', 'in', ['push', 'merge_request_event', 'web', 'api', 'parent_pipeline'])
    .where('status', 'in', UNFINISHED)
    .orderBy('id', 'desc')
    .limit(100)
    .execute()
}

const UNFINISHED: readonly PipelineStatus[] = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'manual',
  'scheduled',
]

/** The newest pipeline of a ref before another, that has ended one way or the other; children are part of theirs. */
export async function findEndedBefore(
  db: Db,
  pipeline: Pick<PipelineRow, 'id' | 'project_id' | 'ref'>,
): Promise<PipelineRow | undefined> {
  return await db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', pipeline.project_id)
    .where('ref', '=', pipeline.ref)
    .where('source', '<>', 'parent_pipeline')
    .where('id', '<', pipeline.id)
    .where('status', 'in', ['success', 'failed'])
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

/** The newest pipeline of a ref that no other pipeline started; of some statuses only, when given. */
export async function findNewestOfRef(
  db: Db,
  projectId: number,
  ref: string,
  only: { readonly statuses?: readonly PipelineStatus[]; readonly ignoreSkipped?: boolean } = {},
): Promise<PipelineRow | undefined> {
  return await db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('ref', '=', ref)
    .where('source', '<>', 'parent_pipeline')
    .$if(only.statuses !== undefined, (query) => query.where('status', 'in', only.statuses ?? []))
    .$if(only.ignoreSkipped === true, (query) => query.where('status', '<>', 'skipped'))
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

export interface PipelineFilter {
  readonly scope?: 'running' | 'pending' | 'finished' | 'branches' | 'tags' | undefined
  readonly status?: PipelineStatus | 'waiting_for_callback' | undefined
  readonly source?: string | undefined
  readonly ref?: string | undefined
  readonly sha?: string | undefined
  readonly name?: string | undefined
  readonly username?: string | undefined
  readonly yaml_errors?: boolean | undefined
  readonly updated_before?: Instant | undefined
  readonly updated_after?: Instant | undefined
  readonly created_before?: Instant | undefined
  readonly created_after?: Instant | undefined
  readonly order_by: 'id' | 'status' | 'ref' | 'updated_at' | 'user_id'
  readonly sort: 'asc' | 'desc'
}

/** Pipelines of a project; children only when they are asked for by their source. */
export async function listPipelines(
  db: Db,
  projectId: number,
  filter: PipelineFilter,
  page: OffsetPage,
): Promise<Paged<PipelineRow>> {
  let query = inScope(db, projectId, filter.scope)
  for (const column of ['status', 'source', 'ref', 'sha', 'name'] as const) {
    const value = filter[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  const isOfStatus =
    filter.status !== undefined || filter.scope === 'running' || filter.scope === 'pending'
  if (isOfStatus && filter.ref === undefined && filter.sha === undefined) {
    // The condition of the index of statuses, word for word. Without it SQLite would take that index for questions that
    // are answered faster by ref.
    query = query.where(sql<boolean>`status <> ''`)
  }
  if (filter.source === undefined) query = query.where('source', '<>', 'parent_pipeline')
  const { username, yaml_errors } = filter
  if (yaml_errors !== undefined) {
    query = query.where('yaml_errors', yaml_errors ? 'is not' : 'is', null)
  }
  if (username !== undefined) {
    const users = db.selectFrom('users').select('id').where('username', '=', username)
    query = query.where('user_id', 'in', users)
  }
  const times = [
    ['updated_at', '<', filter.updated_before],
    ['updated_at', '>', filter.updated_after],
    ['created_at', '<', filter.created_before],
    ['created_at', '>', filter.created_after],
  ] as const
  for (const [column, sign, value] of times) {
    if (value !== undefined) query = query.where(column, sign, value)
  }
  const ordered = query.orderBy(filter.order_by, filter.sort).orderBy('id', filter.sort)
  return await listPage(db, ordered, page)
}

function inScope(db: Db, projectId: number, scope: PipelineFilter['scope']) {
  const query = db.selectFrom('pipelines').selectAll().where('project_id', '=', projectId)
  if (scope === 'running' || scope === 'pending') return query.where('status', '=', scope)
  if (scope === 'finished') {
    return query.where('status', 'in', ['success', 'failed', 'canceled'])
  }
  if (scope === undefined) return query
  const newest = db
    .selectFrom('pipelines')
    .select((select) => select.fn.max('id').as('id'))
    .where('project_id', '=', projectId)
    .where('tag', '=', scope === 'tags' ? 1 : 0)
    .where('source', '<>', 'parent_pipeline')
    .groupBy('ref')
  return query.where('id', 'in', newest)
}

export async function insertPipeline(
  db: Db,
  pipeline: Omit<NewRowOf<'pipelines'>, 'created_at' | 'updated_at'>,
  now: Instant,
): Promise<PipelineRow> {
  return await db
    .insertInto('pipelines')
    .values({ ...pipeline, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updatePipeline(
  db: Db,
  id: number,
  values: ChangesOf<'pipelines'>,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('pipelines')
    .set({ ...values, updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deletePipeline(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('pipelines').where('id', '=', id))
}

/**
 * Pipelines that have ended and are older than their projects keep them, but the newest success of each ref
 * (docs/contract/D §1.2 ci_delete_pipelines_in_seconds).
 */
export async function listOutlived(
  db: Db,
  now: Instant,
  most: number,
): Promise<{ id: number; project_id: number }[]> {
  const { rows } = await sql<{ id: number; project_id: number }>`
    SELECT p.id, p.project_id FROM projects pr
    JOIN pipelines p ON p.project_id = pr.id
    WHERE json_extract(pr.settings, '$.ci_delete_pipelines_in_seconds') IS NOT NULL
      AND p.created_at < strftime('%Y-%m-%dT%H:%M:%fZ', ${now},
        '-' || json_extract(pr.settings, '$.ci_delete_pipelines_in_seconds') || ' seconds')
      AND p.status IN ('success', 'failed', 'canceled', 'skipped')
      AND (p.status <> 'success' OR EXISTS (SELECT 1 FROM pipelines newer
        WHERE newer.project_id = p.project_id AND newer.ref = p.ref AND newer.id > p.id
          AND newer.status = 'success' AND newer.source <> 'parent_pipeline'))
    ORDER BY p.id LIMIT ${most}`.execute(db)
  return rows
}

export interface VariableRow {
  readonly key: string
  readonly sealed_value: string
  readonly variable_type: 'env_var' | 'file'
  readonly raw: 0 | 1
}

export async function insertVariables(
  db: Db,
  pipelineId: number,
  rows: readonly VariableRow[],
): Promise<void> {
  if (rows.length === 0) return
  await db
    .insertInto('pipeline_variables')
    .values(rows.map((row) => ({ pipeline_id: pipelineId, ...row })))
    .execute()
}

export async function listVariables(db: Db, pipelineId: number): Promise<VariableRow[]> {
  return await db
    .selectFrom('pipeline_variables')
    .select(['key', 'sealed_value', 'variable_type', 'raw'])
    .where('pipeline_id', '=', pipelineId)
    .orderBy('key')
    .execute()
}

export async function insertSource(
  db: Db,
  row: { readonly pipeline_id: number; readonly job_id: number; readonly depends: boolean },
): Promise<void> {
  await db.insertInto('pipeline_sources').values(row).execute()
}

/** The bridge that made a pipeline. */
export async function findSource(db: Db, pipelineId: number) {
  return await db
    .selectFrom('pipeline_sources')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'pipeline_sources.job_id')
    .select([
      'pipeline_sources.job_id',
      'pipeline_sources.depends',
      'ci_jobs.pipeline_id',
      'ci_jobs.project_id',
      'ci_jobs.status',
    ])
    .where('pipeline_sources.pipeline_id', '=', pipelineId)
    .executeTakeFirst()
}

/** The pipelines that a pipeline made of its own configuration. */
export async function listChildIds(db: Db, pipelineId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('pipeline_sources')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'pipeline_sources.job_id')
    .innerJoin('pipelines', 'pipelines.id', 'pipeline_sources.pipeline_id')
    .select('pipelines.id')
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .where('pipelines.source', '=', 'parent_pipeline')
    .orderBy('pipelines.id')
    .execute()
  return rows.map((row) => row.id)
}

/** The pipelines that bridges made, by bridge. */
export async function downstreamByJob(
  db: Db,
  jobIds: readonly number[],
): Promise<Map<number, PipelineRow & { full_path: string }>> {
  if (jobIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('pipeline_sources')
    .innerJoin('pipelines', 'pipelines.id', 'pipeline_sources.pipeline_id')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .selectAll('pipelines')
    .select(['pipeline_sources.job_id', 'projects.full_path'])
    .where('pipeline_sources.job_id', 'in', jobIds)
    .execute()
  return new Map(rows.map(({ job_id, ...row }) => [job_id, row]))
}
