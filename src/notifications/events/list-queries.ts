import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Feature } from '../../access/features.ts'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import {
  hasProjectRole,
  levelOf,
  seesLabels,
  seesProject,
  type Viewer,
} from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'

export interface EventFilter {
  readonly authorId?: number | undefined
  readonly projectId?: number | undefined
  /** Only projects that the viewer belongs to. */
  readonly member?: boolean | undefined
  readonly actions?: readonly string[] | undefined
  readonly targetTypes?: readonly string[] | undefined
  readonly before?: Instant | undefined
  readonly after?: Instant | undefined
  readonly sort: 'asc' | 'desc'
}

/** Whether a feature of the project is there for the viewer. */
function hasFeature(viewer: Viewer, feature: Feature): RawBuilder<SqlBool> {
  const level = levelOf(feature)
  if (viewer.admin) return sql<SqlBool>`${level} <> 'disabled'`
  if (viewer.userId === null) return sql<SqlBool>`${level} NOT IN ('disabled', 'private')`
  return sql<SqlBool>`(${level} NOT IN ('disabled', 'private')
    OR (${level} = 'private' AND ${hasProjectRole(viewer.userId, viewer.today)}))`
}

function hasRole(viewer: Viewer, least: number): RawBuilder<SqlBool> {
  if (viewer.admin) return sql<SqlBool>`1 = 1`
  if (viewer.userId === null) return sql<SqlBool>`1 = 0`
  return hasProjectRole(viewer.userId, viewer.today, least)
}

/** Code and merge requests of private projects are not for guests (docs/contract/D §2.2). */
function readsCode(viewer: Viewer, feature: Feature): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${hasFeature(viewer, feature)}
    AND (projects.visibility <> 'private' OR ${hasRole(viewer, Role.planner)}))`
}

/** A snippet of a project is seen by whoever has the feature, and a private one by members alone. */
function seesSnippet(viewer: Viewer, id: RawBuilder<unknown> = sql`events.target_id`) {
  const open = viewer.external ? sql`('public')` : sql`('public', 'internal')`
  const visible = viewer.userId === null ? sql`('public')` : open
  return sql<SqlBool>`(${hasFeature(viewer, 'snippets')} AND (${hasRole(viewer, Role.guest)}
    OR EXISTS (SELECT 1 FROM snippets WHERE snippets.id = ${id} AND snippets.visibility IN ${visible})))`
}

/** A line of the feed shows no more than the viewer could look up. */
function seesEvent(viewer: Viewer): RawBuilder<SqlBool> {
  const issue = (id: RawBuilder<unknown>) =>
    sql`EXISTS (SELECT 1 FROM issues WHERE issues.id = ${id} AND ${seesIssue(viewer)})`
  return sql<SqlBool>`(${seesProject(viewer)} AND projects.pending_delete = 0 AND CASE
    WHEN events.push_data IS NOT NULL THEN ${readsCode(viewer, 'repository')}
    WHEN events.target_type = 'Issue' THEN ${issue(sql`events.target_id`)}
    WHEN events.target_type = 'MergeRequest' THEN ${readsCode(viewer, 'merge_requests')}
    WHEN events.target_type = 'WikiPage::Meta' THEN ${hasFeature(viewer, 'wiki')}
    WHEN events.target_type = 'Snippet' THEN ${seesSnippet(viewer)}
    WHEN events.target_type = 'Milestone' THEN ${seesLabels(viewer)}
    WHEN notes.id IS NULL THEN 1 = 1
    WHEN notes.noteable_type = 'Snippet' THEN ${seesSnippet(viewer, sql`notes.noteable_id`)}
    WHEN notes.internal = 1 AND NOT ${hasRole(viewer, Role.planner)} THEN 1 = 0
    WHEN notes.noteable_type = 'Issue' THEN ${issue(sql`notes.noteable_id`)}
    WHEN notes.noteable_type = 'MergeRequest' THEN ${readsCode(viewer, 'merge_requests')}
    WHEN notes.noteable_type = 'Commit' THEN ${readsCode(viewer, 'repository')}
    ELSE 1 = 0 END)`
}

export function listEventRows(db: Db, viewer: Viewer, filter: EventFilter, page: OffsetPage) {
  const { authorId, projectId, member, actions, targetTypes, before, after, sort } = filter
  const query = db
    .selectFrom('events')
    .innerJoin('users', 'users.id', 'events.author_id')
    .leftJoin('projects', 'projects.id', 'events.project_id')
    .leftJoin('notes', 'notes.id', 'events.note_id')
    .selectAll('events')
    .where(
      sql<SqlBool>`((events.project_id IS NULL AND events.author_id = ${viewer.userId ?? 0})
        OR ${seesEvent(viewer)})`,
    )
    .$if(authorId !== undefined, (query) => query.where('events.author_id', '=', authorId ?? 0))
    .$if(projectId !== undefined, (query) => query.where('events.project_id', '=', projectId ?? 0))
    .$if(member === true, (query) => query.where(hasRole(viewer, Role.guest)))
    .$if(actions !== undefined, (query) =>
      query.where('events.action_name', 'in', [...(actions ?? [])]),
    )
    .$if(targetTypes !== undefined, (query) =>
      query.where('events.target_type', 'in', [...(targetTypes ?? [])]),
    )
    .$if(before !== undefined, (query) => query.where('events.created_at', '<', before ?? ''))
    .$if(after !== undefined, (query) => query.where('events.created_at', '>', after ?? ''))
    .orderBy('events.id', sort)
  return listPage(db, query, page)
}

/** The comments of a page, with the number of what they were made on. */
export async function listEventNotes(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('notes')
    .leftJoin('issues', (join) =>
      join.onRef('issues.id', '=', 'notes.noteable_id').on('notes.noteable_type', '=', 'Issue'),
    )
    .leftJoin('merge_requests', (join) =>
      join
        .onRef('merge_requests.id', '=', 'notes.noteable_id')
        .on('notes.noteable_type', '=', 'MergeRequest'),
    )
    .selectAll('notes')
    .select(['issues.iid as issue_iid', 'merge_requests.iid as merge_request_iid'])
    .where('notes.id', 'in', ids)
    .execute()
}

/** The wiki pages of a page of events. */
export async function listEventPages(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('wiki_pages')
    .select(['id', 'slug', 'path'])
    .where('id', 'in', ids)
    .execute()
}
