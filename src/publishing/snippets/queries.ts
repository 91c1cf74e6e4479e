import { type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { hasRole, seesFeature, type Viewer } from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { countUpTo, listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'
import { holdsText } from '../../store/search.ts'

/** A snippet with the branch of its repository. */
export type SnippetRow = RowOf<'snippets'> & { readonly branch: string | null }

export async function insertSnippet(db: Db, values: NewRowOf<'snippets'>): Promise<number> {
  const { id } = await db
    .insertInto('snippets')
    .values(values)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function findSnippetRow(db: Db, id: number): Promise<SnippetRow | undefined> {
  return await db
    .selectFrom('snippets')
    .leftJoin('wiki_snippet_repositories', 'wiki_snippet_repositories.snippet_id', 'snippets.id')
    .selectAll('snippets')
    .select('wiki_snippet_repositories.default_branch as branch')
    .where('snippets.id', '=', id)
    .executeTakeFirst()
}

export async function updateSnippetRow(
  db: Db,
  id: number,
  values: ChangesOf<'snippets'>,
): Promise<void> {
  await db.updateTable('snippets').set(values).where('id', '=', id).execute()
}

/** Hides a snippet that is to go; false where somebody has done so. */
export async function hideSnippetRow(db: Db, id: number, now: Instant): Promise<boolean> {
  const done = await db
    .updateTable('snippets')
    .set({ pending_delete: 1, updated_at: now })
    .where('id', '=', id)
    .where('pending_delete', '=', 0)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

export async function deleteSnippetRow(db: Db, id: number): Promise<void> {
  await db.deleteFrom('snippets').where('id', '=', id).execute()
}

export async function listSnippetIdsOf(db: Db, authorId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('snippets')
    .select('id')
    .where('author_id', '=', authorId)
    .execute()
  return rows.map((row) => row.id)
}

export interface SnippetFilter {
  readonly authorId?: number | undefined
  readonly projectId?: number | undefined
  /** Only those that are a person's and public. */
  readonly publicOnly?: boolean | undefined
  readonly created_after?: Instant | undefined
  readonly created_before?: Instant | undefined
  /** A part of the title. */
  readonly search?: string | undefined
}

/** Whether the viewer sees the row of `snippets`, joined with its project (docs/contract/D §1.30). */
function seesSnippet(viewer: Viewer) {
  const open = viewer.external ? sql`('public')` : sql`('public', 'internal')`
  const { userId } = viewer
  const bySelf =
    userId === null
      ? sql<SqlBool>`snippets.visibility = 'public'`
      : sql<SqlBool>`(snippets.visibility IN ${open} OR snippets.author_id = ${userId})`
  const own = viewer.admin ? sql<SqlBool>`1 = 1` : bySelf
  return sql<SqlBool>`(snippets.pending_delete = 0 AND CASE WHEN snippets.project_id IS NULL THEN ${own}
    ELSE projects.pending_delete = 0 AND ${seesFeature(viewer, 'snippets', Role.guest)}
      AND (${own} OR ${hasRole(viewer)}) END)`
}

/** Snippets that the viewer sees, newest first. */
function snippetsSeenBy(db: Db, viewer: Viewer, filter: SnippetFilter) {
  const { authorId, projectId, created_after: after, created_before: before, search } = filter
  let query = db
    .selectFrom('snippets')
    .leftJoin('projects', 'projects.id', 'snippets.project_id')
    .leftJoin('wiki_snippet_repositories', 'wiki_snippet_repositories.snippet_id', 'snippets.id')
    .selectAll('snippets')
    .select([
      'projects.full_path as project_path',
      'wiki_snippet_repositories.default_branch as branch',
    ])
    .where(seesSnippet(viewer))
    .orderBy('snippets.id', 'desc')
  if (authorId !== undefined) query = query.where('snippets.author_id', '=', authorId)
  if (projectId !== undefined) query = query.where('snippets.project_id', '=', projectId)
  if (filter.publicOnly) {
    query = query
      .where('snippets.project_id', 'is', null)
      .where('snippets.visibility', '=', 'public')
  }
  if (after !== undefined) query = query.where('snippets.created_at', '>=', after)
  if (before !== undefined) query = query.where('snippets.created_at', '<=', before)
  if (search === undefined) return query
  return query.where(holdsText(search, ['snippets.title']))
}

/** So many of those whose ids are below one, and how many there are, for clients that walk through them. */
export function listSnippetsBelow(
  db: Db,
  viewer: Viewer,
  filter: SnippetFilter,
  { below, limit }: { readonly below: number | undefined; readonly limit: number },
) {
  const query = snippetsSeenBy(db, viewer, filter)
  const rest = below === undefined ? query : query.where('snippets.id', '<', below)
  return rest.limit(limit).execute()
}

export function countSnippets(
  db: Db,
  viewer: Viewer,
  filter: SnippetFilter,
  most: number,
): Promise<number> {
  return countUpTo(db, snippetsSeenBy(db, viewer, filter), most)
}

/** A page of them. */
export function listSnippetRows(db: Db, viewer: Viewer, filter: SnippetFilter, page: OffsetPage) {
  return listPage(db, snippetsSeenBy(db, viewer, filter), page)
}
