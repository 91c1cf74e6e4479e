import { sql } from 'kysely'
import { isLive } from '../../access/visible-queries.ts'
import type { Day, Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'

export type NewProjectRow = NewRowOf<'projects'>
export type ProjectChange = ChangesOf<'projects'>

export async function insertProject(db: Db, row: NewProjectRow): Promise<number> {
  const { id } = await db
    .insertInto('projects')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateProjectRow(db: Db, id: number, change: ProjectChange): Promise<void> {
  await db.updateTable('projects').set(change).where('id', '=', id).execute()
}

/** Shows a project that was being made, unless it was cleared away meanwhile or its group is being removed. */
export async function showProject(db: Db, id: number): Promise<boolean> {
  const done = await db
    .updateTable('projects')
    .set({ pending_delete: 0 })
    .where('id', '=', id)
    .where('pending_delete', '=', 1)
    .where('namespace_id', 'in', (eb) =>
      eb
        .selectFrom('namespaces')
        .select('namespaces.id')
        .where('namespaces.pending_delete', '=', 0),
    )
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

export async function deleteProjectRow(db: Db, id: number): Promise<void> {
  await db.deleteFrom('projects').where('id', '=', id).where('pending_delete', '=', 1).execute()
}

/** Whether there is the row of a project that is being made or removed. */
export async function isHidden(db: Db, id: number): Promise<boolean> {
  const row = await db
    .selectFrom('projects')
    .select('pending_delete')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.pending_delete === 1
}

/** A deleted project gives its paths back at once: nothing redirects to it any more. */
export async function deleteRedirects(db: Db, projectId: number): Promise<void> {
  await db.deleteFrom('redirects').where('project_id', '=', projectId).execute()
}

/** Which of name and path a project of the namespace has already, and whether anything is at the full path. */
export async function findTaken(
  db: Db,
  wanted: { namespaceId: number; name: string; path: string; fullPath: string; except?: number },
): Promise<{ name: boolean; path: boolean }> {
  const rows = await db
    .selectFrom('projects')
    .select(['name', 'path'])
    .where('namespace_id', '=', wanted.namespaceId)
    .where('id', '!=', wanted.except ?? 0)
    .where((eb) => eb.or([eb('name', '=', wanted.name), eb('path', '=', wanted.path)]))
    .execute()
  const route = await db
    .selectFrom('routes')
    .select(['namespace_id', 'project_id'])
    .where('path', '=', wanted.fullPath)
    .executeTakeFirst()
  const lower = wanted.name.toLowerCase()
  return {
    name: rows.some((row) => row.name.toLowerCase() === lower),
    path: route !== undefined && route.project_id !== (wanted.except ?? null),
  }
}

/** A namespace by id, as creation needs it. */
export async function findNamespaceRow(db: Db, id: number) {
  return await db.selectFrom('namespaces').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findNamespaceRowByPath(db: Db, path: string) {
  return await db
    .selectFrom('namespaces')
    .selectAll()
    .where('full_path', '=', path)
    .executeTakeFirst()
}

export async function findPersonalNamespace(db: Db, userId: number) {
  return await db
    .selectFrom('namespaces')
    .selectAll()
    .where('owner_id', '=', userId)
    .where('kind', '=', 'user')
    .executeTakeFirst()
}

/** How many projects a user may have in the own namespace, and how many there are. */
export async function findProjectQuota(db: Db, userId: number) {
  return await db
    .selectFrom('users')
    .select((eb) => [
      'users.projects_limit',
      eb
        .selectFrom('projects')
        .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
        .whereRef('namespaces.owner_id', '=', 'users.id')
        .where('projects.pending_delete', '=', 0)
        .select(eb.fn.countAll<number>().as('count'))
        .as('count'),
    ])
    .where('users.id', '=', userId)
    .executeTakeFirst()
}

export async function listProjectAttributes(db: Db, projectIds: readonly number[]) {
  return await db
    .selectFrom('custom_attributes')
    .select(['subject_id', 'key', 'value'])
    .where('subject_type', '=', 'project')
    .where('subject_id', 'in', projectIds)
    .orderBy('id')
    .execute()
}

/** Open issues that anybody who reads the issues of a project sees. */
export async function countOpenIssues(db: Db, projectIds: readonly number[]) {
  return await db
    .selectFrom('issues')
    .select((eb) => ['project_id', eb.fn.countAll<number>().as('count')])
    .where('project_id', 'in', projectIds)
    .where('state', '=', 'opened')
    .where('confidential', '=', 0)
    .groupBy('project_id')
    .execute()
}

/** When the images of projects are next tidied up; those where it is off have no row. */
export function listImageCleanups(db: Db, projectIds: readonly number[]) {
  return db
    .selectFrom('container_cleanup_runs')
    .select(['project_id', 'next_run_at'])
    .where('project_id', 'in', projectIds)
    .execute()
}

/**
 * What the user has in each of these projects: by the project itself (own membership, ownership of the namespace,
 * groups invited to the project) and by its groups (membership there and above, groups invited there).
 * `CROSS JOIN` keeps the order of the tables: from the few groups above a project, not from all memberships of the user.
 */
export async function listAccess(
  db: Db,
  userId: number,
  projectIds: readonly number[],
  today: Day,
): Promise<readonly { id: number; project_level: number | null; group_level: number | null }[]> {
  const live = isLive(today)
  // Of an invited group `l`, what the user has there and above, and no more than the invitation gives.
  const invited = sql`CROSS JOIN namespace_ancestors above ON above.namespace_id = l.group_id
          CROSS JOIN members m ON m.source_type = 'group' AND m.source_id = above.ancestor_id
            AND m.user_id = ${userId} AND ${live}`
  const { rows } = await sql<{
    id: number
    project_level: number | null
    group_level: number | null
  }>`
    SELECT p.id,
      (SELECT max(level) FROM (
        SELECT m.access_level AS level FROM members m WHERE m.user_id = ${userId}
          AND m.source_type = 'project' AND m.source_id = p.id AND ${live}
        UNION ALL
        SELECT 50 FROM namespaces n WHERE n.id = p.namespace_id AND n.kind = 'user' AND n.owner_id = ${userId}
        UNION ALL
        SELECT min(l.access_level, m.access_level) FROM group_links l ${invited}
          WHERE l.source_type = 'project' AND l.source_id = p.id
            AND (l.expires_at IS NULL OR l.expires_at > ${today}))) AS project_level,
      (SELECT max(level) FROM (
        SELECT m.access_level AS level FROM namespace_ancestors a
          CROSS JOIN members m ON m.source_type = 'group' AND m.source_id = a.ancestor_id
            AND m.user_id = ${userId} AND ${live}
          WHERE a.namespace_id = p.namespace_id
        UNION ALL
        SELECT min(l.access_level, m.access_level) FROM namespace_ancestors a
          CROSS JOIN group_links l ON l.source_type = 'group' AND l.source_id = a.ancestor_id
            AND (l.expires_at IS NULL OR l.expires_at > ${today}) ${invited}
          WHERE a.namespace_id = p.namespace_id)) AS group_level
    FROM projects p WHERE p.id IN (${sql.join(projectIds)})`.execute(db)
  return rows
}

/** How visible the project is that this one was forked from, if it was. */
export async function findParentVisibility(db: Db, projectId: number) {
  const row = await db
    .selectFrom('projects')
    .innerJoin('projects as parent', 'parent.id', 'projects.forked_from_id')
    .select('parent.visibility')
    .where('projects.id', '=', projectId)
    .executeTakeFirst()
  return row?.visibility
}

/** Stars a project; false when the user has done so already. */
export async function insertStar(
  db: Db,
  star: { user_id: number; project_id: number; created_at: Instant },
): Promise<boolean> {
  const done = await db
    .insertInto('stars')
    .values(star)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (done.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function deleteStar(db: Db, userId: number, projectId: number): Promise<boolean> {
  const done = await db
    .deleteFrom('stars')
    .where('user_id', '=', userId)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}

/** Projects whose time to be removed has come. */
export async function listMarkedBefore(db: Db, day: Day) {
  return await db
    .selectFrom('projects')
    .select('id')
    .where('marked_for_deletion_on', '<=', day)
    .where('pending_delete', '=', 0)
    .execute()
}

export async function saveRepositorySize(db: Db, projectId: number, size: number): Promise<void> {
  await db
    .updateTable('projects')
    .set({ repository_size: size })
    .where('id', '=', projectId)
    .where('repository_size', '!=', size)
    .execute()
}

/** Active users who starred a project, the earliest first. */
export function listStarrers(
  db: Db,
  projectId: number,
  search: string | undefined,
  page: OffsetPage,
) {
  const query = db
    .selectFrom('stars')
    .innerJoin('users', 'users.id', 'stars.user_id')
    .select(userBasicColumns)
    .select('stars.created_at as starred_since')
    .where('stars.project_id', '=', projectId)
    .where('users.state', '=', 'active')
    .where((is) => is.and(matchesSearch(search ?? '', ['users.name', 'users.username'])))
    .orderBy('stars.created_at')
    .orderBy('users.id')
  return listPage(db, query, page)
}

/** Whether a task with this key waits or runs. */
export async function isTaskWaiting(db: Db, name: string, uniqueKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('id')
    .where('name', '=', name)
    .where('unique_key', '=', uniqueKey)
    .where('state', 'in', ['ready', 'running'])
    .executeTakeFirst()
  return row !== undefined
}
