import type { InferResult, SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { PipelineStatus } from '../../store/schema/commits.ts'
import type { ChangesOf, Db, NewRowOf, RowOf, Schema } from '../../store/schema.ts'
import type { StatusPart } from './process/composite-status.ts'
import type { AskedStatus } from './statuses.ts'

export type JobRow = RowOf<'ci_jobs'> & {
  readonly stage: string
  readonly position: number
}

function jobs(db: Db) {
  return withStages(db.selectFrom('ci_jobs'))
}

function withStages(query: SelectQueryBuilder<Schema, 'ci_jobs', object>) {
  return query
    .innerJoin('ci_stages', 'ci_stages.id', 'ci_jobs.stage_id')
    .selectAll('ci_jobs')
    .select(['ci_stages.name as stage', 'ci_stages.position'])
}

export async function findJob(db: Db, projectId: number, id: number): Promise<JobRow | undefined> {
  return await jobs(db)
    .where('ci_jobs.project_id', '=', projectId)
    .where('ci_jobs.id', '=', id)
    .executeTakeFirst()
}

export async function findJobById(db: Db, id: number): Promise<JobRow | undefined> {
  return await jobs(db).where('ci_jobs.id', '=', id).executeTakeFirst()
}

/** The jobs that a runner had. */
export function selectRunnerJobs(
  db: Db,
  runnerId: number,
  filter: {
    readonly status?: PipelineStatus | undefined
    readonly systemId?: string | undefined
    readonly sort: 'asc' | 'desc'
  },
) {
  const { status, systemId, sort } = filter
  return jobs(db)
    .where('ci_jobs.runner_id', '=', runnerId)
    .$if(status !== undefined, (query) => query.where('ci_jobs.status', '=', status ?? 'created'))
    .$if(systemId !== undefined, (query) =>
      query.where('ci_jobs.runner_manager_id', 'in', (inner) =>
        inner
          .selectFrom('ci_runner_managers')
          .select('id')
          .where('runner_id', '=', runnerId)
          .where('system_id', '=', systemId ?? ''),
      ),
    )
    .orderBy('ci_jobs.id', sort)
}

/** The job of a name in a pipeline that counts. */
export async function findNamedJob(
  db: Db,
  pipelineId: number,
  name: string,
): Promise<JobRow | undefined> {
  return await jobs(db)
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .where('ci_jobs.name', '=', name)
    .where('ci_jobs.retried', '=', 0)
    .executeTakeFirst()
}

/** Jobs by id, those of one project. */
export async function listJobsById(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<JobRow[]> {
  return await jobs(db)
    .where('ci_jobs.project_id', '=', projectId)
    .where(sql<boolean>`ci_jobs.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
    .execute()
}

export async function findJobStatus(db: Db, id: number): Promise<PipelineStatus | undefined> {
  const row = await db
    .selectFrom('ci_jobs')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.status
}

/** Whom a job acts as. */
export interface JobUser {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly state: string
}

export async function findJobUser(db: Db, id: number | null): Promise<JobUser | undefined> {
  if (id === null) return undefined
  return await db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'email', 'state'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Jobs of a project that are no bridges, of some statuses if any are named, newest first. */
export function selectProjectJobs(db: Db, projectId: number, statuses: readonly AskedStatus[]) {
  const all = db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('project_id', '=', projectId)
    // Written out, as the index of statuses is for these alone.
    .where('kind', '=', sql.lit('build'))
  const [first, ...others] = [...new Set(statuses)].map((one) =>
    all.where('status', '=', one as PipelineStatus),
  )
  // One query for each status: SQLite reads them side by side by the index, and no row of another status.
  const found = others.reduce((sum, one) => sum.unionAll(one), first ?? all)
  return withStages(db.selectFrom(found.as('ci_jobs'))).orderBy('ci_jobs.id', 'desc')
}

/** Jobs of a pipeline, newest first. */
export function selectPipelineJobs(
  db: Db,
  pipelineId: number,
  filter: {
    readonly kind: 'build' | 'bridge'
    readonly statuses: readonly AskedStatus[]
    readonly includeRetried: boolean
  },
) {
  const { kind, statuses } = filter
  return jobs(db)
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .where('ci_jobs.kind', '=', kind)
    .$if(statuses.length > 0, (query) =>
      query.where('ci_jobs.status', 'in', statuses as readonly PipelineStatus[]),
    )
    .$if(!filter.includeRetried, (query) => query.where('ci_jobs.retried', '=', 0))
    .orderBy('ci_jobs.id', 'desc')
}

/** The jobs of a pipeline that count, in the order in which they were made. */
export async function listCurrentJobs(db: Db, pipelineId: number): Promise<JobRow[]> {
  return await jobs(db)
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .where('ci_jobs.retried', '=', 0)
    .orderBy('ci_jobs.id')
    .execute()
}

function jobStates(db: Db) {
  return db
    .selectFrom('ci_jobs')
    .innerJoin('ci_stages', 'ci_stages.id', 'ci_jobs.stage_id')
    .leftJoin('ci_running_jobs', 'ci_running_jobs.job_id', 'ci_jobs.id')
    .select(['ci_jobs.id', 'ci_jobs.name', 'ci_jobs.kind', 'ci_jobs.status', 'ci_jobs.run_when'])
    .select(['ci_jobs.start_in', 'ci_jobs.allow_failure', 'ci_jobs.uses_needs'])
    .select(['ci_jobs.resource_group', 'ci_jobs.interruptible', 'ci_stages.position'])
    .select((is) => is.fn.coalesce('ci_running_jobs.can_cancel', sql<0 | 1>`0`).as('can_cancel'))
}

/** What decides how the jobs of a pipeline go on. */
export type JobStateRow = InferResult<ReturnType<typeof jobStates>>[number]

/** The jobs of a pipeline that count, without what only a runner needs of them. */
export async function listJobStates(db: Db, pipelineId: number): Promise<JobStateRow[]> {
  return await jobStates(db)
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .where('ci_jobs.retried', '=', 0)
    .orderBy('ci_jobs.id')
    .execute()
}

/** Jobs that run for nobody: bridges whose pipeline is gone, and others whose runner or user was deleted. */
export async function listForsakenJobs(db: Db) {
  return await db
    .selectFrom('ci_jobs')
    .select(['id', 'pipeline_id', 'kind'])
    // The list of the index of waiting jobs, letter by letter: with any other, SQLite reads every job that there ever was.
    .where(sql<boolean>`status IN ('pending', 'running', 'canceling') AND status <> 'pending'`)
    .where(
      sql<boolean>`CASE kind WHEN 'bridge'
        THEN NOT EXISTS (SELECT 1 FROM pipeline_sources s WHERE s.job_id = ci_jobs.id)
        ELSE NOT EXISTS (SELECT 1 FROM ci_running_jobs r WHERE r.job_id = ci_jobs.id) END`,
    )
    .execute()
}

export async function findJobState(db: Db, id: number): Promise<JobStateRow | undefined> {
  return await jobStates(db).where('ci_jobs.id', '=', id).executeTakeFirst()
}

/** The different states of the jobs and reported statuses of a pipeline that count. */
export async function listParts(db: Db, pipelineId: number): Promise<StatusPart[]> {
  return await db
    .selectFrom('ci_jobs')
    .select(['status', 'allow_failure'])
    .where('pipeline_id', '=', pipelineId)
    .where('retried', '=', 0)
    .union(
      db
        .selectFrom('commit_statuses')
        .select(['status', 'allow_failure'])
        .where('pipeline_id', '=', pipelineId)
        .where('retried', '=', 0),
    )
    .execute()
}

/** The names that each job of a pipeline needs, by job. */
export async function needsByJob(db: Db, pipelineId: number): Promise<Map<number, string[]>> {
  const rows = await db
    .selectFrom('ci_job_needs')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_job_needs.job_id')
    .select(['ci_job_needs.job_id', 'ci_job_needs.name'])
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .execute()
  const found = new Map<number, string[]>()
  for (const row of rows) found.set(row.job_id, [...(found.get(row.job_id) ?? []), row.name])
  return found
}

export async function insertStages(
  db: Db,
  pipelineId: number,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map()
  const rows = await db
    .insertInto('ci_stages')
    .values(names.map((name, position) => ({ pipeline_id: pipelineId, name, position })))
    .returning(['id', 'name'])
    .execute()
  return new Map(rows.map((row) => [row.name, row.id]))
}

/** A job that is about to be made, with what it needs. */
export interface NewJob {
  readonly row: NewRowOf<'ci_jobs'>
  readonly needs: readonly { readonly name: string; readonly artifacts: boolean }[]
}

/** SQLite binds at most 32,766 values in one statement. */
const ROWS_AT_ONCE = 500

/** Adds jobs, and gives their ids in the same order. */
export async function insertJobs(db: Db, jobs: readonly NewJob[]): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < jobs.length; at += ROWS_AT_ONCE) {
    const rows = await db
      .insertInto('ci_jobs')
      .values(jobs.slice(at, at + ROWS_AT_ONCE).map((job) => job.row))
      .returning('id')
      .execute()
    ids.push(...rows.map((row) => row.id).sort((one, other) => one - other))
  }
  const needs = jobs.flatMap((job, at) =>
    job.needs.map((need) => ({ job_id: ids[at] ?? 0, ...need })),
  )
  for (let at = 0; at < needs.length; at += ROWS_AT_ONCE) {
    await db
      .insertInto('ci_job_needs')
      .values(needs.slice(at, at + ROWS_AT_ONCE))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  return ids
}

export async function updateJob(
  db: Db,
  id: number,
  values: Omit<ChangesOf<'ci_jobs'>, 'status'>,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('ci_jobs')
    .set({ ...values, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Adds a job like another that was not started yet, and puts it in the other's place. */
export async function replaceJob(
  db: Db,
  id: number,
  state: { readonly user_id: number | null; readonly retries: number },
  now: Instant,
): Promise<number> {
  const copied = [
    'project_id',
    'pipeline_id',
    'stage_id',
    'kind',
    'name',
    'run_when',
    'start_in',
    'allow_failure',
    'uses_needs',
    'tags',
    'options',
    'yaml_variables',
    'sealed_variables',
    'environment',
    'resource_group',
    'interruptible',
    'coverage_regex',
    'timeout',
    'node_index',
    'node_total',
  ] as const
  const copy = await db
    .insertInto('ci_jobs')
    .columns([...copied, 'retries', 'user_id', 'created_at', 'updated_at'])
    .expression((from) =>
      from
        .selectFrom('ci_jobs')
        .select(copied)
        .select([
          sql<number>`${state.retries}`.as('retries'),
          sql<number | null>`${state.user_id}`.as('user_id'),
          sql<string>`${now}`.as('created_at'),
          sql<string>`${now}`.as('updated_at'),
        ])
        .where('id', '=', id),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('ci_job_needs')
    .columns(['job_id', 'name', 'artifacts'])
    .expression((from) =>
      from
        .selectFrom('ci_job_needs')
        .select([sql<number>`${copy.id}`.as('job_id'), 'name', 'artifacts'])
        .where('job_id', '=', id),
    )
    .execute()
  await db.updateTable('ci_jobs').set({ retried: true }).where('id', '=', id).execute()
  return copy.id
}

/** The jobs of a resource group that have not begun, in the order of their ids. */
export function selectUpcoming(db: Db, projectId: number, group: string) {
  return jobs(db)
    .where('ci_jobs.project_id', '=', projectId)
    .where('ci_jobs.resource_group', '=', group)
    .where('ci_jobs.status', 'in', ['created', 'waiting_for_resource', 'scheduled', 'preparing'])
    .where('ci_jobs.retried', '=', 0)
    .orderBy('ci_jobs.id')
}
