import { type InferResult, sql } from 'kysely'
import type { Day } from '../base/clock.ts'
import { cachedQuery } from '../store/cached-query.ts'
import type { Db } from '../store/schema.ts'
import { belongsToGroup } from './visible-queries.ts'

/** A project as requests meet it: its row, with what is needed of its namespace. */
export type ProjectRow = InferResult<ReturnType<typeof projectQuery>>[number]

/** A group (a namespace of kind `group`). */
export type GroupRow = InferResult<ReturnType<typeof groupQuery>>[number]

/** Projects joined with what requests need of their namespaces; lists start from it too. */
export function projectQuery(db: Db) {
  return db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .selectAll('projects')
    .select([
      'namespaces.kind as namespace_kind',
      'namespaces.name as namespace_name',
      'namespaces.path as namespace_path',
      'namespaces.full_path as namespace_full_path',
      'namespaces.full_name as namespace_full_name',
      'namespaces.parent_id as namespace_parent_id',
      'namespaces.owner_id as namespace_owner_id',
      'namespaces.visibility as namespace_visibility',
      'namespaces.avatar_file as namespace_avatar_file',
      'namespaces.avatar_name as namespace_avatar_name',
      inArchivedGroup.as('namespace_archived'),
    ])
}

/** A project is archived with any group above it (docs/contract/D §2.4). */
const inArchivedGroup = sql<0 | 1>`(
  SELECT max(above.archived) FROM namespace_ancestors a JOIN namespaces above ON above.id = a.ancestor_id
  WHERE a.namespace_id = projects.namespace_id)`

/** Groups: namespaces of kind `group`. */
export function groupQuery(db: Db) {
  return db
    .selectFrom('namespaces')
    .selectAll('namespaces')
    .select(belowArchivedGroup.as('ancestor_archived'))
    .where('namespaces.kind', '=', 'group')
    .where('namespaces.pending_delete', '=', 0)
}

/** A group is archived with any group above it. */
const belowArchivedGroup = sql<0 | 1>`(
  SELECT max(above.archived) FROM namespace_ancestors a JOIN namespaces above ON above.id = a.ancestor_id
  WHERE a.namespace_id = namespaces.id)`

/** The project of this id, or undefined. Projects being deleted are not found (docs/contract/A-resolved §1). */
export function findProjectById(db: Db, id: number): Promise<ProjectRow | undefined> {
  return cachedQuery(db, `project ${id}`, (db) =>
    projectQuery(db)
      .where('projects.id', '=', id)
      .where('projects.pending_delete', '=', 0)
      .executeTakeFirst(),
  )
}

/** The project at this full path (case-insensitive), or undefined. */
export function findProjectByPath(db: Db, path: string): Promise<ProjectRow | undefined> {
  return cachedQuery(db, `project at ${path}`, (db) =>
    projectQuery(db)
      .where('projects.full_path', '=', path)
      .where('projects.pending_delete', '=', 0)
      .executeTakeFirst(),
  )
}

/** The id of the project that once had this path, or undefined. */
export async function findMovedProjectId(db: Db, path: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('redirects')
    .select('project_id')
    .where('path', '=', path)
    .executeTakeFirst()
  return row?.project_id
}

export function findGroupById(db: Db, id: number): Promise<GroupRow | undefined> {
  return cachedQuery(db, `group ${id}`, (db) =>
    groupQuery(db).where('namespaces.id', '=', id).executeTakeFirst(),
  )
}

export function findGroupByPath(db: Db, path: string): Promise<GroupRow | undefined> {
  return cachedQuery(db, `group at ${path}`, (db) =>
    groupQuery(db).where('namespaces.full_path', '=', path).executeTakeFirst(),
  )
}

/** A project, and the namespace that it is in now. */
type RoleIn = Pick<ProjectRow, 'id' | 'namespace_id'>

/** How a deploy key is linked to a project, if it is. */
export function findDeployKeyLink(db: Db, keyId: number, projectId: number) {
  return db
    .selectFrom('deploy_key_projects')
    .select('can_push')
    .where('key_id', '=', keyId)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/**
 * The user's effective role in a project, 0 for none: the highest of direct membership, membership of the namespace or
 * an ancestor, membership through groups invited to the project or to those (capped by the invitation), and ownership
 * of the personal namespace. Expired rows do not count (docs/contract/D §2.1).
 */
export function findProjectRole(
  db: Db,
  userId: number,
  project: RoleIn,
  today: Day,
): Promise<number> {
  const key = `role of ${userId} in ${project.id} of ${project.namespace_id} on ${today}`
  return cachedQuery(db, key, (db) => askProjectRole(db, userId, project, today))
}

// `CROSS JOIN` keeps the order of the tables: from the few links of a project, not from all memberships of the user.
async function askProjectRole(
  db: Db,
  userId: number,
  { id: projectId, namespace_id: namespaceId }: RoleIn,
  today: Day,
): Promise<number> {
  const result = await sql<{ role: number | null }>`
    WITH chain(id) AS MATERIALIZED (
      SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = ${namespaceId}
    ), link(group_id, access_level) AS MATERIALIZED (
      SELECT group_id, access_level FROM group_links
      WHERE (expires_at IS NULL OR expires_at > ${today})
        AND ((source_type = 'project' AND source_id = ${projectId})
          OR (source_type = 'group' AND source_id IN (SELECT id FROM chain)))
    )
    SELECT max(role) AS role FROM (
      SELECT 50 AS role FROM namespaces WHERE id = ${namespaceId} AND kind = 'user' AND owner_id = ${userId}
      UNION ALL
      SELECT access_level FROM members WHERE user_id = ${userId} AND source_type = 'project'
        AND source_id = ${projectId} AND requested_at IS NULL AND state = 'active'
        AND (expires_at IS NULL OR expires_at > ${today})
      UNION ALL
      SELECT access_level FROM members WHERE user_id = ${userId} AND source_type = 'group'
        AND source_id IN (SELECT id FROM chain) AND requested_at IS NULL AND state = 'active'
        AND (expires_at IS NULL OR expires_at > ${today})
      UNION ALL
      SELECT min(l.access_level, m.access_level) FROM link l
        CROSS JOIN namespace_ancestors a ON a.namespace_id = l.group_id
        CROSS JOIN members m ON m.source_type = 'group' AND m.source_id = a.ancestor_id AND m.user_id = ${userId}
        WHERE m.requested_at IS NULL AND m.state = 'active' AND (m.expires_at IS NULL OR m.expires_at > ${today})
    )`.execute(db)
  return result.rows[0]?.role ?? 0
}

/** The user's effective role in a group, 0 for none: as in a project, without the project's own rows. */
export function findGroupRole(
  db: Db,
  userId: number,
  groupId: number,
  today: Day,
): Promise<number> {
  const key = `role of ${userId} in group ${groupId} on ${today}`
  return cachedQuery(db, key, (db) => askGroupRole(db, userId, groupId, today))
}

async function askGroupRole(db: Db, userId: number, groupId: number, today: Day): Promise<number> {
  const result = await sql<{ role: number | null }>`
    WITH chain(id) AS MATERIALIZED (
      SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = ${groupId}
    ), link(group_id, access_level) AS MATERIALIZED (
      SELECT group_id, access_level FROM group_links
      WHERE (expires_at IS NULL OR expires_at > ${today})
        AND source_type = 'group' AND source_id IN (SELECT id FROM chain)
    )
    SELECT max(role) AS role FROM (
      SELECT access_level AS role FROM members WHERE user_id = ${userId} AND source_type = 'group'
        AND source_id IN (SELECT id FROM chain) AND requested_at IS NULL AND state = 'active'
        AND (expires_at IS NULL OR expires_at > ${today})
      UNION ALL
      SELECT min(l.access_level, m.access_level) FROM link l
        CROSS JOIN namespace_ancestors a ON a.namespace_id = l.group_id
        CROSS JOIN members m ON m.source_type = 'group' AND m.source_id = a.ancestor_id AND m.user_id = ${userId}
        WHERE m.requested_at IS NULL AND m.state = 'active' AND (m.expires_at IS NULL OR m.expires_at > ${today})
    )`.execute(db)
  return result.rows[0]?.role ?? 0
}

/** Whether a private group opens to the user, who belongs to it or to something below it (docs/contract/D §2.4). */
export async function isMemberBelow(
  db: Db,
  userId: number,
  groupId: number,
  today: Day,
): Promise<boolean> {
  const row = await db
    .selectFrom('namespaces')
    .select('namespaces.id')
    .where('namespaces.id', '=', groupId)
    .where(belongsToGroup(userId, today))
    .executeTakeFirst()
  return row !== undefined
}
