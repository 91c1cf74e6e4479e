import { sql } from 'kysely'
import { isLive } from '../../access/visible-queries.ts'
import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** Accepted direct memberships of a user, with the names of their groups and projects. */
export function membershipsQuery(
  db: Db,
  userId: number,
  today: Day,
  type: 'Project' | 'Namespace' | undefined,
) {
  const query = db
    .selectFrom('members as m')
    .leftJoin('namespaces', (join) =>
      join.onRef('namespaces.id', '=', 'm.source_id').on('m.source_type', '=', 'group'),
    )
    .leftJoin('projects', (join) =>
      join.onRef('projects.id', '=', 'm.source_id').on('m.source_type', '=', 'project'),
    )
    .select([
      'm.source_id',
      sql<string>`coalesce(namespaces.name, projects.name, '')`.as('source_name'),
      sql<'Project' | 'Namespace'>`case m.source_type
        when 'project' then 'Project' else 'Namespace' end`.as('source_type'),
      'm.access_level',
    ])
    .where('m.user_id', '=', userId)
    .where(isLive(today))
    .orderBy('m.id')
  if (type === undefined) return query
  return query.where('m.source_type', '=', type === 'Project' ? 'project' : 'group')
}
