import { type RawBuilder, sql } from 'kysely'
import { projectQuery } from '../../access/find-queries.ts'
import { groupsWithRole, hasProjectRole, isLive } from '../../access/visible-queries.ts'
import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** The user's highest level in a namespace, by the memberships there and above. */
function groupLevel(userId: number, today: Day, namespaceId: RawBuilder<unknown>) {
  return sql<number | null>`(select max(m.access_level) from members m
    where m.user_id = ${userId} and m.source_type = 'group' and ${isLive(today)}
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
  return projectQuery(db)
    .select([
      sql<number | null>`(select m.access_level from members m
        where m.user_id = ${userId} and m.source_type = 'project' and m.source_id = projects.id
          and ${isLive(today)})`.as('project_level'),
      groupLevel(userId, today, sql`projects.namespace_id`).as('group_level'),
    ])
    .where('projects.pending_delete', '=', 0)
    .where(hasProjectRole(userId, today, least))
    .orderBy('projects.id')
    .limit(limit)
    .execute()
}
