import { userColumns } from '../../access/authentication/sign-in-queries.ts'
import { isLive } from '../../access/visible-queries.ts'
import type { Day, Instant } from '../../base/clock.ts'
import type { Page } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type ApplicationRow = RowOf<'oauth_applications'>
export type GrantRow = RowOf<'oauth_grants'>
export type DeviceRow = RowOf<'oauth_devices'>

export function insertApplication(
  db: Db,
  row: NewRowOf<'oauth_applications'>,
): Promise<ApplicationRow> {
  return db.insertInto('oauth_applications').values(row).returningAll().executeTakeFirstOrThrow()
}

export function listApplicationRows(db: Db, page: Page) {
  return listPage(db, db.selectFrom('oauth_applications').selectAll().orderBy('id'), page)
}

export function findApplication(db: Db, id: number): Promise<ApplicationRow | undefined> {
  return db.selectFrom('oauth_applications').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findApplicationByUid(db: Db, uid: string): Promise<ApplicationRow | undefined> {
  return db.selectFrom('oauth_applications').selectAll().where('uid', '=', uid).executeTakeFirst()
}

export function saveSecret(
  db: Db,
  id: number,
  secretDigest: Buffer,
  now: Instant,
): Promise<ApplicationRow> {
  return db
    .updateTable('oauth_applications')
    .set({ secret_digest: secretDigest, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteApplication(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('oauth_applications').where('id', '=', id))
}

export function insertGrant(db: Db, row: NewRowOf<'oauth_grants'>): Promise<GrantRow> {
  return db.insertInto('oauth_grants').values(row).returningAll().executeTakeFirstOrThrow()
}

export function findGrantByCode(db: Db, digest: Buffer): Promise<GrantRow | undefined> {
  return db
    .selectFrom('oauth_grants')
    .selectAll()
    .where('code_digest', '=', digest)
    .executeTakeFirst()
}

export async function markGrantUsed(db: Db, id: number, now: Instant): Promise<void> {
  await db.updateTable('oauth_grants').set({ used_at: now }).where('id', '=', id).execute()
}

export async function insertDevice(db: Db, row: NewRowOf<'oauth_devices'>): Promise<void> {
  await db.insertInto('oauth_devices').values(row).execute()
}

export function findDevice(
  db: Db,
  by: { readonly deviceDigest: Buffer } | { readonly userCode: string },
): Promise<DeviceRow | undefined> {
  const query = db.selectFrom('oauth_devices').selectAll()
  return 'deviceDigest' in by
    ? query.where('device_digest', '=', by.deviceDigest).executeTakeFirst()
    : query.where('user_code', '=', by.userCode).executeTakeFirst()
}

/** The decision of the user who typed the code; false when somebody has decided already. */
export async function decideDevice(
  db: Db,
  id: number,
  decision: { readonly user_id: number } | { readonly denied: 1 },
): Promise<boolean> {
  const done = await db
    .updateTable('oauth_devices')
    .set(decision)
    .where('id', '=', id)
    .where('user_id', 'is', null)
    .where('denied', '=', 0)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

export async function notePoll(db: Db, id: number, now: Instant): Promise<void> {
  await db.updateTable('oauth_devices').set({ polled_at: now }).where('id', '=', id).execute()
}

export async function deleteDevice(db: Db, id: number): Promise<boolean> {
  const done = await db.deleteFrom('oauth_devices').where('id', '=', id).executeTakeFirst()
  return done.numDeletedRows > 0n
}

/** The user whom a token acts for, with what sign-in rules and claims need. */
export function findTokenUser(db: Db, id: number) {
  return db
    .selectFrom('users')
    .select([...userColumns, 'confirmed_at', 'website_url', 'avatar_file', 'avatar_name'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Full paths of the groups that a user is a member of today. */
export async function listGroupPaths(db: Db, userId: number, today: Day): Promise<string[]> {
  const rows = await db
    .selectFrom('members as m')
    .innerJoin('namespaces', 'namespaces.id', 'm.source_id')
    .select('namespaces.full_path')
    .where('m.source_type', '=', 'group')
    .where('m.user_id', '=', userId)
    .where(isLive(today))
    .where('namespaces.pending_delete', '=', 0)
    .orderBy('namespaces.full_path')
    .limit(1000)
    .execute()
  return rows.map((row) => row.full_path)
}

/** Removes codes that nobody can use any more; those of living tokens are kept, so that their reuse is noticed. */
export async function deleteExpired(
  db: Db,
  before: { readonly now: Instant; readonly monthAgo: Instant },
): Promise<void> {
  await db.deleteFrom('oauth_devices').where('expires_at', '<=', before.now).execute()
  await db
    .deleteFrom('oauth_grants')
    .where('expires_at', '<=', before.monthAgo)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('oauth_tokens')
            .select('oauth_tokens.id')
            .whereRef('oauth_tokens.grant_id', '=', 'oauth_grants.id'),
        ),
      ),
    )
    .execute()
}
