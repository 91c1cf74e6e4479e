import { sql } from 'kysely'
import { groupsWithRole, type Viewer } from '../../access/visible-queries.ts'
import type { Day } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'
import type { NamespaceBriefRow } from './entity.ts'

export interface NamespaceFilters {
  readonly search?: string | undefined
  readonly owned_only?: boolean | undefined
  readonly top_level_only?: boolean | undefined
  readonly full_path_search?: boolean | undefined
}

/** Namespaces with the avatar that they show: a user's own, or the group's. */
function namespaceQuery(db: Db) {
  return db
    .selectFrom('namespaces')
    .leftJoin('users as owner', 'owner.id', 'namespaces.owner_id')
    .select([
      'namespaces.id',
      'namespaces.name',
      'namespaces.path',
      'namespaces.kind',
      'namespaces.full_path',
      'namespaces.parent_id',
      'namespaces.owner_id',
    ])
    .select(({ fn }) => [
      fn.coalesce('owner.avatar_file', 'namespaces.avatar_file').as('avatar_file'),
      fn.coalesce('owner.avatar_name', 'namespaces.avatar_name').as('avatar_name'),
    ])
    .where('namespaces.pending_delete', '=', 0)
}

/** Whether a namespace is the viewer's: the own one, or a group with at least this role. */
function belongs(viewer: Viewer, least: number) {
  if (viewer.admin) return sql<boolean>`1 = 1`
  const userId = viewer.userId ?? 0
  return sql<boolean>`(namespaces.owner_id = ${userId}
    OR namespaces.id IN ${groupsWithRole(userId, viewer.today, least)})`
}

/** The namespaces that are the viewer's; all of them for administrators (docs/contract/A-resolved §11). */
export async function listNamespaces(
  db: Db,
  viewer: Viewer,
  filters: NamespaceFilters,
  page: OffsetPage,
): Promise<Paged<NamespaceBriefRow>> {
  const columns = filters.full_path_search
    ? ['namespaces.full_path', 'namespaces.name']
    : ['namespaces.path', 'namespaces.name']
  let query = namespaceQuery(db)
    .where(belongs(viewer, 1))
    .where((is) => is.and(matchesSearch(filters.search ?? '', columns)))
    .orderBy('namespaces.id')
  if (filters.owned_only) {
    query = query.where(belongs({ ...viewer, admin: false }, 50))
  }
  if (filters.top_level_only) query = query.where('namespaces.parent_id', 'is', null)
  return await listPage(db, query, page)
}

/** A namespace of the viewer's by id or full path. */
export async function findNamespace(
  db: Db,
  viewer: Viewer,
  by: { readonly id: number } | { readonly path: string },
): Promise<NamespaceBriefRow | undefined> {
  const query = namespaceQuery(db).where(belongs(viewer, 1))
  return 'id' in by
    ? await query.where('namespaces.id', '=', by.id).executeTakeFirst()
    : await query.where('namespaces.full_path', '=', by.path).executeTakeFirst()
}

/** Which of these namespaces the viewer administers. */
export async function listAdministered(
  db: Db,
  viewer: Viewer,
  ids: readonly number[],
): Promise<Set<number>> {
  const rows = await db
    .selectFrom('namespaces')
    .select('namespaces.id')
    .where('namespaces.id', 'in', ids)
    .where(belongs(viewer, 50))
    .execute()
  return new Set(rows.map((row) => row.id))
}

/** Members, projects and repository bytes below each of these namespaces. */
export async function listTotals(db: Db, ids: readonly number[], today: Day) {
  const { rows } = await sql<{ id: number; members: number; projects: number; size: number }>`
    SELECT n.id,
      (SELECT count(DISTINCT m.user_id) FROM members m
        WHERE m.requested_at IS NULL AND m.user_id IS NOT NULL
          AND (m.expires_at IS NULL OR m.expires_at > ${today}) AND (
          (m.source_type = 'group' AND m.source_id IN
            (SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = n.id))
          OR (m.source_type = 'project' AND m.source_id IN (SELECT p.id FROM projects p
            JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id
            WHERE a.ancestor_id = n.id)))) AS members,
      (SELECT count(*) FROM projects p JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id
        WHERE a.ancestor_id = n.id AND p.pending_delete = 0) AS projects,
      (SELECT coalesce(sum(p.repository_size), 0) FROM projects p
        JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id
        WHERE a.ancestor_id = n.id AND p.pending_delete = 0) AS size
    FROM namespaces n WHERE n.id IN (${sql.join(ids)})`.execute(db)
  return rows
}

/** Paths and names, lower-case, of the namespaces right below a parent that equal one of these words. */
export async function listSiblings(
  db: Db,
  parentId: number | null,
  words: readonly string[],
): Promise<{ path: string; name: string }[]> {
  return await db
    .selectFrom('namespaces')
    .select(['path', 'name'])
    .where('parent_id', parentId === null ? 'is' : '=', parentId)
    .where((eb) => eb.or([eb('path', 'in', words), eb('name', 'in', words)]))
    .execute()
}
