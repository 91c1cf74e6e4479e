import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'
import { userBasicColumns } from './basic.ts'

export async function isFollowing(
  db: Db,
  followerId: number,
  followeeId: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('follows')
    .select('created_at')
    .where('follower_id', '=', followerId)
    .where('followee_id', '=', followeeId)
    .executeTakeFirst()
  return row !== undefined
}

/** False when the one follows the other already. */
export async function insertFollow(
  db: Db,
  followerId: number,
  followeeId: number,
  now: Instant,
): Promise<boolean> {
  const done = await db
    .insertInto('follows')
    .values({ follower_id: followerId, followee_id: followeeId, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (done.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** False when the one did not follow the other. */
export async function deleteFollow(
  db: Db,
  followerId: number,
  followeeId: number,
): Promise<boolean> {
  const done = await db
    .deleteFrom('follows')
    .where('follower_id', '=', followerId)
    .where('followee_id', '=', followeeId)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}

/** Those who follow somebody (`followers`), or whom somebody follows (`following`). */
export function followsQuery(db: Db, userId: number, which: 'followers' | 'following') {
  const [own, other] =
    which === 'followers'
      ? (['follows.followee_id', 'follows.follower_id'] as const)
      : (['follows.follower_id', 'follows.followee_id'] as const)
  return db
    .selectFrom('follows')
    .innerJoin('users', 'users.id', other)
    .select(userBasicColumns)
    .where(own, '=', userId)
    .where('users.state', '=', 'active')
    .orderBy('users.id', 'desc')
}
