import type { Project } from '../../../access/subjects.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { type FlagRow, findNewestFlag } from '../../../ci/feature-flags/queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { fireHooks, type HookPayload } from '../fire.ts'
import { hookActor, hookProject } from './payload-parts.ts'

/** Notifies the hooks that a feature flag was switched on or off, in the caller's transaction. */
export async function fireFeatureFlagHooks(
  ctx: Ctx,
  { row }: { readonly row: FlagRow },
): Promise<void> {
  const project = await findProjectWithRole(ctx, row.project_id)
  if (project) await fireHooks(ctx, project, 'feature_flag', () => payloadOf(ctx, project, row))
}

async function payloadOf(
  ctx: Ctx,
  project: Project,
  { id, name, description, active }: FlagRow,
): Promise<HookPayload> {
  const user = await hookActor(ctx)
  return {
    object_kind: 'feature_flag',
    project: hookProject(ctx, project),
    user,
    user_url: user ? `${ctx.config.externalUrl}/${user.username}` : null,
    object_attributes: { id, name, description, active: active === 1 },
  }
}

/** The newest feature flag as a payload, for trying a hook out. */
export async function newestFlagPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewestFlag(ctx.db, project.id)
  return row && payloadOf(ctx, project, row)
}
