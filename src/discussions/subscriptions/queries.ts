import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db, Schema } from '../../store/schema.ts'

export type SubscriptionSubject = Schema['subscriptions']['subject_type']

/** What the user said of hearing about the subject: true, false, or undefined when nothing. */
export async function findSubscription(
  db: Db,
  type: SubscriptionSubject,
  id: number,
  userId: number,
): Promise<boolean | undefined> {
  const row = await db
    .selectFrom('subscriptions')
    .select('subscribed')
    .where('subject_type', '=', type)
    .where('subject_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && row.subscribed === 1
}

/** Ids of those subjects that the user follows by an explicit yes. */
export async function listSubscribedIds(
  db: Db,
  type: SubscriptionSubject,
  ids: readonly number[],
  userId: number,
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('subscriptions')
    .select('subject_id')
    .where('subject_type', '=', type)
    .where('subject_id', 'in', ids)
    .where('user_id', '=', userId)
    .where('subscribed', '=', 1)
    .execute()
  return new Set(rows.map((row) => row.subject_id))
}

export async function saveSubscription(
  db: Db,
  type: SubscriptionSubject,
  id: number,
  userId: number,
  subscribed: boolean,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('subscriptions')
    .values({ subject_type: type, subject_id: id, user_id: userId, subscribed, created_at: now })
    .onConflict((conflict) =>
      conflict.columns(['subject_type', 'subject_id', 'user_id']).doUpdateSet({ subscribed }),
    )
    .execute()
}

/** Those who follow some subjects follow another from then on. */
export async function repointSubscriptions(
  db: Db,
  type: SubscriptionSubject,
  fromIds: readonly number[],
  toId: number,
): Promise<void> {
  if (fromIds.length === 0) return
  await sql`UPDATE OR IGNORE subscriptions SET subject_id = ${toId}
    WHERE subject_type = ${type} AND subject_id IN (${sql.join(fromIds)})`.execute(db)
}
