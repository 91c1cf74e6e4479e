import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Actor, ANONYMOUS } from '../../access/actor.ts'
import { isReachedByJobs } from '../../access/authentication/job-token-queries.ts'
import { Role } from '../../access/roles.ts'
import { levelOf, seesFeature, seesProject, viewerOf } from '../../access/visible-queries.ts'
import type { Ctx } from '../../ctx.ts'

/** Whether the caller may read the packages of the row of `projects` that a query is at. */
export function readsPackagesOf(ctx: Pick<Ctx, 'actor' | 'now'>): RawBuilder<SqlBool> {
  const isLive = sql<SqlBool>`projects.pending_delete = 0`
  return sql<SqlBool>`(${isLive} AND (${byRole(ctx)} OR ${byDeployToken(ctx.actor)}))`
}

/** A job reads as its user where a job token reaches, and elsewhere what everybody may. */
function byRole(ctx: Pick<Ctx, 'actor' | 'now'>): RawBuilder<SqlBool> {
  const { actor } = ctx
  const own = seenBy(actor, ctx)
  if (actor.kind !== 'job') return own
  const isReached = isReachedByJobs(actor.projectId, sql`projects.id`)
  return sql<SqlBool>`((${isReached} AND ${own}) OR ${seenBy(ANONYMOUS, ctx)})`
}

function seenBy(actor: Actor, ctx: Pick<Ctx, 'now'>): RawBuilder<SqlBool> {
  const viewer = viewerOf({ actor, now: ctx.now })
  return sql<SqlBool>`((${seesProject(viewer)}
    AND ${seesFeature(viewer, 'package_registry', Role.guest)})
    OR ${levelOf('package_registry')} = 'public')`
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

/** The projects below a group, or below the top-level group of a path. */
export type WidePlace = { readonly groupId: number } | { readonly rootPath: string }

/** Ids of the namespaces of a place. A subquery for `IN`. */
export function belowPlace(place: WidePlace): RawBuilder<number> {
  if ('groupId' in place) return belowGroup(place.groupId)
  return sql<number>`(
    SELECT below.namespace_id FROM namespace_ancestors below
      JOIN namespaces root ON root.id = below.ancestor_id
      WHERE root.parent_id IS NULL AND root.full_path = ${place.rootPath})`
}
