import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { PipelineStatus } from '../../../store/schema/commits.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../../store/schema.ts'

/** A job whose status has changed. */
export interface MovedJob {
  readonly id: number
  readonly project_id: number
  readonly pipeline_id: number
  readonly kind: 'build' | 'bridge'
  readonly runner_id: number | null
  readonly environment: string | null
}

function oneOf(ids: readonly number[]) {
  return sql<number>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`
}

/** Changes the jobs among these that are in one of the states, and gives them in their order. */
export async function moveJobs(
  db: Db,
  ids: readonly number[],
  from: readonly PipelineStatus[],
  values: ChangesOf<'ci_jobs'>,
): Promise<MovedJob[]> {
  const rows = await db
    .updateTable('ci_jobs')
    .set(values)
    .where('id', 'in', oneOf(ids))
    .where('status', 'in', from)
    .returning(['id', 'project_id', 'pipeline_id', 'kind', 'runner_id', 'environment'])
    .execute()
  return rows.sort((one, other) => one.id - other.id)
}

/** Puts jobs where runners look for them. */
export async function insertPendingJobs(
  db: Db,
  ids: readonly number[],
  now: Instant,
): Promise<void> {
  if (ids.length === 0) return
  await db
    .insertInto('ci_pending_jobs')
    .columns(['job_id', 'project_id', 'tags', 'protected', 'queued_at'])
    .expression((from) =>
      from
        .selectFrom('ci_jobs')
        .innerJoin('pipelines', 'pipelines.id', 'ci_jobs.pipeline_id')
        .select(['ci_jobs.id', 'ci_jobs.project_id', 'ci_jobs.tags', 'pipelines.protected'])
        .select(sql<string>`${now}`.as('queued_at'))
        .where('ci_jobs.id', 'in', oneOf(ids))
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deletePendingJobs(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db.deleteFrom('ci_pending_jobs').where('job_id', 'in', oneOf(ids)).execute()
}

/** Ends the tokens of jobs. */
export async function deleteRunningJobs(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db.deleteFrom('ci_running_jobs').where('job_id', 'in', oneOf(ids)).execute()
}

export async function insertRunningJob(db: Db, row: NewRowOf<'ci_running_jobs'>): Promise<void> {
  await db.insertInto('ci_running_jobs').values(row).execute()
}

export async function updateRunningJob(
  db: Db,
  jobId: number,
  values: ChangesOf<'ci_running_jobs'>,
): Promise<void> {
  await db.updateTable('ci_running_jobs').set(values).where('job_id', '=', jobId).execute()
}

export type RunningJob = RowOf<'ci_running_jobs'>

/** What a runner has of a job, while it has it. */
export async function findRunningJob(db: Db, jobId: number): Promise<RunningJob | undefined> {
  return await db
    .selectFrom('ci_running_jobs')
    .selectAll()
    .where('job_id', '=', jobId)
    .executeTakeFirst()
}
