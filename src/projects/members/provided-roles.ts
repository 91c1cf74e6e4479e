import { Role } from '../../access/roles.ts'
import { groupSource, type Source } from '../../access/sources.ts'
import { getVisibleGroup } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { ProvidedRoles } from '../../identity/effects.ts'
import { inTransaction } from '../../store/transaction.ts'
import { addMember } from './add-member.ts'
import { changeMember, removeMember } from './change-member.ts'
import { isInForce } from './find-member.ts'
import { findInheritedLevel, findRowOfUser, updateMemberRow } from './queries.ts'

/**
 * Makes somebody a member of the groups that their sign-in provider grants, and ends what it granted before. What people
 * gave by hand stays as it is. A group that cannot be joined keeps nobody from signing in.
 */
export async function applyProvidedRoles(
  ctx: Ctx,
  { userId, provider, granted }: ProvidedRoles,
): Promise<void> {
  for (const [path, role] of granted) {
    try {
      const group = await getVisibleGroup(ctx, path)
      const level = role === undefined ? undefined : Role[role]
      await inTransaction(ctx, (ctx) => apply(ctx, groupSource(group), userId, provider, level))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const about = { provider, group: path, user_id: userId, why: error.message }
      ctx.log.warn('a role by a sign-in provider was not given', about)
    }
  }
}

async function apply(
  ctx: Ctx,
  source: Source,
  userId: number,
  provider: string,
  level: number | undefined,
): Promise<void> {
  const row = await findRowOfUser(ctx.db, source, userId)
  const member = row && isInForce(row, dayOf(ctx.now())) ? row : undefined
  if (member && member.provider !== provider) return
  const inherited = await findInheritedLevel(ctx.db, source, userId, dayOf(ctx.now()))
  const isNeeded = level !== undefined && level >= (inherited?.level ?? 0)
  if (!isNeeded) {
    const removal = { skipSubresources: true, unassign: false }
    if (member) await removeMember(ctx, source, userId, removal)
    return
  }
  if (member?.access_level === level) return
  if (member) await changeMember(ctx, source, userId, { access_level: level })
  else await addMember(ctx, source, { id: userId }, { access_level: level })
  const made = await findRowOfUser(ctx.db, source, userId)
  if (made) await updateMemberRow(ctx.db, made.id, { provider })
}
