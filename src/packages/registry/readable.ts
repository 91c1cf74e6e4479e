import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../access/actor.ts'
import { Role } from '../../access/roles.ts'
import { seesFeature, seesProject, viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'

/** Whether the caller may read the packages of the row of `projects` that a query is at. */
export function readsPackagesOf(ctx: Pick<Ctx, 'actor' | 'now'>): RawBuilder<SqlBool> {
  const viewer = viewerOf(ctx.actor, dayOf(ctx.now()))
  const isLive = sql<SqlBool>`projects.pending_delete = 0`
  const byRole = sql<SqlBool>`(${seesProject(viewer)}
    AND ${seesFeature(viewer, 'package_registry', Role.reporter)})`
  return sql<SqlBool>`(${isLive} AND (${byRole} OR ${byDeployToken(ctx.actor)}))`
}

/** A deploy token reads the packages of its project, or of all projects below its group. */
function byDeployToken(actor: Actor): RawBuilder<SqlBool> {
  if (actor.kind !== 'deploy_token') return sql<SqlBool>`1 = 0`
  const isOn = sql`coalesce(json_extract(projects.settings, '$.package_registry_access_level'),
    'enabled') <> 'disabled'`
  const place =
    actor.groupId === null
      ? sql`projects.id = ${actor.projectId}`
      : sql`projects.namespace_id IN ${belowGroup(actor.groupId)}`
  return sql<SqlBool>`(${isOn} AND ${place})`
}

/** Ids of a group and the groups below it. A subquery for `IN`. */
export function belowGroup(groupId: number): RawBuilder<number> {
  return sql<number>`(
    SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = ${groupId})`
}
