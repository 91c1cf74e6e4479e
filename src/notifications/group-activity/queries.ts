import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import { seesFeature, seesProject, type Viewer } from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'

const inGroup = (groupId: number): RawBuilder<SqlBool> => sql<SqlBool>`projects.pending_delete = 0
  AND projects.namespace_id IN ${namespacesBelow(groupId)}`

/** Issues made in a group's projects since a moment, in any state, as far as the viewer sees them. */
export async function countIssues(
  db: Db,
  groupId: number,
  since: Instant,
  viewer: Viewer,
): Promise<number> {
  const row = await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(inGroup(groupId))
    .where('issues.created_at', '>=', since)
    .where(seesIssue(viewer))
    .executeTakeFirstOrThrow()
  return row.count
}

/** Merge requests made against a group's projects since a moment, as far as the viewer sees them. */
export async function countMergeRequests(
  db: Db,
  groupId: number,
  since: Instant,
  viewer: Viewer,
): Promise<number> {
  const row = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(inGroup(groupId))
    .where('merge_requests.created_at', '>=', since)
    .where(seesProject(viewer))
    .where(seesFeature(viewer, 'merge_requests', Role.planner))
    .executeTakeFirstOrThrow()
  return row.count
}

/** Memberships of a group and of the groups below it made since a moment. */
export async function countNewMembers(db: Db, groupId: number, since: Instant): Promise<number> {
  const row = await db
    .selectFrom('members')
    .select((eb) => eb.fn.count<number>('members.user_id').distinct().as('count'))
    .where('members.source_type', '=', 'group')
    .where('members.source_id', 'in', namespacesBelow(groupId))
    .where('members.requested_at', 'is', null)
    .where('members.user_id', 'is not', null)
    .where('members.created_at', '>=', since)
    .executeTakeFirstOrThrow()
  return row.count
}
