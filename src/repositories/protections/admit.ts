import { findGroupRole, findProjectRole } from '../../access/find-queries.ts'
import { Role } from '../../access/roles.ts'
import { dayOf } from '../../base/clock.ts'
import { unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { LevelChanges, Target } from './levels.ts'
import { isGroupNear, isPushingKey } from './near-queries.ts'

/** The project or group whose branches, tags or environments are protected. */
export type Owner =
  | {
      readonly kind: 'project'
      readonly id: number
      readonly namespaceId: number
    }
  | { readonly kind: 'group'; readonly id: number }

export interface AdmitOptions {
  /** The least role that a named user must have; membership is enough unless told. */
  readonly userRole?: number
  /** Whether deploy keys may be named. */
  readonly keys?: boolean
}

/** Refuses levels for those who have nothing to do with the project or group: 422 (docs/contract/B-resolved §9.1). */
export async function admitTargets(
  ctx: Ctx,
  owner: Owner,
  changes: LevelChanges,
  what: string,
  options: AdmitOptions = {},
): Promise<void> {
  for (const target of [...changes.add, ...changes.change.map((one) => one.target)]) {
    const reason = await reasonAgainst(ctx, owner, target, options)
    if (reason !== undefined) throw unprocessable([`${what} ${reason}`])
  }
}

async function reasonAgainst(
  ctx: Ctx,
  owner: Owner,
  target: Target,
  options: AdmitOptions,
): Promise<string | undefined> {
  if (target.user_id !== null) {
    const role = await roleOf(ctx, owner, target.user_id)
    if (role >= (options.userRole ?? Role.guest)) return undefined
    return options.userRole === undefined || role === 0
      ? `user is not a member of the ${owner.kind}`
      : `user must be at least a maintainer of the ${owner.kind}`
  }
  if (target.group_id !== null) {
    const isNear = await isGroupNear(ctx.db, owner, target.group_id, dayOf(ctx.now()))
    return isNear ? undefined : `group does not have access to the ${owner.kind}`
  }
  if (target.deploy_key_id === null) return undefined
  const mayUse =
    options.keys === true &&
    owner.kind === 'project' &&
    (await isPushingKey(ctx.db, owner.id, target.deploy_key_id))
  return mayUse ? undefined : `deploy key is not enabled for this ${owner.kind}`
}

function roleOf(ctx: Ctx, owner: Owner, userId: number): Promise<number> {
  const today = dayOf(ctx.now())
  return owner.kind === 'project'
    ? findProjectRole(ctx.db, userId, { id: owner.id, namespace_id: owner.namespaceId }, today)
    : findGroupRole(ctx.db, userId, owner.id, today)
}
