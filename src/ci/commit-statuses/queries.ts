import { type InferResult, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { PipelineStatus } from '../../store/schema/commits.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type CommitStatusRow = RowOf<'commit_statuses'>

export interface StatusFilter {
  readonly ref?: string | undefined
  readonly stage?: string | undefined
  readonly name?: string | undefined
  readonly pipeline_id?: number | undefined
  /** Also those whose place a later one took. */
  readonly all: boolean
  readonly order_by: 'id' | 'pipeline_id'
  readonly sort: 'asc' | 'desc'
}

const SHOWN = [
  'id',
  'pipeline_id',
  'name',
  'status',
  'allow_failure',
  'coverage',
  'user_id',
  'retried',
  'created_at',
  'started_at',
  'finished_at',
] as const

/** What others reported of a commit, and the jobs of its pipelines. */
function statusesOf(db: Db, projectId: number, sha: string) {
  const jobs = db
    .selectFrom('pipelines')
    .innerJoin('ci_jobs', 'ci_jobs.pipeline_id', 'pipelines.id')
    .innerJoin('ci_stages', 'ci_stages.id', 'ci_jobs.stage_id')
    .select(SHOWN.map((column) => `ci_jobs.${column}` as const))
    .select(['pipelines.sha', 'pipelines.ref', 'ci_stages.name as stage'])
    .select([sql<string | null>`NULL`.as('target_url'), sql<string | null>`NULL`.as('description')])
    .select(sql<0 | 1>`1`.as('is_job'))
    .where('pipelines.project_id', '=', projectId)
    .where('pipelines.sha', '=', sha)
  return db
    .selectFrom('commit_statuses')
    .select(SHOWN)
    .select(['sha', 'ref', 'stage', 'target_url', 'description'])
    .select(sql<0 | 1>`0`.as('is_job'))
    .where('project_id', '=', projectId)
    .where('sha', '=', sha)
    .unionAll(jobs)
}

export type ListedStatus = InferResult<ReturnType<typeof statusesOf>>[number]

/** The statuses of a commit, reported ones and jobs. */
export async function listStatuses(
  db: Db,
  projectId: number,
  sha: string,
  filter: StatusFilter,
  page: OffsetPage,
): Promise<Paged<ListedStatus>> {
  let query = db.selectFrom(statusesOf(db, projectId, sha).as('listed')).selectAll()
  for (const column of ['ref', 'stage', 'name', 'pipeline_id'] as const) {
    const value = filter[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  if (!filter.all) query = query.where('retried', '=', 0)
  const ordered = query.orderBy(filter.order_by, filter.sort).orderBy('id').orderBy('is_job')
  return await listPage(db, ordered, page)
}

/** The status of this name and ref in a pipeline that has not ended yet. */
export async function findOpenStatus(
  db: Db,
  pipelineId: number,
  name: string,
  ref: string,
): Promise<CommitStatusRow | undefined> {
  return await db
    .selectFrom('commit_statuses')
    .selectAll()
    .where('pipeline_id', '=', pipelineId)
    .where('name', '=', name)
    .where('ref', '=', ref)
    .where('status', 'in', ['pending', 'running'])
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

export interface StatusValues {
  readonly status: PipelineStatus
  readonly target_url?: string | null | undefined
  readonly description?: string | null | undefined
  readonly coverage?: number | null | undefined
  readonly failure_reason: string | null
  readonly started_at: Instant | null
  readonly finished_at: Instant | null
}

export async function insertStatus(
  db: Db,
  values: StatusValues & {
    readonly project_id: number
    readonly pipeline_id: number
    readonly sha: string
    readonly ref: string
    readonly name: string
    readonly user_id: number | null
  },
  now: Instant,
): Promise<CommitStatusRow> {
  return await db
    .insertInto('commit_statuses')
    .values({ ...values, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateStatus(
  db: Db,
  id: number,
  values: StatusValues,
  now: Instant,
): Promise<CommitStatusRow> {
  return await db
    .updateTable('commit_statuses')
    .set({ ...values, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Marks the older statuses of a name in a pipeline: a newer one took their place. */
export async function retireOlder(db: Db, newest: CommitStatusRow): Promise<void> {
  await db
    .updateTable('commit_statuses')
    .set({ retried: true })
    .where('pipeline_id', '=', newest.pipeline_id)
    .where('name', '=', newest.name)
    .where('id', '<', newest.id)
    .where('retried', '=', 0)
    .execute()
}
