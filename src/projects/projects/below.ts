import type { Visibility } from '../../access/roles.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import {
  hideProjects,
  listLivingIds,
  listProjectIds,
  lowerProjects,
  moveProjectPaths,
  switchRunnersOff,
} from './below-queries.ts'
import { discardProject } from './removal/remove-project.ts'

/** Lets the paths of all projects below a namespace follow its new path; in the transaction that gives it. */
export async function followNamespacePath(
  ctx: Ctx,
  namespaceId: number,
  from: string,
  to: string,
): Promise<void> {
  if (from !== to) await moveProjectPaths(ctx.db, namespaceId, from, to)
}

/** Makes all projects below a group no more visible than it. */
export async function lowerProjectsBelow(
  ctx: Ctx,
  namespaceId: number,
  visibility: Visibility,
  tooHigh: readonly Visibility[],
): Promise<void> {
  if (tooHigh.length > 0) await lowerProjects(ctx.db, namespaceId, visibility, tooHigh)
}

/** No project below a group may use the runners of the instance any more, until it says so itself where it may. */
export async function restrictProjectRunners(ctx: Ctx, namespaceId: number): Promise<void> {
  await switchRunnersOff(ctx.db, namespaceId, ctx.now())
}

/** Lets follow what follows from the end of all projects below a group, while they still have their paths. */
export async function announceRemovalBelow(ctx: Ctx, namespaceId: number): Promise<void> {
  for (const id of await listLivingIds(ctx.db, namespaceId)) {
    await runEffects(ctx, ctx.effects.projectChanged, { id, change: 'destroy' })
  }
}

/** Makes all projects below a group unfindable, in the transaction that hides the group. */
export async function hideProjectsBelow(ctx: Ctx, namespaceId: number): Promise<void> {
  await hideProjects(ctx.db, namespaceId, ctx.now())
}

/** Removes the repositories and rows of all hidden projects below a group. */
export async function discardProjectsBelow(
  ctx: Ctx,
  namespaceId: number,
  signal: AbortSignal,
): Promise<void> {
  for (const id of await listProjectIds(ctx.db, namespaceId)) {
    signal.throwIfAborted()
    await discardProject(ctx, id)
  }
}
