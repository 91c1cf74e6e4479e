import { type InferResult, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import { readsInternalNotes, seesFeature, type Viewer } from '../../access/visible-queries.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { repoint } from '../../store/repoint.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'

/** Issues with the paths of their projects. */
export function issueQuery(db: Db) {
  return db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .selectAll('issues')
    .select(['projects.full_path as project_path', 'projects.path as project_slug'])
}

export type IssueRow = InferResult<ReturnType<typeof issueQuery>>[number]

export function findIssue(db: Db, projectId: number, iid: number): Promise<IssueRow | undefined> {
  return issueQuery(db)
    .where('issues.project_id', '=', projectId)
    .where('issues.iid', '=', iid)
    .executeTakeFirst()
}

export function findIssueById(db: Db, id: number): Promise<IssueRow | undefined> {
  return issueQuery(db).where('issues.id', '=', id).executeTakeFirst()
}

export async function insertIssue(db: Db, values: NewRowOf<'issues'>): Promise<number> {
  const row = await db.insertInto('issues').values(values).returning('id').executeTakeFirstOrThrow()
  return row.id
}

export async function updateIssue(db: Db, id: number, changes: ChangesOf<'issues'>): Promise<void> {
  await db.updateTable('issues').set(changes).where('id', '=', id).execute()
}

/** Triggers take what hangs on the issue without a foreign key. */
export async function deleteIssue(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('issues').where('id', '=', id))
}

/** Votes, time, comments, merge requests and blocked issues of many issues, by their ids. */
export async function listIssueCounts(db: Db, viewer: Viewer, ids: readonly number[]) {
  if (ids.length === 0) return []
  const list = sql.join(ids)
  const { rows } = await sql<{
    id: number
    upvotes: number
    downvotes: number
    notes: number
    spent: number
    merge_requests: number
    blocking: number
  }>`SELECT i.id,
      (SELECT count(*) FROM award_emoji a WHERE a.awardable_type = 'Issue' AND a.awardable_id = i.id
        AND a.name = 'thumbsup') AS upvotes,
      (SELECT count(*) FROM award_emoji a WHERE a.awardable_type = 'Issue' AND a.awardable_id = i.id
        AND a.name = 'thumbsdown') AS downvotes,
      (SELECT count(*) FROM notes n WHERE n.noteable_type = 'Issue' AND n.noteable_id = i.id AND n.system = 0
        AND (n.internal = 0 OR ${readsInternalNotes(viewer)})) AS notes,
      (SELECT coalesce(sum(t.seconds), 0) FROM timelogs t WHERE t.subject_type = 'issue' AND t.subject_id = i.id) AS spent,
      (SELECT count(*) FROM merge_requests_closing_issues m JOIN merge_requests r ON r.id = m.merge_request_id
        JOIN projects ON projects.id = r.target_project_id AND projects.pending_delete = 0
        WHERE m.issue_id = i.id AND ${seesFeature(viewer, 'merge_requests', Role.planner)}) AS merge_requests,
      (SELECT count(*) FROM issue_links l JOIN issues ON issues.id = l.target_id AND issues.state = 'opened'
        JOIN projects ON projects.id = issues.project_id
        WHERE l.source_id = i.id AND l.link_type = 'blocks' AND ${seesIssue(viewer)}) AS blocking
    FROM issues i JOIN projects ON projects.id = i.project_id WHERE i.id IN (${list})`.execute(db)
  return rows
}

export function insertIssueLink(db: Db, link: NewRowOf<'issue_links'>) {
  return db.insertInto('issue_links').values(link).returningAll().executeTakeFirstOrThrow()
}

/** Links at either end of an issue. */
export function listIssueLinks(db: Db, issueId: number) {
  return db
    .selectFrom('issue_links')
    .selectAll()
    .where((where) =>
      where.or([where('source_id', '=', issueId), where('target_id', '=', issueId)]),
    )
    .orderBy('id')
    .execute()
}

export async function deleteIssueLink(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('issue_links').where('id', '=', id))
}

/** Has the links of one issue be those of another. */
export async function repointIssueLinks(db: Db, fromId: number, toId: number): Promise<void> {
  await repoint(db, 'issue_links', 'source_id', [fromId], toId)
  await repoint(db, 'issue_links', 'target_id', [fromId], toId)
}

/** Those of the issues that the viewer sees. */
export async function listSeenIssues(
  db: Db,
  viewer: Viewer,
  ids: readonly number[],
): Promise<IssueRow[]> {
  if (ids.length === 0) return []
  return issueQuery(db)
    .where('issues.id', 'in', ids)
    .where(seesIssue(viewer))
    .orderBy('issues.id')
    .execute()
}

export function findNewestIssue(
  db: Db,
  projectId: number,
  confidential: boolean,
): Promise<IssueRow | undefined> {
  return issueQuery(db)
    .where('issues.project_id', '=', projectId)
    .where('issues.confidential', '=', confidential ? 1 : 0)
    .orderBy('issues.id', 'desc')
    .executeTakeFirst()
}
