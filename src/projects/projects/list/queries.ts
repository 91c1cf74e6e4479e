import { type Expression, type SqlBool, sql } from 'kysely'
import { type ProjectRow, projectQuery } from '../../../access/find-queries.ts'
import {
  hasProjectRole,
  seesProject,
  seesProjectWhenCounted,
  type Viewer,
} from '../../../access/visible-queries.ts'
import type { Page, Paged } from '../../../base/page.ts'
import { namespacesAbove, namespacesBelow } from '../../../store/hierarchy.ts'
import { listPage } from '../../../store/pages.ts'
import type { Db } from '../../../store/schema.ts'
import { matchesSearch } from '../../../store/search.ts'
import { stateConditions } from '../../namespaces/list-conditions.ts'
import type { Scope } from './filters.ts'
import { idQuery, ordered, type Query } from './order-queries.ts'
import type { ProjectFilters } from './params.ts'

type Condition = Expression<SqlBool>

function anyOf(conditions: readonly Condition[]): Condition {
  return sql<SqlBool>`(${sql.join(conditions, sql` OR `)})`
}

function joined(query: Query): Query {
  // Each project has its namespace, so that the join neither adds nor loses rows; conditions may name its columns.
  const wider = query.innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
  return wider as unknown as Query
}

/** The projects of a scope that the viewer sees, narrowed and ordered. */
export async function listProjectRows(
  db: Db,
  viewer: Viewer,
  scope: Scope,
  filters: ProjectFilters,
  page: Page,
): Promise<Paged<ProjectRow>> {
  const conditions = [
    ...scopeConditions(scope, viewer),
    ...stateConditions('project', isArchived, filters, viewer),
    ...otherConditions(viewer, filters),
    ...memberConditions(viewer, filters),
    ...contentConditions(filters),
    ...timeConditions(filters),
  ]
  let query = filters.search_namespaces ? joined(idQuery(db)) : idQuery(db)
  for (const condition of conditions) query = query.where(condition)
  const seen = query.where(seesProject(viewer))
  const { items, ...rest } = await listPage(db, ordered(seen, viewer, filters), page, {
    id: 'projects.id',
    idOf: (row) => row.id,
    keys: {},
    counted: query.where(seesProjectWhenCounted(viewer)),
  })
  const ids = items.map((row) => row.id)
  return { ...rest, items: await listRowsInOrder(db, ids) }
}

async function listRowsInOrder(db: Db, ids: readonly number[]): Promise<ProjectRow[]> {
  if (ids.length === 0) return []
  const rows = await projectQuery(db).where('projects.id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

function scopeConditions(scope: Scope, viewer: Viewer): Condition[] {
  switch (scope.kind) {
    case 'all':
      return []
    case 'group':
      return [groupScope(scope, viewer)]
    case 'shared_with':
      return [sharedWith(scope.groupId, viewer)]
    case 'user':
      return [
        sql<SqlBool>`projects.namespace_id IN
          (SELECT id FROM namespaces WHERE kind = 'user' AND owner_id = ${scope.userId})`,
      ]
    case 'starred':
      return [
        sql<SqlBool>`projects.id IN (SELECT project_id FROM stars WHERE user_id = ${scope.userId})`,
      ]
    case 'contributed':
      return [contributedBy(scope.userId)]
    case 'forks':
      return [sql<SqlBool>`projects.forked_from_id = ${scope.projectId}`]
  }
}

/** Whatever stands in the feed of a project is a contribution to it, and so is having made it. */
function contributedBy(userId: number): Condition {
  return sql<SqlBool>`(projects.creator_id = ${userId}
    OR projects.id IN (SELECT project_id FROM events WHERE author_id = ${userId}))`
}

function groupScope(scope: Extract<Scope, { kind: 'group' }>, viewer: Viewer): Condition {
  const { groupId } = scope
  const inside = scope.subgroups
    ? sql<SqlBool>`projects.namespace_id IN ${namespacesBelow(groupId)}`
    : sql<SqlBool>`projects.namespace_id = ${groupId}`
  const above = sql<SqlBool>`projects.namespace_id IN ${namespacesAbove(groupId)}`
  return anyOf([
    inside,
    ...(scope.ancestors ? [above] : []),
    ...(scope.shared ? [sharedWith(groupId, viewer)] : []),
  ])
}

function sharedWith(groupId: number, { today }: Viewer): Condition {
  return sql<SqlBool>`projects.id IN (SELECT source_id FROM group_links
    WHERE source_type = 'project' AND group_id = ${groupId}
      AND (expires_at IS NULL OR expires_at > ${today}))`
}

const isArchived = sql<SqlBool>`(projects.archived = 1 OR EXISTS (
  SELECT 1 FROM namespace_ancestors a JOIN namespaces above ON above.id = a.ancestor_id
  WHERE a.namespace_id = projects.namespace_id AND above.archived = 1))`

/** Nothing here takes checksums of repositories, so that none fails, or looks for holes in code. */
function asksForWhatIsNotHere(filters: ProjectFilters): boolean {
  const { wiki_checksum_failed, repository_checksum_failed, with_security_reports } = filters
  return [wiki_checksum_failed, repository_checksum_failed, with_security_reports].includes(true)
}

function otherConditions(viewer: Viewer, filters: ProjectFilters): Condition[] {
  const found: Condition[] = []
  if (!(filters.include_pending_delete && viewer.admin)) {
    found.push(sql<SqlBool>`projects.pending_delete = 0`)
  }
  if (asksForWhatIsNotHere(filters)) found.push(sql<SqlBool>`0`)
  if (filters.imported)
    found.push(sql<SqlBool>`json_extract(projects.settings, '$.import_type') IS NOT NULL`)
  return found
}

function asksForOwn(filters: ProjectFilters): boolean {
  const { owned, membership, starred, min_access_level } = filters
  return Boolean(owned || membership || starred) || min_access_level !== undefined
}

function memberConditions(viewer: Viewer, filters: ProjectFilters): Condition[] {
  const { userId, today } = viewer
  // Nobody owns, joins or stars anything.
  if (userId === null) return asksForOwn(filters) ? [sql<SqlBool>`0`] : []
  const found: Condition[] = []
  if (filters.owned) {
    found.push(sql<SqlBool>`(projects.namespace_id IN
        (SELECT id FROM namespaces WHERE kind = 'user' AND owner_id = ${userId})
      OR ${hasProjectRole(userId, today, 50)})`)
  }
  if (filters.membership) found.push(hasProjectRole(userId, today))
  if (filters.min_access_level !== undefined) {
    found.push(hasProjectRole(userId, today, filters.min_access_level))
  }
  if (filters.starred) {
    found.push(
      sql<SqlBool>`projects.id IN (SELECT project_id FROM stars WHERE user_id = ${userId})`,
    )
  }
  return found
}

function contentConditions(filters: ProjectFilters): Condition[] {
  const found: Condition[] = []
  if (filters.search) {
    const own = ['projects.name', 'projects.path', 'projects.description']
    const columns = filters.search_namespaces
      ? [...own, 'projects.full_path', 'namespaces.full_name']
      : own
    found.push(...matchesSearch(filters.search, columns))
  }
  for (const [feature, wanted] of [
    ['issues', filters.with_issues_enabled],
    ['merge_requests', filters.with_merge_requests_enabled],
  ] as const) {
    if (!wanted) continue
    const path = `$.${feature}_access_level`
    found.push(
      sql<SqlBool>`coalesce(json_extract(projects.settings, ${path}), 'enabled') <> 'disabled'`,
    )
  }
  const language = filters.with_programming_language ?? filters.language
  if (language !== undefined) {
    found.push(sql<SqlBool>`projects.id IN (SELECT f.project_id FROM project_facts f, json_each(f.languages) j
      WHERE lower(j.key) = ${language.toLowerCase()})`)
  }
  for (const name of filters.topic ?? []) {
    found.push(sql<SqlBool>`projects.id IN (SELECT pt.project_id FROM project_topics pt
      JOIN topics t ON t.id = pt.topic_id WHERE t.name = ${name})`)
  }
  if (filters.topic_id !== undefined) {
    found.push(sql<SqlBool>`projects.id IN
      (SELECT project_id FROM project_topics WHERE topic_id = ${filters.topic_id})`)
  }
  return found
}

function timeConditions(filters: ProjectFilters): Condition[] {
  const found: Condition[] = []
  const add = (
    column: string,
    operator: '>' | '<' | '>=' | '<=',
    value: string | number | undefined,
  ) => {
    if (value !== undefined) {
      found.push(sql<SqlBool>`${sql.ref(column)} ${sql.raw(operator)} ${value}`)
    }
  }
  add('projects.id', '>', filters.id_after)
  add('projects.id', '<', filters.id_before)
  add('projects.last_activity_at', '>=', filters.last_activity_after)
  add('projects.last_activity_at', '<=', filters.last_activity_before)
  add('projects.updated_at', '>', filters.updated_after)
  add('projects.updated_at', '<', filters.updated_before)
  return found
}

/** Those of these projects that the viewer sees. */
export async function listVisibleByIds(
  db: Db,
  viewer: Viewer,
  ids: readonly number[],
): Promise<ProjectRow[]> {
  return await projectQuery(db)
    .where('projects.id', 'in', ids)
    .where('projects.pending_delete', '=', 0)
    .where(seesProject(viewer))
    .execute()
}

/** A project whether or not it is being made or removed. */
export async function findProjectRow(db: Db, id: number): Promise<ProjectRow | undefined> {
  return await projectQuery(db).where('projects.id', '=', id).executeTakeFirst()
}
