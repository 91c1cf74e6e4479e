import { sql } from 'kysely'
import { seesProject, type Viewer } from '../../access/visible-queries.ts'
import type { Db } from '../../store/schema.ts'
import { seesIssue } from '../issues/visible.ts'

export async function listKnownIssues(
  db: Db,
  viewer: Viewer,
  path: string,
  iids: readonly number[],
): Promise<number[]> {
  if (iids.length === 0) return []
  const rows = await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select('issues.iid')
    .where('projects.full_path', '=', path)
    .where('issues.iid', 'in', iids)
    .where(seesIssue(viewer))
    .execute()
  return rows.map((row) => row.iid)
}

export async function listKnownMergeRequests(
  db: Db,
  viewer: Viewer,
  path: string,
  iids: readonly number[],
): Promise<number[]> {
  if (iids.length === 0) return []
  const level = sql`coalesce(json_extract(projects.settings, '$.merge_requests_access_level'), 'enabled')`
  const rows = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .select('merge_requests.iid')
    .where('projects.full_path', '=', path)
    .where('merge_requests.iid', 'in', iids)
    .where(seesProject(viewer))
    .where(sql<boolean>`${level} IN ('enabled', 'public')`)
    .execute()
  return rows.map((row) => row.iid)
}

export async function listKnownUsers(db: Db, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const rows = await db
    .selectFrom('users')
    .select('username')
    .where('username', 'in', names)
    .where('state', '=', 'active')
    .execute()
  return rows.map((row) => row.username)
}
