import type { Insertable, Selectable } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { OauthTokensTable } from '../store/schema/accounts.ts'
import type { Db } from '../store/schema.ts'

export type OauthTokenRow = Selectable<OauthTokensTable>

export function insertOauthToken(
  db: Db,
  row: Insertable<OauthTokensTable>,
): Promise<OauthTokenRow> {
  return db.insertInto('oauth_tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export function findOauthToken(
  db: Db,
  column: 'digest' | 'refresh_digest',
  digest: Buffer,
): Promise<OauthTokenRow | undefined> {
  return db.selectFrom('oauth_tokens').selectAll().where(column, '=', digest).executeTakeFirst()
}

/** Revokes a token; false when it was revoked before. */
export async function revokeOauthToken(db: Db, id: number, now: Instant): Promise<boolean> {
  const done = await db
    .updateTable('oauth_tokens')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Revokes what came from one grant. */
export async function revokeOauthTokensOfGrant(
  db: Db,
  grantId: number,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('oauth_tokens')
    .set({ revoked_at: now })
    .where('grant_id', '=', grantId)
    .where('revoked_at', 'is', null)
    .execute()
}
