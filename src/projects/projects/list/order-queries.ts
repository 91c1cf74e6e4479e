import { type RawBuilder, sql } from 'kysely'
import type { Viewer } from '../../../access/visible-queries.ts'
import type { Db } from '../../../store/schema.ts'
import { containing } from '../../../store/search.ts'
import { sumArtifacts } from '../../statistics/queries.ts'
import type { ProjectFilters } from './params.ts'

export type Query = ReturnType<typeof idQuery>

/** Ids alone are found and ordered; what is shown of the projects is read for those of the page. */
export function idQuery(db: Db) {
  return db.selectFrom('projects').select('projects.id')
}

const orderColumns = {
  id: 'projects.id',
  name: 'projects.name',
  path: 'projects.path',
  created_at: 'projects.created_at',
  updated_at: 'projects.updated_at',
  star_count: 'projects.star_count',
  last_activity_at: 'projects.last_activity_at',
} as const

const wikiSize = sql<number>`coalesce(
  (SELECT size FROM wiki_snippet_repositories WHERE wiki_snippet_repositories.project_id = projects.id), 0)`
const packagesSize = sql<number>`coalesce(
  (SELECT sum(size) FROM package_files WHERE package_files.project_id = projects.id), 0)`
/** The sum that the statistics of a project show. */
const storageSize = sql<number>`projects.repository_size + ${wikiSize} + ${packagesSize}
  + ${sumArtifacts(sql`projects.id`)}
  + coalesce((SELECT sum(size) FROM uploads
    WHERE source_type = 'project' AND source_id = projects.id), 0)
  + coalesce((SELECT sum(size) FROM lfs_objects WHERE lfs_objects.project_id = projects.id), 0)
  + coalesce((SELECT sum(r.size) FROM snippets s JOIN wiki_snippet_repositories r
    ON r.snippet_id = s.id WHERE s.project_id = projects.id), 0)`

/** For administrators. */
const sizeOrders = new Map<string, RawBuilder<number>>([
  ['repository_size', sql<number>`projects.repository_size`],
  ['wiki_size', wikiSize],
  ['packages_size', packagesSize],
  ['storage_size', storageSize],
])

/** The order that was asked for, newest first by default; ids decide between equals. */
export function ordered(query: Query, viewer: Viewer, filters: ProjectFilters): Query {
  const sort = filters.sort ?? 'desc'
  if (filters.order_by === 'similarity' && filters.search) {
    const { search } = filters
    const inside = containing(search)
    const prefix = inside.slice(1)
    const rank = sql`CASE WHEN projects.path = ${search} OR projects.name = ${search} THEN 3
      WHEN projects.path LIKE ${prefix} ESCAPE '\\' OR projects.name LIKE ${prefix} ESCAPE '\\' THEN 2
      WHEN projects.path LIKE ${inside} ESCAPE '\\' OR projects.name LIKE ${inside} ESCAPE '\\' THEN 1
      ELSE 0 END`
    return query.orderBy(rank, sort).orderBy('projects.id', sort)
  }
  const size = viewer.admin ? sizeOrders.get(filters.order_by ?? '') : undefined
  if (size) return query.orderBy(size, sort).orderBy('projects.id', sort)
  const name = filters.order_by ?? 'created_at'
  const column =
    name in orderColumns ? orderColumns[name as keyof typeof orderColumns] : orderColumns.created_at
  const first = query.orderBy(column, sort)
  return column === 'projects.id' ? first : first.orderBy('projects.id', sort)
}
