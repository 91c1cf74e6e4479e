import { sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import {
  groupsWithRole,
  hasProjectRole,
  seesProject,
  type Viewer,
} from '../../access/visible-queries.ts'
import type { Day, Instant } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type RunnerRow = RowOf<'ci_runners'>
export type ManagerRow = RowOf<'ci_runner_managers'>

export async function findRunner(db: Db, id: number): Promise<RunnerRow | undefined> {
  return await db.selectFrom('ci_runners').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function listRunnersById(db: Db, ids: readonly number[]): Promise<RunnerRow[]> {
  if (ids.length === 0) return []
  return await db.selectFrom('ci_runners').selectAll().where('id', 'in', ids).execute()
}

export async function findRunnerByDigest(db: Db, digest: Buffer): Promise<RunnerRow | undefined> {
  return await db
    .selectFrom('ci_runners')
    .selectAll()
    .where('token_digest', '=', digest)
    .executeTakeFirst()
}

export async function insertRunner(
  db: Db,
  row: NewRowOf<'ci_runners'>,
  projectId: number | undefined,
): Promise<RunnerRow> {
  const runner = await db
    .insertInto('ci_runners')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (projectId !== undefined) {
    await insertRunnerProject(db, { runner_id: runner.id, project_id: projectId, owner: true })
  }
  return runner
}

/** How many runners were made for a group, or first for a project. */
export async function countOwnRunners(
  db: Db,
  {
    groupId,
    projectId,
  }: { readonly groupId?: number | undefined; readonly projectId?: number | undefined },
): Promise<number> {
  const { count } = await db
    .selectFrom('ci_runners')
    .$if(groupId !== undefined, (query) => query.where('group_id', '=', groupId ?? 0))
    .$if(projectId !== undefined, (query) =>
      query.where('id', 'in', (inner) =>
        inner
          .selectFrom('ci_runner_projects')
          .select('runner_id')
          .where('project_id', '=', projectId ?? 0)
          .where('owner', '=', 1),
      ),
    )
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export async function updateRunner(
  db: Db,
  id: number,
  values: ChangesOf<'ci_runners'>,
): Promise<void> {
  await db.updateTable('ci_runners').set(values).where('id', '=', id).execute()
}

/** Puts a token in the place of another; false when the other was replaced, or its runner deleted, a moment ago. */
export async function replaceRunnerToken(
  db: Db,
  { id, token_digest }: Pick<RunnerRow, 'id' | 'token_digest'>,
  values: ChangesOf<'ci_runners'>,
): Promise<boolean> {
  const done = await db
    .updateTable('ci_runners')
    .set(values)
    .where('id', '=', id)
    .where('token_digest', '=', token_digest)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** False when it was gone already. */
export async function deleteRunner(db: Db, id: number): Promise<boolean> {
  const done = await db.deleteFrom('ci_runners').where('id', '=', id).executeTakeFirst()
  return done.numDeletedRows > 0n
}

export async function insertRunnerProject(
  db: Db,
  row: { readonly runner_id: number; readonly project_id: number; readonly owner: boolean },
): Promise<void> {
  await db.insertInto('ci_runner_projects').values(row).execute()
}

export async function deleteRunnerProject(
  db: Db,
  runnerId: number,
  projectId: number,
): Promise<void> {
  await db
    .deleteFrom('ci_runner_projects')
    .where('runner_id', '=', runnerId)
    .where('project_id', '=', projectId)
    .execute()
}

function runnerProjects(db: Db, runnerId: number) {
  return db
    .selectFrom('ci_runner_projects')
    .innerJoin('projects', 'projects.id', 'ci_runner_projects.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.id', 'projects.name', 'projects.path', 'projects.full_path'])
    .select(['namespaces.full_name as namespace_name', 'ci_runner_projects.owner'])
    .where('ci_runner_projects.runner_id', '=', runnerId)
    .orderBy('projects.id')
}

export async function listRunnerProjects(db: Db, runnerId: number) {
  return await runnerProjects(db, runnerId).execute()
}

/** Those of the projects of a runner that somebody sees: others serve strangers too. */
export async function listVisibleRunnerProjects(db: Db, runnerId: number, viewer: Viewer) {
  return await runnerProjects(db, runnerId).where(seesProject(viewer)).execute()
}

export async function findManager(
  db: Db,
  runnerId: number,
  systemId: string,
): Promise<ManagerRow | undefined> {
  return await db
    .selectFrom('ci_runner_managers')
    .selectAll()
    .where('runner_id', '=', runnerId)
    .where('system_id', '=', systemId)
    .executeTakeFirst()
}

export async function saveManager(
  db: Db,
  row: NewRowOf<'ci_runner_managers'>,
): Promise<ManagerRow> {
  const { runner_id: _, system_id: __, created_at: ___, ...changes } = row
  return await db
    .insertInto('ci_runner_managers')
    .values(row)
    .onConflict((conflict) => conflict.columns(['runner_id', 'system_id']).doUpdateSet(changes))
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteManager(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ci_runner_managers').where('id', '=', id))
}

/** Removes the machines that made no contact since. */
export async function deleteSilentManagers(db: Db, since: Instant): Promise<void> {
  await db
    .deleteFrom('ci_runner_managers')
    .where((is) => is.fn.coalesce('contacted_at', 'created_at'), '<=', since)
    .execute()
}

export async function listManagers(db: Db, runnerId: number): Promise<ManagerRow[]> {
  return await db
    .selectFrom('ci_runner_managers')
    .selectAll()
    .where('runner_id', '=', runnerId)
    .orderBy('id', 'desc')
    .execute()
}

export async function listManagersById(db: Db, ids: readonly number[]): Promise<ManagerRow[]> {
  if (ids.length === 0) return []
  return await db.selectFrom('ci_runner_managers').selectAll().where('id', 'in', ids).execute()
}

/** The newest manager of each runner: what its details say of its program. */
export async function newestManagers(
  db: Db,
  runnerIds: readonly number[],
): Promise<Map<number, ManagerRow>> {
  if (runnerIds.length === 0) return new Map()
  // With `max`, SQLite gives the other columns of the row that has it.
  const rows = await db
    .selectFrom('ci_runner_managers')
    .selectAll()
    .select((is) => is.fn.max('contacted_at').as('contacted_at'))
    .where('runner_id', 'in', runnerIds)
    .groupBy('runner_id')
    .execute()
  return new Map(rows.map((row) => [row.runner_id, row]))
}

/** Those of some runners that run a job. */
export async function listBusyRunners(db: Db, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('ci_running_jobs')
    .select('runner_id')
    .distinct()
    .where('runner_id', 'in', ids)
    .execute()
  return new Set(rows.map((row) => row.runner_id))
}

export interface RunnerFilter {
  readonly types?: readonly RunnerRow['runner_type'][] | undefined
  readonly paused?: boolean | undefined
  readonly status?: 'online' | 'offline' | 'stale' | 'never_contacted' | undefined
  readonly tags: readonly string[]
  readonly versionPrefix?: string | undefined
  readonly now: { readonly online: Instant; readonly stale: Instant }
}

export type RunnerPlace =
  | { readonly kind: 'all' }
  | { readonly kind: 'user'; readonly userId: number; readonly today: Day }
  | { readonly kind: 'project'; readonly id: number; readonly namespaceId: number }
  | { readonly kind: 'group'; readonly id: number }

function runnersAt(db: Db, place: RunnerPlace) {
  const query = db.selectFrom('ci_runners').selectAll('ci_runners')
  if (place.kind === 'all') return query
  if (place.kind === 'user') {
    const { userId, today } = place
    return query.where(
      sql<boolean>`(ci_runners.group_id IN ${groupsWithRole(userId, today, Role.owner)}
        OR ci_runners.id IN (SELECT rp.runner_id FROM ci_runner_projects rp
          JOIN projects ON projects.id = rp.project_id
          WHERE ${hasProjectRole(userId, today, Role.maintainer)}))`,
    )
  }
  if (place.kind === 'group') {
    return query.where(
      sql<boolean>`(ci_runners.runner_type = 'instance_type' OR ci_runners.group_id IN (
        SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = ${place.id}
        UNION SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = ${place.id}))`,
    )
  }
  return query.where(
    sql<boolean>`(ci_runners.runner_type = 'instance_type'
      OR ci_runners.id IN (SELECT runner_id FROM ci_runner_projects WHERE project_id = ${place.id})
      OR ci_runners.group_id IN (
        SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = ${place.namespaceId}))`,
  )
}

export async function listRunners(
  db: Db,
  place: RunnerPlace,
  filter: RunnerFilter,
  page: OffsetPage,
): Promise<Paged<RunnerRow>> {
  const { types = [], paused, status, tags, versionPrefix, now } = filter
  const query = runnersAt(db, place)
    .$if(types.length > 0, (query) => query.where('runner_type', 'in', types))
    .$if(paused !== undefined, (query) => query.where('paused', '=', paused ? 1 : 0))
    .$if(status === 'never_contacted', (query) => query.where('contacted_at', 'is', null))
    .$if(status === 'online', (query) => query.where('contacted_at', '>', now.online))
    .$if(status === 'offline', (query) => query.where('contacted_at', '<=', now.online))
    .$if(status === 'stale', (query) => query.where('contacted_at', '<=', now.stale))
    .$if(tags.length > 0, (query) =>
      query.where(
        sql<boolean>`(SELECT count(*) FROM json_each(ci_runners.tags) t
          WHERE t.value IN (SELECT value FROM json_each(${JSON.stringify(tags)}))) = ${tags.length}`,
      ),
    )
    .$if(versionPrefix !== undefined, (query) =>
      query.where((is) =>
        is.exists(
          is
            .selectFrom('ci_runner_managers')
            .select('id')
            .whereRef('runner_id', '=', 'ci_runners.id')
            .where(
              sql<boolean>`substr(version, 1, ${versionPrefix?.length ?? 0}) = ${versionPrefix ?? ''}`,
            ),
        ),
      ),
    )
    .orderBy('ci_runners.id', 'desc')
  return await listPage(db, query, page)
}
