import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, Schema } from '../../store/schema.ts'

export type AwardableType = Schema['award_emoji']['awardable_type']

function awardQuery(db: Db, type: AwardableType, id: number) {
  return db
    .selectFrom('award_emoji')
    .innerJoin('users', 'users.id', 'award_emoji.user_id')
    .select(userBasicColumns)
    .select([
      'award_emoji.id as award_id',
      'award_emoji.name as award_name',
      'award_emoji.created_at as awarded_at',
      'award_emoji.updated_at as changed_at',
    ])
    .where('award_emoji.awardable_type', '=', type)
    .where('award_emoji.awardable_id', '=', id)
}

export type AwardRow = Awaited<ReturnType<typeof listAwardRows>>['items'][number]

export function listAwardRows(db: Db, type: AwardableType, id: number, page: OffsetPage) {
  return listPage(db, awardQuery(db, type, id).orderBy('award_emoji.id'), page)
}

export function findAward(db: Db, type: AwardableType, id: number, awardId: number) {
  return awardQuery(db, type, id).where('award_emoji.id', '=', awardId).executeTakeFirst()
}

export async function insertAward(
  db: Db,
  type: AwardableType,
  id: number,
  name: string,
  userId: number,
  now: Instant,
): Promise<number> {
  const row = await db
    .insertInto('award_emoji')
    .values({
      awardable_type: type,
      awardable_id: id,
      name,
      user_id: userId,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** False when it was not there. */
export async function deleteAward(db: Db, awardId: number): Promise<boolean> {
  const result = await db.deleteFrom('award_emoji').where('id', '=', awardId).executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** A user's own reaction of a name. */
export function findOwnAward(
  db: Db,
  type: AwardableType,
  id: number,
  userId: number,
  name: string,
) {
  return awardQuery(db, type, id)
    .where('award_emoji.user_id', '=', userId)
    .where('award_emoji.name', '=', name)
    .executeTakeFirst()
}

/** Gives one thing the reactions of another too. */
export async function insertAwardsOf(
  db: Db,
  type: AwardableType,
  fromId: number,
  toId: number,
): Promise<void> {
  await sql`INSERT INTO award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at)
    SELECT awardable_type, ${toId}, name, user_id, created_at, updated_at FROM award_emoji
    WHERE awardable_type = ${type} AND awardable_id = ${fromId} ORDER BY id`.execute(db)
}
