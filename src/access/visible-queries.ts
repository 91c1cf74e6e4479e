import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Day, dayOf } from '../base/clock.ts'
import type { Ctx } from '../ctx.ts'
import { isAdmin, userOf } from './actor.ts'
import { isReachedByJobs } from './authentication/job-token-queries.ts'
import { CODE_FEATURES, type Feature } from './features.ts'
import { Role } from './roles.ts'

/** For whom a list is read. */
export interface Viewer {
  readonly userId: number | null
  readonly admin: boolean
  readonly external: boolean
  readonly today: Day
  /** The project of the job that asks: the user's role counts only where its token reaches. */
  readonly jobOf?: number | undefined
}

/** The caller, today. */
export function viewerOf({ actor, now }: Pick<Ctx, 'actor' | 'now'>): Viewer {
  const user = userOf(actor)
  return {
    userId: user?.id ?? null,
    admin: isAdmin(actor),
    external: user?.external ?? false,
    today: dayOf(now()),
    ...(actor.kind === 'job' ? { jobOf: actor.projectId } : {}),
  }
}

/** Whether what the viewer is and made counts in the row of `projects` that a query is at: a job's token has its limits. */
export function countsIn({ jobOf }: Viewer): RawBuilder<SqlBool> {
  return jobOf === undefined ? sql<SqlBool>`1 = 1` : isReachedByJobs(jobOf, sql`projects.id`)
}

/** Whether the row of `members m` counts: no request, nobody who waits, not ended (docs/contract/A-resolved §9). */
export function isLive(today: Day): RawBuilder<SqlBool> {
  return sql<SqlBool>`m.requested_at IS NULL AND m.state = 'active' AND (m.expires_at IS NULL OR m.expires_at > ${today})`
}

/**
 * Ids of the groups in which the user has at least this role: by membership there or above, or through groups that were
 * invited there or above (docs/contract/D §2.1). A subquery for `IN`.
 */
export function groupsWithRole(userId: number, today: Day, least = 1): RawBuilder<number> {
  return sql<number>`(
    SELECT below.namespace_id FROM members m
      JOIN namespace_ancestors below ON below.ancestor_id = m.source_id
      WHERE m.user_id = ${userId} AND m.source_type = 'group' AND m.access_level >= ${least}
        AND ${isLive(today)}
    UNION
    SELECT target.namespace_id FROM members m
      JOIN namespace_ancestors below ON below.ancestor_id = m.source_id
      JOIN group_links l ON l.group_id = below.namespace_id AND l.source_type = 'group'
        AND l.access_level >= ${least} AND (l.expires_at IS NULL OR l.expires_at > ${today})
      JOIN namespace_ancestors target ON target.ancestor_id = l.source_id
      WHERE m.user_id = ${userId} AND m.source_type = 'group' AND m.access_level >= ${least}
        AND ${isLive(today)})`
}

/** Ids of the projects in which the user has at least this role by the project itself or an invitation to it. */
function ownProjectsWithRole(userId: number, today: Day, least: number): RawBuilder<number> {
  return sql<number>`(
    SELECT m.source_id FROM members m
      WHERE m.user_id = ${userId} AND m.source_type = 'project' AND m.access_level >= ${least}
        AND ${isLive(today)}
    UNION
    SELECT l.source_id FROM members m
      JOIN namespace_ancestors below ON below.ancestor_id = m.source_id
      JOIN group_links l ON l.group_id = below.namespace_id AND l.source_type = 'project'
        AND l.access_level >= ${least} AND (l.expires_at IS NULL OR l.expires_at > ${today})
      WHERE m.user_id = ${userId} AND m.source_type = 'group' AND m.access_level >= ${least}
        AND ${isLive(today)})`
}

/** Whether the user has at least this role in the row of `projects` that a query is at. */
export function hasProjectRole(userId: number, today: Day, least = 1): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${waysToRole(userId, today, least)})`
}

/** The ways to a role, with `OR` between: each is found by an index. */
function waysToRole(userId: number, today: Day, least: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`projects.namespace_id IN ${groupsWithRole(userId, today, least)}
    OR projects.id IN ${ownProjectsWithRole(userId, today, least)}
    OR projects.namespace_id IN (SELECT id FROM namespaces WHERE kind = 'user' AND owner_id = ${userId})`
}

/** Whether the viewer sees the row of `projects` that a query is at (docs/contract/D §2.4). */
export function seesProject(viewer: Viewer): RawBuilder<SqlBool> {
  if (viewer.admin) return sql<SqlBool>`1 = 1`
  if (viewer.userId === null) return sql<SqlBool>`projects.visibility = 'public'`
  return sql<SqlBool>`(projects.visibility IN ${openTo(viewer)}
    OR (${countsIn(viewer)} AND ${hasProjectRole(viewer.userId, viewer.today)}))`
}

/**
 * The same for a query that counts: SQLite then collects what each way leads to, by its index, in place of looking at every
 * project. A page in an order is found sooner by `seesProject`, which is asked along the order until the page is full.
 */
export function seesProjectWhenCounted(viewer: Viewer): RawBuilder<SqlBool> {
  const { admin, userId, jobOf, today } = viewer
  if (admin || userId === null || jobOf !== undefined) return seesProject(viewer)
  return sql<SqlBool>`(projects.visibility IN ${openTo(viewer)} OR ${waysToRole(userId, today, 1)})`
}

/** The levels of visibility at which the viewer needs no role. */
function openTo({ external }: Viewer): RawBuilder<string> {
  return external ? sql`('public')` : sql`('public', 'internal')`
}

/** Whether the viewer has at least this role in the row of `projects` that a query is at, as administrators have all over. */
export function hasRole(viewer: Viewer, least = 1): RawBuilder<SqlBool> {
  if (viewer.admin) return sql<SqlBool>`1 = 1`
  if (viewer.userId === null) return sql<SqlBool>`1 = 0`
  return sql<SqlBool>`(${countsIn(viewer)} AND ${hasProjectRole(viewer.userId, viewer.today, least)})`
}

/** Whether the viewer may read internal notes in the row of `projects` that a query is at (`read_internal_notes`). */
export function readsInternalNotes(viewer: Viewer): RawBuilder<SqlBool> {
  return hasRole(viewer, Role.planner)
}

/** The level of a feature of the row of `projects` that a query is at, as `featureLevel` has it. */
export function levelOf(feature: Feature): RawBuilder<string> {
  const own = storedLevel(feature)
  if (!CODE_FEATURES.includes(feature)) return own
  const code = storedLevel('repository')
  return sql<string>`CASE WHEN 'disabled' IN (${own}, ${code}) THEN 'disabled'
    WHEN ${code} = 'private' THEN 'private' ELSE ${own} END`
}

function storedLevel(feature: Feature): RawBuilder<string> {
  return sql<string>`coalesce(json_extract(projects.settings, ${`$.${feature}_access_level`}), 'enabled')`
}

/**
 * Whether the viewer may read a feature of the row of `projects` that a query is at, as an ability of this least role
 * and of visitors decides: members with the role, and visitors unless the project keeps the feature to members.
 */
export function seesFeature(viewer: Viewer, feature: Feature, least: number): RawBuilder<SqlBool> {
  const level = levelOf(feature)
  if (viewer.admin) return sql<SqlBool>`${level} <> 'disabled'`
  const open = sql`${level} NOT IN ('disabled', 'private')`
  if (viewer.userId === null) return sql<SqlBool>`(projects.visibility = 'public' AND ${open})`
  const visible = viewer.external ? sql`('public')` : sql`('public', 'internal')`
  return sql<SqlBool>`((projects.visibility IN ${visible} AND ${open})
    OR (${level} <> 'disabled' AND ${countsIn(viewer)}
      AND ${hasProjectRole(viewer.userId, viewer.today, least)}))`
}

/** Whether the viewer may read labels and milestones of the row of `projects` that a query is at (`read_labels`). */
export function seesLabels(viewer: Viewer): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${seesProject(viewer)} AND (${seesFeature(viewer, 'issues', Role.guest)}
    OR ${seesFeature(viewer, 'merge_requests', Role.guest)}))`
}

/**
 * Whether the user belongs to the row of `namespaces` that a query is at: has a role in it, in a group below it or in a
 * project there, be it through an invited group.
 */
export function belongsToGroup(userId: number, today: Day): RawBuilder<SqlBool> {
  return sql<SqlBool>`namespaces.id IN (
    SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id IN ${groupsWithRole(userId, today)}
    UNION
    SELECT above.ancestor_id FROM projects p
      JOIN namespace_ancestors above ON above.namespace_id = p.namespace_id
      WHERE p.id IN ${ownProjectsWithRole(userId, today, 1)})`
}

/** Whether the viewer sees the group in the row of `namespaces` that a query is at. */
export function seesGroup(viewer: Viewer): RawBuilder<SqlBool> {
  if (viewer.admin) return sql<SqlBool>`1 = 1`
  if (viewer.userId === null) return sql<SqlBool>`namespaces.visibility = 'public'`
  const open = viewer.external ? sql`('public')` : sql`('public', 'internal')`
  return sql<SqlBool>`(namespaces.visibility IN ${open} OR ${belongsToGroup(viewer.userId, viewer.today)})`
}
