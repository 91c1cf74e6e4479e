import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type OauthTokenRow = RowOf<'oauth_tokens'>

export function insertOauthToken(db: Db, row: NewRowOf<'oauth_tokens'>): Promise<OauthTokenRow> {
  return db.insertInto('oauth_tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export function findOauthToken(
  db: Db,
  by: 'digest' | 'refresh_digest',
  digest: Buffer,
): Promise<OauthTokenRow | undefined> {
  return db.selectFrom('oauth_tokens').selectAll().where(by, '=', digest).executeTakeFirst()
}

const revoking = (db: Db, now: Instant) =>
  db.updateTable('oauth_tokens').set({ revoked_at: now }).where('revoked_at', 'is', null)

/** Takes a token back; false when it was so already. */
export async function revokeOauthToken(db: Db, id: number, now: Instant): Promise<boolean> {
  const done = await revoking(db, now).where('id', '=', id).executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Takes back every token that came of one consent. */
export async function revokeGrantTokens(db: Db, grantId: number, now: Instant): Promise<void> {
  await revoking(db, now).where('grant_id', '=', grantId).execute()
}

/** Takes back every token that came of one by refreshing, itself as well. */
export async function revokeOauthFamily(db: Db, familyId: number, now: Instant): Promise<void> {
  await revoking(db, now)
    .where((is) => is.or([is('id', '=', familyId), is('family_id', '=', familyId)]))
    .execute()
}

/** Removes what nobody can use any more; a revoked token is kept a while, so that its reuse is noticed. */
export async function deleteOldOauthTokens(
  db: Db,
  before: { readonly monthAgo: Instant },
): Promise<void> {
  await db
    .deleteFrom('oauth_tokens')
    .where((where) =>
      where.or([
        where('revoked_at', '<=', before.monthAgo),
        where.and([
          where('refresh_digest', 'is', null),
          where('expires_at', '<=', before.monthAgo),
        ]),
      ]),
    )
    .execute()
}
