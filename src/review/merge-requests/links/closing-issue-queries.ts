import { type SqlBool, sql } from 'kysely'
import { seesIssue } from '../../../access/visible-issues.ts'
import type { Viewer } from '../../../access/visible-queries.ts'
import type { Db } from '../../../store/schema.ts'

/** The issue of a number in the project of a full path. */
export function findIssueByPath(db: Db, projectPath: string, iid: number) {
  return db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.iid', 'issues.project_id', 'projects.full_path', 'issues.state'])
    .where('projects.full_path', '=', projectPath)
    .where('issues.iid', '=', iid)
    .executeTakeFirst()
}

/** Issues that a merge will close, with the paths of their projects. */
export function listClosingIssues(db: Db, mergeRequestId: number) {
  return db
    .selectFrom('merge_requests_closing_issues as link')
    .innerJoin('issues', 'issues.id', 'link.issue_id')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.iid', 'issues.project_id', 'projects.full_path', 'issues.state'])
    .where('link.merge_request_id', '=', mergeRequestId)
    .orderBy('issues.id')
    .execute()
}

/** Which of the issues the viewer may see. */
export async function listSeenIssueIds(
  db: Db,
  viewer: Viewer,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select('issues.id')
    .where(sql<SqlBool>`issues.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
    .where('projects.pending_delete', '=', 0)
    .where(seesIssue(viewer))
    .execute()
  return new Set(rows.map((row) => row.id))
}
