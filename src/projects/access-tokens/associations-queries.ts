import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { groupsWithRole, hasProjectRole } from '../../access/visible-queries.ts'
import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** Whether the row of `members m` is in force. */
const live = (today: Day) =>
  sql<SqlBool>`m.requested_at is null and m.state = 'active'
    and (m.expires_at is null or m.expires_at > ${today})`

/** The user's highest level in a namespace, by the memberships there and above. */
function groupLevel(userId: number, today: Day, namespaceId: RawBuilder<unknown>) {
  return sql<number | null>`(select max(m.access_level) from members m
    where m.user_id = ${userId} and m.source_type = 'group' and ${live(today)}
      and m.source_id in (select ancestor_id from namespace_ancestors
        where namespace_id = ${namespaceId}))`
}

/** Groups in which the user has at least this role. */
export function listGroupsOf(db: Db, userId: number, least: number, today: Day, limit: number) {
  return db
    .selectFrom('namespaces')
    .select([
      'id',
      'name',
      'full_path',
      'parent_id',
      'visibility',
      groupLevel(userId, today, sql`namespaces.id`).as('level'),
    ])
    .where('kind', '=', 'group')
    .where('pending_delete', '=', 0)
    .where(sql<boolean>`namespaces.id in ${groupsWithRole(userId, today, least)}`)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Projects in which the user has at least this role. */
export function listProjectsOf(db: Db, userId: number, least: number, today: Day, limit: number) {
  return db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select([
      'projects.id',
      'projects.description',
      'projects.name',
      'projects.path',
      'projects.full_path',
      'projects.created_at',
      'projects.visibility',
      'namespaces.id as namespace_id',
      'namespaces.kind as namespace_kind',
      'namespaces.name as namespace_name',
      'namespaces.path as namespace_path',
      'namespaces.full_path as namespace_full_path',
      'namespaces.full_name as namespace_full_name',
      'namespaces.parent_id as namespace_parent_id',
      'namespaces.owner_id as namespace_owner_id',
      'namespaces.avatar_file as namespace_avatar_file',
      'namespaces.avatar_name as namespace_avatar_name',
      sql<number | null>`(select m.access_level from members m
        where m.user_id = ${userId} and m.source_type = 'project' and m.source_id = projects.id
          and ${live(today)})`.as('project_level'),
      groupLevel(userId, today, sql`projects.namespace_id`).as('group_level'),
    ])
    .where('projects.pending_delete', '=', 0)
    .where(hasProjectRole(userId, today, least))
    .orderBy('projects.id')
    .limit(limit)
    .execute()
}
