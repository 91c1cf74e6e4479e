import type { InferResult } from 'kysely'
import { dayOf, type Instant } from '../base/clock.ts'
import type { Db } from '../store/schema.ts'

const userColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.state',
  'users.kind',
  'users.admin',
  'users.external',
] as const

function tokenQuery(db: Db, digest: Buffer) {
  return db
    .selectFrom('access_tokens')
    .innerJoin('users', 'users.id', 'access_tokens.user_id')
    .select(userColumns)
    .select([
      'access_tokens.id as token_id',
      'access_tokens.kind as token_kind',
      'access_tokens.scopes',
      'access_tokens.revoked',
      'access_tokens.expires_at as token_expires_at',
      'access_tokens.last_used_at',
      'users.last_activity_on',
    ])
    .where('access_tokens.digest', '=', digest)
}

export type TokenRow = InferResult<ReturnType<typeof tokenQuery>>[number]

/** The token of this digest with its user, or undefined. */
export function findTokenByDigest(db: Db, digest: Buffer): Promise<TokenRow | undefined> {
  return tokenQuery(db, digest).executeTakeFirst()
}

/** Remembers that a token was used, and its user active. */
export async function touchToken(
  db: Db,
  tokenId: number,
  userId: number,
  now: Instant,
  ip: string,
): Promise<void> {
  await db
    .updateTable('access_tokens')
    .set({ last_used_at: now, last_used_ips: JSON.stringify([ip]) })
    .where('id', '=', tokenId)
    .execute()
  await db
    .updateTable('users')
    .set({ last_activity_on: dayOf(now) })
    .where('id', '=', userId)
    .where((where) =>
      where.or([where('last_activity_on', 'is', null), where('last_activity_on', '<', dayOf(now))]),
    )
    .execute()
}

/** A user by id (all digits) or username, as `sudo` and Basic authentication name one. */
export function findUserForActor(db: Db, idOrUsername: string) {
  const query = db.selectFrom('users').select(userColumns)
  return /^\d+$/.test(idOrUsername)
    ? query.where('users.id', '=', Number(idOrUsername)).executeTakeFirst()
    : query.where('users.username', '=', idOrUsername).executeTakeFirst()
}

/** The password hash of a user named by username or e-mail, with what signing in needs; or undefined. */
export function findUserForPassword(db: Db, login: string) {
  return db
    .selectFrom('users')
    .select([...userColumns, 'users.password_hash'])
    .where((where) =>
      where.or([where('users.username', '=', login), where('users.email', '=', login)]),
    )
    .executeTakeFirst()
}
