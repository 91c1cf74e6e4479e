import { sql } from 'kysely'
import type { Day, Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { DeploymentStatus } from '../../store/schema/environments.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type EnvironmentRow = RowOf<'environments'>
export type DeploymentRow = RowOf<'deployments'>
export type ApprovalRow = RowOf<'deployment_approvals'>

export async function findEnvironment(db: Db, id: number): Promise<EnvironmentRow | undefined> {
  return await db.selectFrom('environments').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findEnvironmentByName(
  db: Db,
  projectId: number,
  name: string,
): Promise<EnvironmentRow | undefined> {
  return await db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .executeTakeFirst()
}

export interface EnvironmentFilter {
  readonly name?: string | undefined
  readonly search?: string | undefined
  readonly states?: EnvironmentRow['state'] | undefined
}

export function listEnvironments(
  db: Db,
  projectId: number,
  { name, search, states }: EnvironmentFilter,
  page: OffsetPage,
) {
  const query = db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .$if(search !== undefined, (query) =>
      query.where(sql<boolean>`instr(lower(name), ${(search ?? '').toLowerCase()}) > 0`),
    )
    .$if(states !== undefined, (query) => query.where('state', '=', states ?? 'available'))
    .orderBy('name')
  return listPage(db, query, page)
}

/** Environments whose time to be stopped has come. */
export async function listStopDue(db: Db, now: Instant): Promise<EnvironmentRow[]> {
  return await db
    .selectFrom('environments')
    .selectAll()
    .where('state', '=', 'available')
    .where('auto_stop_at', '<=', now)
    .limit(200)
    .execute()
}

/** Available environments that nothing was deployed to since a moment. */
export async function listStale(db: Db, projectId: number, before: Instant) {
  return await db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('state', '=', 'available')
    .where('updated_at', '<', before)
    .where(
      sql<boolean>`NOT EXISTS (SELECT 1 FROM deployments d
        WHERE d.environment_id = environments.id AND d.updated_at >= ${before})`,
    )
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom('protected_environments')
            .select('protected_environments.id')
            .whereRef('protected_environments.project_id', '=', 'environments.project_id')
            .whereRef('protected_environments.name', '=', 'environments.name'),
        ),
      ),
    )
    .orderBy('id')
    .execute()
}

/** Stopped environments below `review/` that were made before a moment, the oldest first. */
export async function listReviewApps(
  db: Db,
  projectId: number,
  before: Instant,
  limit: number,
): Promise<EnvironmentRow[]> {
  return await db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('state', '=', 'stopped')
    .where('name', 'like', 'review/%')
    .where('created_at', '<', before)
    .orderBy('id')
    .limit(limit)
    .execute()
}

export async function insertEnvironment(
  db: Db,
  row: NewRowOf<'environments'>,
): Promise<EnvironmentRow> {
  return await db.insertInto('environments').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function updateEnvironment(
  db: Db,
  id: number,
  values: ChangesOf<'environments'>,
): Promise<EnvironmentRow> {
  return await db
    .updateTable('environments')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Deletes an environment that is stopped; false where it is not, or is gone. */
export async function deleteStopped(db: Db, id: number): Promise<boolean> {
  const done = await db
    .deleteFrom('environments')
    .where('id', '=', id)
    .where('state', '=', 'stopped')
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}

export async function findDeployment(db: Db, id: number): Promise<DeploymentRow | undefined> {
  return await db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The deployment of a project that was made last, as an example for hooks that are tried out. */
export async function findNewestDeployment(
  db: Db,
  projectId: number,
): Promise<DeploymentRow | undefined> {
  return await db
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

export async function findDeploymentOfJob(
  db: Db,
  jobId: number,
): Promise<DeploymentRow | undefined> {
  return await db
    .selectFrom('deployments')
    .selectAll()
    .where('job_id', '=', jobId)
    .executeTakeFirst()
}

/** The newest deployment of an environment, of one status when given. */
export async function findLastDeployment(
  db: Db,
  environmentId: number,
  status?: DeploymentStatus,
): Promise<DeploymentRow | undefined> {
  return await db
    .selectFrom('deployments')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'success'))
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

/**
 * Whether a newer pipeline than a job's was deployed to an environment. A job that was run again brings an old state back
 * on purpose, where that is allowed.
 */
export async function isOutdated(
  db: Db,
  deployment: DeploymentRow,
  allowsRollback: boolean,
): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    SELECT 1 AS found FROM ci_jobs own
    JOIN deployments d ON d.environment_id = ${deployment.environment_id} AND d.status = 'success'
    JOIN ci_jobs other ON other.id = d.job_id AND other.pipeline_id > own.pipeline_id
    WHERE own.id = ${deployment.job_id}
      AND (${allowsRollback ? 1 : 0} = 0 OR NOT EXISTS (SELECT 1 FROM ci_jobs before
        WHERE before.pipeline_id = own.pipeline_id AND before.name = own.name AND before.retried = 1))
    LIMIT 1`.execute(db)
  return rows.length > 0
}

export interface DeploymentFilter {
  readonly environment?: string | undefined
  readonly status?: DeploymentStatus | undefined
  readonly updated_after?: Instant | undefined
  readonly updated_before?: Instant | undefined
  readonly finished_after?: Instant | undefined
  readonly finished_before?: Instant | undefined
  readonly order_by: 'id' | 'iid' | 'created_at' | 'updated_at' | 'finished_at' | 'ref'
  readonly sort: 'asc' | 'desc'
}

export function listDeployments(
  db: Db,
  projectId: number,
  filter: DeploymentFilter,
  page: OffsetPage,
) {
  let query = db.selectFrom('deployments').selectAll().where('project_id', '=', projectId)
  const { environment, status } = filter
  if (environment !== undefined) {
    query = query.where((is) =>
      is(
        'environment_id',
        'in',
        is
          .selectFrom('environments')
          .select('id')
          .where('project_id', '=', projectId)
          .where('name', '=', environment),
      ),
    )
  }
  if (status !== undefined) query = query.where('status', '=', status)
  const times = [
    ['updated_at', '>', filter.updated_after],
    ['updated_at', '<', filter.updated_before],
    ['finished_at', '>', filter.finished_after],
    ['finished_at', '<', filter.finished_before],
  ] as const
  for (const [column, sign, value] of times) {
    if (value !== undefined) query = query.where(column, sign, value)
  }
  return listPage(db, query.orderBy(filter.order_by, filter.sort).orderBy('id', filter.sort), page)
}

export async function insertDeployment(
  db: Db,
  row: NewRowOf<'deployments'>,
): Promise<DeploymentRow> {
  return await db.insertInto('deployments').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function updateDeployment(
  db: Db,
  id: number,
  values: ChangesOf<'deployments'>,
): Promise<DeploymentRow> {
  return await db
    .updateTable('deployments')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteDeployment(db: Db, id: number): Promise<void> {
  await db.deleteFrom('deployments').where('id', '=', id).execute()
}

export async function listApprovals(db: Db, deploymentId: number): Promise<ApprovalRow[]> {
  return await db
    .selectFrom('deployment_approvals')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .orderBy('id')
    .execute()
}

export async function saveApproval(db: Db, row: NewRowOf<'deployment_approvals'>): Promise<void> {
  await db
    .insertInto('deployment_approvals')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['deployment_id', 'user_id'])
        .doUpdateSet({ status: row.status, comment: row.comment ?? null }),
    )
    .execute()
}

export async function deleteApprovals(db: Db, deploymentId: number): Promise<void> {
  await db.deleteFrom('deployment_approvals').where('deployment_id', '=', deploymentId).execute()
}

/** A job that deploys, with what its deployment is made of. */
export interface DeployingJob {
  readonly id: number
  readonly project_id: number
  readonly user_id: number | null
  readonly status: string
  readonly environment: string
  readonly ref: string
  readonly tag: 0 | 1
  readonly sha: string
  readonly namespace_id: number
}

/** Those of some jobs that are about an environment. */
export async function listDeployingJobs(
  db: Db,
  jobIds: readonly number[],
): Promise<DeployingJob[]> {
  const rows = await db
    .selectFrom('ci_jobs')
    .innerJoin('pipelines', 'pipelines.id', 'ci_jobs.pipeline_id')
    .innerJoin('projects', 'projects.id', 'ci_jobs.project_id')
    .select(['ci_jobs.id', 'ci_jobs.project_id', 'ci_jobs.user_id', 'ci_jobs.status'])
    .select(['ci_jobs.environment', 'pipelines.ref', 'pipelines.tag', 'pipelines.sha'])
    .select('projects.namespace_id')
    .where('ci_jobs.environment', 'is not', null)
    .where(sql<boolean>`ci_jobs.id IN (SELECT value FROM json_each(${JSON.stringify(jobIds)}))`)
    .orderBy('ci_jobs.id')
    .execute()
  return rows.flatMap(({ environment, ...row }) =>
    environment === null ? [] : [{ ...row, environment }],
  )
}

/** Who may deploy or must approve, of the protections that hold for an environment: its own and those of its tier. */
export async function listProtections(
  db: Db,
  at: {
    readonly projectId: number
    readonly namespaceId: number
    readonly name: string
    readonly tier: string
  },
) {
  return await db
    .selectFrom('protected_environments as protection')
    .leftJoin('protected_environment_levels as level', (join) =>
      join.onRef('level.protected_environment_id', '=', 'protection.id'),
    )
    .select(['protection.id', 'protection.required_approval_count'])
    .select(['level.id as level_id', 'level.kind', 'level.access_level', 'level.user_id'])
    .select(['level.group_id', 'level.group_inheritance_type', 'level.required_approvals'])
    .where((is) =>
      is.or([
        is.and([
          is('protection.project_id', '=', at.projectId),
          is('protection.name', '=', at.name),
        ]),
        is.and([
          is('protection.name', '=', at.tier),
          is(
            'protection.group_id',
            'in',
            is
              .selectFrom('namespace_ancestors')
              .select('ancestor_id')
              .where('namespace_id', '=', at.namespaceId),
          ),
        ]),
      ]),
    )
    .orderBy('protection.id')
    .orderBy('level.id')
    .execute()
}

/** The role that somebody has by their own membership in a group, 0 for none. */
export async function findOwnGroupRole(
  db: Db,
  userId: number,
  groupId: number,
  today: Day,
): Promise<number> {
  const row = await db
    .selectFrom('members')
    .select('access_level')
    .where('source_type', '=', 'group')
    .where('source_id', '=', groupId)
    .where('user_id', '=', userId)
    .where('requested_at', 'is', null)
    .where('state', '=', 'active')
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', today)]))
    .executeTakeFirst()
  return row?.access_level ?? 0
}
