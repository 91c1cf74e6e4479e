import { sql } from 'kysely'
import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'
import { isInForce } from './queries.ts'

/** Accepted direct memberships of a user, with the names of their groups and projects. */
export function membershipsQuery(
  db: Db,
  userId: number,
  today: Day,
  type: 'Project' | 'Namespace' | undefined,
) {
  const query = db
    .selectFrom('members')
    .leftJoin('namespaces', (join) =>
      join.onRef('namespaces.id', '=', 'members.source_id').on('members.source_type', '=', 'group'),
    )
    .leftJoin('projects', (join) =>
      join.onRef('projects.id', '=', 'members.source_id').on('members.source_type', '=', 'project'),
    )
    .select([
      'members.source_id',
      sql<string>`coalesce(namespaces.name, projects.name, '')`.as('source_name'),
      sql<'Project' | 'Namespace'>`case members.source_type
        when 'project' then 'Project' else 'Namespace' end`.as('source_type'),
      'members.access_level',
    ])
    .where('members.user_id', '=', userId)
    .where(isInForce(today))
    .orderBy('members.id')
  if (type === undefined) return query
  return query.where('members.source_type', '=', type === 'Project' ? 'project' : 'group')
}
