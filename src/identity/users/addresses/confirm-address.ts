import { actAs } from '../../../access/act-as.ts'
import { audit } from '../../../access/audit.ts'
import { hashPassword } from '../../../access/authentication/password.ts'
import { digestOf } from '../../../access/token-use.ts'
import { later } from '../../../base/clock.ts'
import { runEffects } from '../../../base/effects.ts'
import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { taken, uniquely } from '../../../store/unique.ts'
import { passwordFaults } from '../passwords/password-faults.ts'
import { findUserRow, isEmailTaken, type UserRow, updateUserRow } from '../queries.ts'
import {
  sendConfirmation,
  sendConfirmationAgain,
  sendPasswordLink,
  sendPasswordLinkTo,
} from '../tasks.ts'
import { deleteConfirmations, findConfirmation, takeConfirmation } from './confirmation-queries.ts'
import { confirmEmailRow } from './queries.ts'

const CONFIRM_WITHIN_MS = 3 * 86_400_000
const RESET_WITHIN_MS = 3_600_000

/** Asks the owner of an address, by mail, whether it is theirs. */
export async function confirmAddress(
  ctx: Ctx,
  user: Pick<UserRow, 'id'>,
  email: string,
): Promise<void> {
  await ctx.work.enqueue(ctx.db, sendConfirmation, { user_id: user.id, email })
}

/** Sends the user a link under which a new password can be set. */
export async function offerNewPassword(
  ctx: Ctx,
  user: Pick<UserRow, 'id' | 'email'>,
): Promise<void> {
  await ctx.work.enqueue(ctx.db, sendPasswordLink, { user_id: user.id, email: user.email })
}

/**
 * Sends a link for a new password to whoever has this address, if somebody has. The same is done either way: neither the
 * answer nor its time says whether the address is known here.
 */
export async function askForNewPassword(ctx: Ctx, email: string): Promise<void> {
  await ctx.work.enqueue(ctx.db, sendPasswordLinkTo, { email: email.trim().slice(0, 255) })
}

/** Asks the owner of an address once more whether it is theirs, if it waits for that; the same is done either way. */
export async function askForConfirmation(ctx: Ctx, email: string): Promise<void> {
  await ctx.work.enqueue(ctx.db, sendConfirmationAgain, { email: email.trim().slice(0, 255) })
}

/** Follows a confirmation link: the address becomes the user's, or a further one is confirmed. */
export async function followConfirmation(ctx: Ctx, secret: string): Promise<UserRow> {
  return inTransaction(ctx, async (inner) => {
    const since = later(inner.now(), -CONFIRM_WITHIN_MS)
    const link = await findConfirmation(inner.db, digestOf(secret), 'confirm', since)
    const user = link && (await findUserRow(inner.db, link.user_id))
    if (!link || !user || !(await takeConfirmation(inner.db, link.id))) {
      throw invalid({ confirmation_token: ['is invalid'] })
    }
    const confirmed = await confirm(inner, user, link.email)
    const address = { userId: confirmed.id, email: link.email }
    await runEffects(inner, inner.effects.addressConfirmed, address)
    return confirmed
  })
}

async function confirm(ctx: Ctx, user: UserRow, email: string): Promise<UserRow> {
  const now = ctx.now()
  if (same(user.email, email)) {
    return updateUserRow(ctx.db, user.id, { confirmed_at: now, updated_at: now })
  }
  if (user.unconfirmed_email !== null && same(user.unconfirmed_email, email)) {
    if (await isEmailTaken(ctx.db, email, user.id)) throw taken('email')
    const changes = { email, unconfirmed_email: null, confirmed_at: now, updated_at: now }
    return uniquely({ 'users.email': () => taken('email') }, () =>
      updateUserRow(ctx.db, user.id, changes),
    )
  }
  if (!(await confirmEmailRow(ctx.db, user.id, email, now))) {
    throw invalid({ confirmation_token: ['is invalid'] })
  }
  return user
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Links that were sent before count no more once the password is another. */
export async function forgetPasswordLinks(
  ctx: Pick<Ctx, 'db'>,
  { userId }: { readonly userId: number },
): Promise<void> {
  await deleteConfirmations(ctx.db, userId, 'reset_password')
}

/**
 * Sets the password of whoever followed the link of `offerNewPassword`, as long as the address to which it was sent is
 * the user's: who has lost the mailbox gets another address.
 */
export async function setPasswordByLink(
  ctx: Ctx,
  secret: string,
  password: string,
): Promise<UserRow> {
  const since = later(ctx.now(), -RESET_WITHIN_MS)
  const link = await findConfirmation(ctx.db, digestOf(secret), 'reset_password', since)
  const user = link && (await findUserRow(ctx.db, link.user_id))
  if (!link || !user || !same(user.email, link.email)) {
    throw invalid({ reset_password_token: ['is invalid'] })
  }
  const faults = passwordFaults(password, user, ctx.settings.all)
  if (faults.length > 0) throw invalid({ password: faults })
  const password_hash = await hashPassword(password)
  return inTransaction(ctx, async (inner) => {
    if (!(await takeConfirmation(inner.db, link.id))) {
      throw invalid({ reset_password_token: ['is invalid'] })
    }
    await runEffects(inner, inner.effects.passwordChanged, { userId: user.id })
    const entity = { type: 'User', id: user.id } as const
    await audit(await actAs(inner, user.id), { entity, action: 'password_set_by_link' })
    return updateUserRow(inner.db, user.id, {
      password_hash,
      password_expires_at: null,
      updated_at: inner.now(),
    })
  })
}
