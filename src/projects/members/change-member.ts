import { isAdmin, userOf } from '../../access/actor.ts'
import { Role } from '../../access/roles.ts'
import { type Day, dayOf } from '../../base/clock.ts'
import { runEffects } from '../../base/effects.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { isInForce } from './add-member.ts'
import {
  countOtherOwners,
  deleteMemberRow,
  deleteMembersBelow,
  findMemberUser,
  findNamespaceOwner,
  findRowOfUser,
  updateMemberRow,
} from './queries.ts'
import { recordMembership } from './record.ts'
import type { MemberRow } from './rows.ts'
import {
  assertExpiry,
  assertLevel,
  assertMayAdmin,
  assertNotBelowInherited,
  assertWithinOwnLevel,
} from './rules.ts'
import type { MemberSource } from './source.ts'

/** The direct membership of a user in a source, or 404. */
export async function getMembership(
  ctx: Ctx,
  source: MemberSource,
  userId: number,
): Promise<MemberRow> {
  const row = await findRowOfUser(ctx.db, source, userId)
  if (!row || !isInForce(row, dayOf(ctx.now()))) throw notFound()
  return row
}

/** 403 when a group would be left without an owner. Asked inside the transaction that writes. */
export async function assertNotLastOwner(
  ctx: Ctx,
  source: MemberSource,
  row: MemberRow,
): Promise<void> {
  if (row.access_level !== Role.owner || row.user_id === null) return
  const today = dayOf(ctx.now())
  if (source.type === 'project') {
    const owner = await findNamespaceOwner(ctx.db, source.namespaceId)
    if (owner === row.user_id) throw forbidden()
    return
  }
  if ((await countOtherOwners(ctx.db, source.id, row.user_id, today)) === 0) throw forbidden()
}

export interface MemberChange {
  readonly level: number
  /** Undefined leaves it as it is, null ends it. */
  readonly expiresAt?: Day | null | undefined
  readonly memberRoleId?: number | null | undefined
}

/** Changes a direct membership: 404 before 403 (docs/contract/A-resolved §9). */
export async function changeMember(
  ctx: Ctx,
  source: MemberSource,
  userId: number,
  change: MemberChange,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const row = await getMembership(ctx, source, userId)
    assertMayAdmin(source)
    assertWithinOwnLevel(ctx, source, row.access_level)
    assertLevel(source, change.level)
    assertWithinOwnLevel(ctx, source, change.level)
    assertExpiry(ctx, change.expiresAt)
    if (change.level < row.access_level) await assertNotLastOwner(ctx, source, row)
    if (change.level !== row.access_level) {
      await assertNotBelowInherited(ctx, source, userId, change.level)
    }
    await updateMemberRow(ctx.db, row.id, {
      access_level: change.level,
      updated_at: ctx.now(),
      ...(change.expiresAt === undefined ? {} : { expires_at: change.expiresAt }),
      ...(change.memberRoleId === undefined ? {} : { member_role_id: change.memberRoleId }),
    })
    await recordMembership(ctx, source, 'member_changed', userId, change.level)
  })
}

export interface Removal {
  /** Keep what the user has in groups and projects below. */
  readonly skipSubresources: boolean
  /** Take the user off issues and merge requests there, by a task. */
  readonly unassign: boolean
}

/** Removes a membership, found by `getMembership`; checks that need no other order (docs/contract/A-resolved §9 Delete). */
export async function removeMember(
  ctx: Ctx,
  source: MemberSource,
  userId: number,
  removal: Removal,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    // Read again inside: two owners who leave at once must not both find the other.
    const row = await getMembership(ctx, source, userId)
    await assertMayRemove(ctx, source, row)
    await deleteMemberRow(ctx.db, row.id)
    if (source.type === 'group' && !removal.skipSubresources) {
      await deleteMembersBelow(ctx.db, source.id, userId)
    }
    if (removal.unassign) {
      await runEffects(ctx, ctx.effects.memberUnassigned, { source, userId })
    }
    await recordMembership(ctx, source, 'member_removed', userId, row.access_level)
  })
}

async function assertMayRemove(ctx: Ctx, source: MemberSource, row: MemberRow): Promise<void> {
  const user = await findMemberUser(ctx.db, { id: row.user_id ?? 0 })
  if (user?.kind === 'project_bot' || user?.kind === 'group_bot') throw forbidden()
  const own = userOf(ctx.actor)?.id === row.user_id
  if (!own && !isAdmin(ctx.actor)) {
    assertMayAdmin(source)
    assertWithinOwnLevel(ctx, source, row.access_level)
  }
  await assertNotLastOwner(ctx, source, row)
}
