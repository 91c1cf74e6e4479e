import { type Expression, type SqlBool, sql } from 'kysely'
import { type GroupRow, groupQuery } from '../../access/find-queries.ts'
import {
  belongsToGroup,
  groupsWithRole,
  seesGroup,
  type Viewer,
} from '../../access/visible-queries.ts'
import type { Page, Paged } from '../../base/page.ts'
import { namespacesAbove, namespacesBelow } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { containing, matchesSearch } from '../../store/search.ts'
import { stateConditions } from '../namespaces/list-conditions.ts'
import type { GroupFilters } from './params.ts'

/** Where a list of groups looks. */
export type GroupScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'children' | 'descendants' | 'ancestors'; readonly groupId: number }
  /** Groups that were shared with this one. */
  | { readonly kind: 'shared_with'; readonly groupId: number }
  /** Groups that were invited to this group. */
  | { readonly kind: 'invited'; readonly groupId: number; readonly above: boolean }
  | { readonly kind: 'invited_to_project'; readonly projectId: number; readonly above: boolean }
  | {
      readonly kind: 'project_ancestors'
      readonly projectId: number
      /** With groups invited to the project or to those above it, from this level on. */
      readonly shared: boolean
      readonly sharedLeast: number
    }
  /** Groups that are not invited to the project yet. */
  | { readonly kind: 'not_invited'; readonly projectId: number }
  /** Groups that this one could be moved below: neither itself, nor below it, nor where it is. */
  | { readonly kind: 'outside'; readonly groupId: number }
  /** All groups but this one. */
  | { readonly kind: 'other'; readonly groupId: number }

type Condition = Expression<SqlBool>
type Query = ReturnType<typeof groupQuery>

/** The groups of a scope that the viewer sees, narrowed and ordered. */
export async function listGroupRows(
  db: Db,
  viewer: Viewer,
  scope: GroupScope,
  filters: GroupFilters,
  page: Page,
): Promise<Paged<GroupRow>> {
  const conditions = [
    seesGroup(viewer),
    ...scopeConditions(scope, viewer),
    ...memberConditions(viewer, filters),
    ...plainConditions(filters),
    ...stateConditions('group', isArchived, filters, viewer),
  ]
  let query = groupQuery(db)
  for (const condition of conditions) query = query.where(condition)
  return await listPage(db, ordered(query, filters), page, {
    id: 'namespaces.id',
    idOf: (row) => row.id,
    keys: {
      name: { column: 'namespaces.name', valueOf: (row) => row.name },
      path: { column: 'namespaces.path', valueOf: (row) => row.path },
    },
  })
}

const isLive = (viewer: Viewer) => sql`(l.expires_at IS NULL OR l.expires_at > ${viewer.today})`

function scopeConditions(scope: GroupScope, viewer: Viewer): Condition[] {
  switch (scope.kind) {
    case 'all':
      return []
    case 'children':
      return [sql<SqlBool>`namespaces.parent_id = ${scope.groupId}`]
    case 'descendants':
      return [
        sql<SqlBool>`namespaces.id <> ${scope.groupId} AND namespaces.id IN
          ${namespacesBelow(scope.groupId)}`,
      ]
    case 'ancestors':
      return [sql<SqlBool>`namespaces.id IN ${namespacesAbove(scope.groupId)}`]
    case 'shared_with':
      return [
        sql<SqlBool>`namespaces.id IN (SELECT l.source_id FROM group_links l
          WHERE l.source_type = 'group' AND l.group_id = ${scope.groupId} AND ${isLive(viewer)})`,
      ]
    case 'invited':
      return [
        sql<SqlBool>`namespaces.id IN (SELECT l.group_id FROM group_links l
          WHERE l.source_type = 'group' AND ${isLive(viewer)} AND (l.source_id = ${scope.groupId}
            OR (${scope.above ? 1 : 0} AND l.source_id IN ${namespacesAbove(scope.groupId)})))`,
      ]
    case 'outside':
      return [
        sql<SqlBool>`namespaces.id NOT IN ${namespacesBelow(scope.groupId)}
          AND namespaces.id IS NOT (SELECT parent_id FROM namespaces WHERE id = ${scope.groupId})`,
      ]
    case 'other':
      return [sql<SqlBool>`namespaces.id <> ${scope.groupId}`]
    case 'not_invited':
      return [
        sql<SqlBool>`namespaces.id NOT IN (SELECT l.group_id FROM group_links l
          WHERE l.source_type = 'project' AND l.source_id = ${scope.projectId} AND ${isLive(viewer)})`,
      ]
    default:
      return [projectScope(scope, viewer)]
  }
}

function projectScope(
  scope: Extract<GroupScope, { kind: 'invited_to_project' | 'project_ancestors' }>,
  viewer: Viewer,
): Condition {
  const chain = sql`(SELECT a.ancestor_id FROM namespace_ancestors a
    JOIN projects p ON p.namespace_id = a.namespace_id WHERE p.id = ${scope.projectId})`
  const least = scope.kind === 'project_ancestors' ? scope.sharedLeast : 0
  const linked = (
    above: boolean,
  ) => sql`(SELECT l.group_id FROM group_links l WHERE ${isLive(viewer)}
    AND l.access_level >= ${least} AND ((l.source_type = 'project' AND l.source_id = ${scope.projectId})
      OR (${above ? 1 : 0} AND l.source_type = 'group' AND l.source_id IN ${chain})))`
  if (scope.kind === 'invited_to_project') {
    return sql<SqlBool>`namespaces.id IN ${linked(scope.above)}`
  }
  return scope.shared
    ? sql<SqlBool>`(namespaces.id IN ${chain} OR namespaces.id IN ${linked(true)})`
    : sql<SqlBool>`namespaces.id IN ${chain}`
}

function memberConditions(viewer: Viewer, filters: GroupFilters): Condition[] {
  const { userId, today } = viewer
  if (userId === null) {
    // Nobody owns or joins anything.
    const asksForOwn = Boolean(filters.owned) || filters.min_access_level !== undefined
    return asksForOwn ? [sql<SqlBool>`0`] : []
  }
  const found: Condition[] = []
  if (filters.owned) found.push(sql<SqlBool>`namespaces.id IN ${groupsWithRole(userId, today, 50)}`)
  if (filters.min_access_level !== undefined) {
    const groups = groupsWithRole(userId, today, filters.min_access_level)
    found.push(sql<SqlBool>`namespaces.id IN ${groups}`)
  } else if (filters.all_available === false) {
    found.push(belongsToGroup(userId, today))
  }
  return found
}

function plainConditions(filters: GroupFilters): Condition[] {
  const found: Condition[] = []
  if (filters.skip_groups && filters.skip_groups.length > 0) {
    found.push(sql<SqlBool>`namespaces.id NOT IN (${sql.join(filters.skip_groups)})`)
  }
  if (filters.search) {
    const columns = ['namespaces.name', 'namespaces.path', 'namespaces.full_path']
    found.push(...matchesSearch(filters.search, columns))
  }
  if (filters.top_level_only) found.push(sql<SqlBool>`namespaces.parent_id IS NULL`)
  return found
}

const isArchived = sql<SqlBool>`EXISTS (SELECT 1 FROM namespace_ancestors a
  JOIN namespaces above ON above.id = a.ancestor_id
  WHERE a.namespace_id = namespaces.id AND above.archived = 1)`

function ordered(query: Query, filters: GroupFilters): Query {
  const sort = filters.sort ?? 'asc'
  if (filters.order_by === 'similarity' && filters.search) {
    const { search } = filters
    const prefix = containing(search).slice(1)
    const rank = sql`CASE WHEN namespaces.path = ${search} OR namespaces.name = ${search} THEN 2
      WHEN namespaces.path LIKE ${prefix} ESCAPE '\\' OR namespaces.name LIKE ${prefix} ESCAPE '\\' THEN 1
      ELSE 0 END`
    const direction = filters.sort ?? 'desc'
    return query.orderBy(rank, direction).orderBy('namespaces.id', direction)
  }
  if (filters.order_by === 'id') return query.orderBy('namespaces.id', sort)
  const column = filters.order_by === 'path' ? 'namespaces.path' : 'namespaces.name'
  return query.orderBy(column, sort).orderBy('namespaces.id', sort)
}
