import { dayOf } from '../base/clock.ts'
import type { Ctx } from '../ctx.ts'
import { findGroupRole, findProjectRole } from './find-queries.ts'
import { Role } from './roles.ts'

type Asking = Pick<Ctx, 'db' | 'now'>

/** Whether a user, who need not be the caller, has a role in a project: any, or at least the one given. */
export async function isProjectMember(
  ctx: Asking,
  userId: number,
  project: Parameters<typeof findProjectRole>[2],
  least: number = Role.minimal,
): Promise<boolean> {
  return (await findProjectRole(ctx.db, userId, project, dayOf(ctx.now()))) >= least
}

/** The same for a group. */
export async function isGroupMember(
  ctx: Asking,
  userId: number,
  groupId: number,
  least: number = Role.minimal,
): Promise<boolean> {
  return (await findGroupRole(ctx.db, userId, groupId, dayOf(ctx.now()))) >= least
}
