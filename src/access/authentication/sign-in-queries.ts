import type { InferResult } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import type { Db } from '../../store/schema.ts'

/** What authentication reads of a user. */
export const userColumns = [
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
      'access_tokens.last_used_ips',
    ])
    .where('access_tokens.digest', '=', digest)
}

type TokenRow = InferResult<ReturnType<typeof tokenQuery>>[number]

/** The token of this digest with its user, or undefined. */
export function findTokenByDigest(db: Db, digest: Buffer): Promise<TokenRow | undefined> {
  const key = `token ${digest.toString('base64')}`
  return cachedQuery(db, key, (db) => tokenQuery(db, digest).executeTakeFirst())
}

/** Remembers that a token was used; a trigger notes the user's activity. */
export async function touchToken(
  db: Db,
  tokenId: number,
  now: Instant,
  ips: readonly string[],
): Promise<void> {
  await db
    .updateTable('access_tokens')
    .set({ last_used_at: now, last_used_ips: JSON.stringify(ips) })
    .where('id', '=', tokenId)
    .execute()
}

/** The OAuth access token of this digest with its user, or undefined. One of an application itself has no user. */
export function findOauthTokenByDigest(db: Db, digest: Buffer) {
  return db
    .selectFrom('oauth_tokens')
    .innerJoin('users', 'users.id', 'oauth_tokens.user_id')
    .select(userColumns)
    .select([
      'oauth_tokens.id as token_id',
      'oauth_tokens.scopes',
      'oauth_tokens.revoked_at',
      'oauth_tokens.expires_at as token_expires_at',
      'oauth_tokens.last_used_at',
    ])
    .where('oauth_tokens.digest', '=', digest)
    .executeTakeFirst()
}

export async function touchOauthToken(db: Db, tokenId: number, now: Instant): Promise<void> {
  await db
    .updateTable('oauth_tokens')
    .set({ last_used_at: now })
    .where('id', '=', tokenId)
    .execute()
}

/** The deploy token of this digest, or undefined. */
export function findDeployTokenByDigest(db: Db, digest: Buffer) {
  return db.selectFrom('deploy_tokens').selectAll().where('digest', '=', digest).executeTakeFirst()
}

export async function touchDeployToken(db: Db, tokenId: number, now: Instant): Promise<void> {
  await db
    .updateTable('deploy_tokens')
    .set({ last_used_at: now })
    .where('id', '=', tokenId)
    .execute()
}

/** Whether a group's deploy token reaches this namespace: the group itself, or one below it. */
export async function isBelowGroup(db: Db, namespaceId: number, groupId: number): Promise<boolean> {
  const row = await db
    .selectFrom('namespace_ancestors')
    .select('depth')
    .where('namespace_id', '=', namespaceId)
    .where('ancestor_id', '=', groupId)
    .executeTakeFirst()
  return row !== undefined
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
    .select(userColumns)
    .select([
      'users.password_hash',
      'users.confirmed_at',
      'users.created_at',
      'users.two_factor',
      'users.password_expires_at',
    ])
    .where((where) =>
      where.or([where('users.username', '=', login), where('users.email', '=', login)]),
    )
    .executeTakeFirst()
}

/** Whether somebody has accepted the terms of this digest. */
export function hasAgreed(db: Db, userId: number, digest: string): Promise<boolean> {
  return cachedQuery(db, `terms ${userId} ${digest}`, async (db) => {
    const row = await db
      .selectFrom('terms_agreements')
      .select('accepted_at')
      .where('user_id', '=', userId)
      .where('digest', '=', digest)
      .executeTakeFirst()
    return row !== undefined
  })
}

/** The session of this digest with its user, or undefined when it is over. */
export function findSessionByDigest(db: Db, digest: Buffer, now: Instant) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(userColumns)
    .select([
      'sessions.id as session_id',
      'sessions.waits_for',
      'sessions.proved_at',
      'users.two_factor',
      'users.password_expires_at',
    ])
    .where('sessions.digest', '=', digest)
    .where('sessions.expires_at', '>', now)
    .executeTakeFirst()
}
