import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import {
  isLive,
  seesFeature,
  seesGroup,
  seesLabels,
  seesProject,
  type Viewer,
} from '../../access/visible-queries.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { isInPlace, matchesSearch, type SearchPlace } from '../../store/search.ts'

export interface CodeProject {
  readonly id: number
  readonly full_path: string
  readonly default_branch: string | null
}

/** Projects whose code the viewer may read, those with the latest activity first. */
export async function listCodeProjects(
  db: Db,
  viewer: Viewer,
  place: SearchPlace,
  limit: number,
): Promise<CodeProject[]> {
  return await db
    .selectFrom('projects')
    .select(['projects.id', 'projects.full_path', 'projects.default_branch'])
    .where('projects.pending_delete', '=', 0)
    .where('projects.empty_repo', '=', 0)
    .where(isInPlace(place))
    .where(seesProject(viewer))
    .where(seesFeature(viewer, 'repository', Role.planner))
    .orderBy('projects.last_activity_at', 'desc')
    .orderBy('projects.id', 'desc')
    .limit(limit)
    .execute()
}

/** Ids of projects that have a wiki which the viewer may read, those with the latest activity first. */
export async function listWikiProjectIds(
  db: Db,
  viewer: Viewer,
  place: SearchPlace,
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('projects')
    .innerJoin('wiki_snippet_repositories', 'wiki_snippet_repositories.project_id', 'projects.id')
    .select('projects.id')
    .where('projects.pending_delete', '=', 0)
    .where(isInPlace(place))
    .where(seesProject(viewer))
    .where(seesFeature(viewer, 'wiki', Role.guest))
    .orderBy('projects.last_activity_at', 'desc')
    .orderBy('projects.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Ids of milestones of visible projects and groups, newest first. */
export async function listMilestoneIds(
  db: Db,
  viewer: Viewer,
  place: SearchPlace,
  asked: { readonly search: string; readonly state?: 'active' | 'closed' | undefined },
  page: OffsetPage,
): Promise<Paged<{ id: number }>> {
  const ofProjects = sql<SqlBool>`EXISTS (SELECT 1 FROM projects WHERE projects.id = milestones.project_id
    AND projects.pending_delete = 0 AND ${isInPlace(place)} AND ${seesLabels(viewer)})`
  const ofGroups = sql<SqlBool>`EXISTS (SELECT 1 FROM namespaces WHERE namespaces.id = milestones.group_id
    AND namespaces.pending_delete = 0 AND ${groupInPlace(place)} AND ${seesGroup(viewer)})`
  let query = db
    .selectFrom('milestones')
    .select('milestones.id')
    .where(sql<SqlBool>`(${ofProjects} OR ${ofGroups})`)
    .orderBy('milestones.id', 'desc')
  for (const word of matchesSearch(asked.search, ['milestones.title', 'milestones.description'])) {
    query = query.where(word)
  }
  if (asked.state) query = query.where('milestones.state', '=', asked.state)
  return await listPage(db, query, page)
}

function groupInPlace(place: SearchPlace): RawBuilder<SqlBool> {
  if (place.kind === 'all') return sql<SqlBool>`1 = 1`
  if (place.kind === 'project') return sql<SqlBool>`1 = 0`
  return sql<SqlBool>`namespaces.id IN ${namespacesBelow(place.groupId)}`
}

/** Ids of people by name, username or public address; of a group or project only its members. */
export async function listUserIds(
  db: Db,
  viewer: Viewer,
  place: SearchPlace,
  search: string,
  page: OffsetPage,
): Promise<Paged<{ id: number }>> {
  let query = db
    .selectFrom('users')
    .select('users.id')
    .where('users.state', '=', 'active')
    .where('users.kind', '<>', 'ghost')
    .orderBy('users.name')
    .orderBy('users.id')
  for (const word of matchesSearch(search, [
    'users.name',
    'users.username',
    'users.public_email',
  ])) {
    query = query.where(word)
  }
  if (place.kind !== 'all') query = query.where(isMemberOf(place, viewer))
  return await listPage(db, query, page)
}

/** Members of the place and above it, and of what the viewer sees below it. */
function isMemberOf(
  place: Exclude<SearchPlace, { readonly kind: 'all' }>,
  viewer: Viewer,
): RawBuilder<SqlBool> {
  const live = isLive(viewer.today)
  if (place.kind === 'project') {
    return sql<SqlBool>`users.id IN (
      SELECT m.user_id FROM members m WHERE m.source_type = 'project'
        AND m.source_id = ${place.projectId} AND ${live}
      UNION SELECT m.user_id FROM members m JOIN projects p ON p.id = ${place.projectId}
        JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id AND a.ancestor_id = m.source_id
        WHERE m.source_type = 'group' AND ${live}
      UNION SELECT n.owner_id FROM projects p JOIN namespaces n ON n.id = p.namespace_id
        WHERE p.id = ${place.projectId} AND n.kind = 'user')`
  }
  return sql<SqlBool>`users.id IN (
    SELECT m.user_id FROM members m
      JOIN namespace_ancestors a ON a.namespace_id = ${place.groupId} AND a.ancestor_id = m.source_id
      WHERE m.source_type = 'group' AND ${live}
    UNION SELECT m.user_id FROM members m JOIN namespaces ON namespaces.id = m.source_id
      JOIN namespace_ancestors a ON a.namespace_id = namespaces.id AND a.ancestor_id = ${place.groupId}
      WHERE m.source_type = 'group' AND ${live} AND ${seesGroup(viewer)}
    UNION SELECT m.user_id FROM members m JOIN projects ON projects.id = m.source_id
      JOIN namespace_ancestors a ON a.namespace_id = projects.namespace_id AND a.ancestor_id = ${place.groupId}
      WHERE m.source_type = 'project' AND ${live} AND ${seesProject(viewer)})`
}
