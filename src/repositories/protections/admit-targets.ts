import { isGroupMember, isProjectMember } from '../../access/members.ts'
import { Role } from '../../access/roles.ts'
import type { Source } from '../../access/sources.ts'
import { dayOf } from '../../base/clock.ts'
import { unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Level } from '../refs/protection.ts'
import type { LevelChanges } from './levels.ts'
import { groupHasAccess, isPushingKey } from './target-queries.ts'

export interface AdmitOptions {
  /** The least role that a named user must have; membership is enough unless given. */
  readonly userRole?: number
  /** Whether deploy keys may be named. */
  readonly keys?: boolean
}

/** Whom a level means, as far as they must have to do with its owner. */
type Meant = Pick<Level, 'user_id' | 'group_id'> & Partial<Level>

/** Refuses levels for those who have nothing to do with the project or group: 422 (docs/contract/B-resolved §9.1). */
export async function admitTargets(
  ctx: Ctx,
  owner: Source,
  changes: LevelChanges<Meant>,
  what: string,
  options: AdmitOptions,
): Promise<void> {
  for (const target of [...changes.add, ...changes.change.map((one) => one.target)]) {
    const reason = await reasonAgainst(ctx, owner, target, options)
    if (reason !== undefined) throw unprocessable([`${what} ${reason}`])
  }
}

async function reasonAgainst(
  ctx: Ctx,
  owner: Source,
  target: Meant,
  options: AdmitOptions,
): Promise<string | undefined> {
  if (target.user_id !== null) {
    const has = (least: number) => hasRole(ctx, owner, target.user_id ?? 0, least)
    if (await has(options.userRole ?? Role.guest)) return undefined
    return options.userRole === undefined || !(await has(Role.minimal))
      ? `user is not a member of the ${owner.type}`
      : `user must be at least a maintainer of the ${owner.type}`
  }
  if (target.group_id !== null) {
    const hasAccess = await groupHasAccess(ctx.db, owner, target.group_id, dayOf(ctx.now()))
    return hasAccess ? undefined : `group does not have access to the ${owner.type}`
  }
  if (target.deploy_key_id == null) return undefined
  const mayUse =
    options.keys === true &&
    owner.type === 'project' &&
    (await isPushingKey(ctx.db, owner.id, target.deploy_key_id))
  return mayUse ? undefined : `deploy key is not enabled for this ${owner.type}`
}

function hasRole(ctx: Ctx, owner: Source, userId: number, least: number): Promise<boolean> {
  return owner.type === 'project'
    ? isProjectMember(ctx, userId, owner, least)
    : isGroupMember(ctx, userId, owner.id, least)
}
