import { userOf } from '../../access/actor.ts'
import { notModified } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  findSubscription,
  listSubscribedIds,
  repointSubscriptions,
  type SubscriptionSubject,
  saveSubscription,
} from './queries.ts'

/**
 * Notes whether the caller is subscribed to a subject; 304 when nothing changes (docs/contract/D §0.3). `byDefault` says what
 * holds while the caller has said nothing (participants are subscribed to a thread).
 */
export async function setSubscribed(
  ctx: Ctx,
  type: SubscriptionSubject,
  id: number,
  subscribed: boolean,
  byDefault = false,
): Promise<void> {
  const userId = callerId(ctx)
  await inTransaction(ctx, async (ctx) => {
    const before = (await findSubscription(ctx.db, type, id, userId)) ?? byDefault
    if (before === subscribed) throw notModified()
    await saveSubscription(ctx.db, type, id, userId, subscribed, ctx.now())
  })
}

/** Whether the caller is subscribed to a subject. */
export async function isSubscribed(
  ctx: Ctx,
  type: SubscriptionSubject,
  id: number,
  byDefault = false,
): Promise<boolean> {
  const user = userOf(ctx.actor)
  if (!user) return false
  return (await findSubscription(ctx.db, type, id, user.id)) ?? byDefault
}

/** Which of the subjects the caller follows by an explicit yes. */
export async function subscribedAmong(
  ctx: Ctx,
  type: SubscriptionSubject,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const user = userOf(ctx.actor)
  return user ? listSubscribedIds(ctx.db, type, ids, user.id) : new Set()
}

/** Ends mails about a subject for somebody who showed a mail about it. */
export async function unsubscribeUser(
  ctx: Pick<Ctx, 'db' | 'now'>,
  type: SubscriptionSubject,
  id: number,
  userId: number,
): Promise<void> {
  await saveSubscription(ctx.db, type, id, userId, false, ctx.now())
}

/** Lets who follows some subjects follow another, which takes their place. */
export function moveSubscriptions(
  ctx: Pick<Ctx, 'db'>,
  type: SubscriptionSubject,
  fromIds: readonly number[],
  toId: number,
): Promise<void> {
  return repointSubscriptions(ctx.db, type, fromIds, toId)
}
