import { type SqlBool, sql } from 'kysely'
import { Role } from '../access/roles.ts'
import { seesIssue } from '../access/visible-issues.ts'
import { seesFeature, seesGroup, type Viewer } from '../access/visible-queries.ts'
import { namespacesAbove } from '../store/hierarchy.ts'
import type { Db } from '../store/schema.ts'

/** A project as its texts need it. */
export interface MarkdownPlace {
  readonly id: number
  readonly full_path: string
  readonly namespace_id: number
  readonly default_branch: string | null
}

export function findPlace(db: Db, path: string): Promise<MarkdownPlace | undefined> {
  return db
    .selectFrom('projects')
    .select(['id', 'full_path', 'namespace_id', 'default_branch'])
    .where('full_path', '=', path)
    .executeTakeFirst()
}

/** The issues of a project that the viewer sees, by their numbers. */
export async function listSeenIssuesAt(
  db: Db,
  viewer: Viewer,
  path: string,
  iids: readonly number[],
) {
  if (iids.length === 0) return []
  return db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.iid', 'issues.title', 'issues.state', 'issues.project_id'])
    .where('projects.full_path', '=', path)
    .where('projects.pending_delete', '=', 0)
    .where('issues.iid', 'in', iids)
    .where(seesIssue(viewer))
    .execute()
}

/** The merge requests of a project that the viewer sees, by their numbers. */
export async function listSeenMergeRequestsAt(
  db: Db,
  viewer: Viewer,
  path: string,
  iids: readonly number[],
) {
  if (iids.length === 0) return []
  return db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .select([
      'merge_requests.id',
      'merge_requests.iid',
      'merge_requests.title',
      'merge_requests.state',
      'merge_requests.source_branch',
      'merge_requests.source_project_id',
      'merge_requests.target_project_id as project_id',
    ])
    .where('projects.full_path', '=', path)
    .where('projects.pending_delete', '=', 0)
    .where('merge_requests.iid', 'in', iids)
    .where(seesFeature(viewer, 'merge_requests', Role.planner))
    .execute()
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

/** Groups of these paths that the viewer sees. */
export async function listKnownGroups(
  db: Db,
  viewer: Viewer,
  paths: readonly string[],
): Promise<string[]> {
  if (paths.length === 0) return []
  const rows = await db
    .selectFrom('namespaces')
    .select('namespaces.full_path')
    .where('namespaces.kind', '=', 'group')
    .where('namespaces.pending_delete', '=', 0)
    .where('namespaces.full_path', 'in', paths)
    .where(seesGroup(viewer))
    .execute()
  return rows.map((row) => row.full_path)
}

const numbersOf = (names: readonly string[]) =>
  names.filter((name) => /^\d{1,15}$/.test(name)).map(Number)

/** Labels that a project knows, by title or number. */
export async function listKnownLabels(db: Db, place: MarkdownPlace, names: readonly string[]) {
  if (names.length === 0) return []
  return db
    .selectFrom('labels')
    .select(['id', 'title'])
    .where(
      sql<SqlBool>`(labels.project_id = ${place.id} OR labels.group_id IN ${namespacesAbove(place.namespace_id)})`,
    )
    .where((is) => is.or([is('title', 'in', names), is('id', 'in', numbersOf(names))]))
    .execute()
}

/** Milestones that a project knows, by title or number. */
export async function listKnownMilestones(db: Db, place: MarkdownPlace, names: readonly string[]) {
  if (names.length === 0) return []
  return db
    .selectFrom('milestones')
    .leftJoin('namespaces', 'namespaces.id', 'milestones.group_id')
    .select(['milestones.iid', 'milestones.title', 'milestones.project_id'])
    .select('namespaces.full_path as group_path')
    .where(
      sql<SqlBool>`(milestones.project_id = ${place.id} OR milestones.group_id IN ${namespacesAbove(place.namespace_id)})`,
    )
    .where((is) =>
      is.or([is('milestones.title', 'in', names), is('milestones.iid', 'in', numbersOf(names))]),
    )
    .execute()
}

/** Snippets of a project that the viewer sees, by number. */
export async function listKnownSnippets(
  db: Db,
  viewer: Viewer,
  place: MarkdownPlace,
  names: readonly string[],
): Promise<number[]> {
  if (names.length === 0) return []
  const rows = await db
    .selectFrom('snippets')
    .innerJoin('projects', 'projects.id', 'snippets.project_id')
    .select('snippets.id')
    .where('snippets.project_id', '=', place.id)
    .where('snippets.id', 'in', numbersOf(names))
    .where('snippets.pending_delete', '=', 0)
    .where('snippets.visibility', '<>', 'private')
    .where(seesFeature(viewer, 'snippets', Role.guest))
    .execute()
  return rows.map((row) => row.id)
}

/** The project of this path if the viewer may read its code. */
export function findCodeAt(db: Db, viewer: Viewer, path: string) {
  return db
    .selectFrom('projects')
    .select(['projects.id', 'projects.full_path'])
    .where('projects.full_path', '=', path)
    .where('projects.pending_delete', '=', 0)
    .where(seesFeature(viewer, 'repository', Role.planner))
    .executeTakeFirst()
}
