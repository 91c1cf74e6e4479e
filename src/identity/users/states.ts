import { userOf } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { dayOf, later } from '../../base/clock.ts'
import { conflict, existing, forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { findUserRow, type UserRow, updateUserRow } from './queries.ts'

type State = UserRow['state']

/** One way for a user to come into another state, and what stands against it (docs/contract/D §1.1). */
interface Move {
  readonly to: State
  readonly action: string
  /** Throws the refusal when the move can't be made; false: there is nothing to do. */
  readonly check: (ctx: Ctx, user: UserRow) => boolean
}

const ldapOnly = () => forbidden('LDAP blocked users cannot be modified by the API')

function refuseSelf(ctx: Ctx, user: UserRow, what: string): void {
  if (userOf(ctx.actor)?.id === user.id) throw forbidden(`You cannot ${what} your own user`)
}

export const userMoves = {
  block: {
    to: 'blocked',
    action: 'user_blocked',
    check(ctx, user) {
      if (user.state === 'ldap_blocked') throw ldapOnly()
      if (user.kind === 'ghost') throw forbidden('Internal users cannot be blocked')
      refuseSelf(ctx, user, 'block')
      return user.state !== 'blocked'
    },
  },
  unblock: {
    to: 'active',
    action: 'user_unblocked',
    check(_ctx, user) {
      if (user.state === 'ldap_blocked') throw ldapOnly()
      if (user.state === 'deactivated') {
        throw forbidden('Deactivated users cannot be unblocked by the API')
      }
      return user.state === 'blocked' || user.state === 'blocked_pending_approval'
    },
  },
  activate: {
    to: 'active',
    action: 'user_activated',
    check(_ctx, user) {
      if (user.state !== 'active' && user.state !== 'deactivated') {
        throw forbidden('A blocked user must be unblocked to be activated')
      }
      return user.state === 'deactivated'
    },
  },
  deactivate: {
    to: 'deactivated',
    action: 'user_deactivated',
    check(ctx, user) {
      if (user.state === 'deactivated') return false
      if (user.state !== 'active') {
        throw forbidden('A blocked user cannot be deactivated by the API')
      }
      if (user.kind !== 'human') throw forbidden('Internal users cannot be deactivated by the API')
      const days = ctx.settings.get('deactivate_dormant_users_period')
      const limit = dayOf(later(ctx.now(), -days * 86_400_000))
      if (user.last_activity_on !== null && user.last_activity_on >= limit) {
        throw forbidden(
          `The user you are trying to deactivate has been active in the past ${days} days and cannot be deactivated`,
        )
      }
      return true
    },
  },
  ban: {
    to: 'banned',
    action: 'user_banned',
    check(ctx, user) {
      refuseSelf(ctx, user, 'ban')
      if (user.state !== 'active') throw forbidden(`You cannot ban ${user.state} users.`)
      return true
    },
  },
  unban: {
    to: 'active',
    action: 'user_unbanned',
    check(_ctx, user) {
      if (user.state !== 'banned') throw forbidden(`You cannot unban ${user.state} users.`)
      return true
    },
  },
  /** The directory by which the user signs in holds them no more, or as disabled. */
  block_by_directory: {
    to: 'ldap_blocked',
    action: 'user_blocked',
    check: (_ctx, user) => user.state === 'active' || user.state === 'deactivated',
  },
  admit_by_directory: {
    to: 'active',
    action: 'user_unblocked',
    check: (_ctx, user) => user.state === 'ldap_blocked',
  },
  approve: {
    to: 'active',
    action: 'user_approved',
    check(_ctx, user) {
      if (user.state !== 'blocked_pending_approval') {
        throw conflict('The user you are trying to approve is not pending approval')
      }
      return true
    },
  },
} as const satisfies Record<string, Move>

/** Brings a user into another state; false when the user was in it. */
export async function moveUser(
  ctx: Ctx,
  userId: number,
  name: keyof typeof userMoves,
): Promise<boolean> {
  const move: Move = userMoves[name]
  return inTransaction(ctx, async (inner) => {
    const user = existing(await findUserRow(inner.db, userId), 'User')
    if (!move.check(inner, user)) return false
    await updateUserRow(inner.db, user.id, { state: move.to, updated_at: inner.now() })
    await audit(inner, {
      entity: { type: 'User', id: user.id },
      action: move.action,
      details: { username: user.username, was: user.state },
    })
    return true
  })
}
