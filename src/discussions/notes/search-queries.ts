import { type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import {
  hasRole,
  readsInternalNotes,
  seesFeature,
  seesProject,
  type Viewer,
} from '../../access/visible-queries.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { isInPlace, matchesSearch, type SearchPlace } from '../../store/search.ts'
import type { NoteRow } from './entity.ts'

/** Comments on snippets of projects; who is no member sees those of open snippets alone. */
function seesSnippetNotes(viewer: Viewer) {
  const { external, userId } = viewer
  const open = userId === null || external ? sql`('public')` : sql`('public', 'internal')`
  return sql<SqlBool>`(${seesFeature(viewer, 'snippets', Role.guest)} AND (${hasRole(viewer)} OR EXISTS (
    SELECT 1 FROM snippets WHERE snippets.id = notes.noteable_id AND snippets.visibility IN ${open})))`
}

/** Comments on alerts are for whoever reads alerts: Developers and above, however open the project is. */
function seesAlertNotes(viewer: Viewer) {
  return sql<SqlBool>`(${hasRole(viewer, Role.developer)} AND ${seesFeature(viewer, 'monitor', Role.developer)})`
}

/** Comments that contain the words, each on something that the viewer sees; newest first. */
export async function searchNoteRows(
  db: Db,
  viewer: Viewer,
  place: SearchPlace,
  search: string,
  page: OffsetPage,
): Promise<Paged<NoteRow & { readonly noteable_iid: number | null }>> {
  const sees = sql<SqlBool>`CASE notes.noteable_type
    WHEN 'Issue' THEN EXISTS (SELECT 1 FROM issues WHERE issues.id = notes.noteable_id AND ${seesIssue(viewer)})
    WHEN 'MergeRequest' THEN ${seesFeature(viewer, 'merge_requests', Role.planner)}
    WHEN 'Snippet' THEN ${seesSnippetNotes(viewer)}
    WHEN 'Commit' THEN ${seesFeature(viewer, 'repository', Role.planner)}
    WHEN 'Alert' THEN ${seesAlertNotes(viewer)}
    ELSE 1 = 0 END`
  const iid = sql<number | null>`CASE notes.noteable_type
    WHEN 'Issue' THEN (SELECT i.iid FROM issues i WHERE i.id = notes.noteable_id)
    WHEN 'MergeRequest' THEN (SELECT mr.iid FROM merge_requests mr WHERE mr.id = notes.noteable_id) END`
  const query = db
    .selectFrom('notes')
    .innerJoin('projects', 'projects.id', 'notes.project_id')
    .selectAll('notes')
    .select(iid.as('noteable_iid'))
    .where('projects.pending_delete', '=', 0)
    .where('notes.system', '=', 0)
    .where(isInPlace(place))
    .where(seesProject(viewer))
    .where(sql<SqlBool>`(notes.internal = 0 OR ${readsInternalNotes(viewer)})`)
    .where(sees)
    .where((is) => is.and(matchesSearch(search, ['notes.body'])))
    .orderBy('notes.id', 'desc')
  return await listPage(db, query, page)
}
