import type { Insertable, Selectable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type {
  OauthApplicationsTable,
  OauthDevicesTable,
  OauthGrantsTable,
} from '../../store/schema/accounts.ts'
import type { Db } from '../../store/schema.ts'

export type ApplicationRow = Selectable<OauthApplicationsTable>
export type GrantRow = Selectable<OauthGrantsTable>
export type DeviceRow = Selectable<OauthDevicesTable>

export function applicationsQuery(db: Db) {
  return db.selectFrom('oauth_applications').selectAll().orderBy('id')
}

export function findApplication(db: Db, id: number): Promise<ApplicationRow | undefined> {
  return applicationsQuery(db).where('id', '=', id).executeTakeFirst()
}

export function findApplicationByUid(db: Db, uid: string): Promise<ApplicationRow | undefined> {
  return applicationsQuery(db).where('uid', '=', uid).executeTakeFirst()
}

export function insertApplication(
  db: Db,
  row: Insertable<OauthApplicationsTable>,
): Promise<ApplicationRow> {
  return db.insertInto('oauth_applications').values(row).returningAll().executeTakeFirstOrThrow()
}

export function updateApplicationSecret(
  db: Db,
  id: number,
  digest: Buffer,
  now: Instant,
): Promise<ApplicationRow> {
  return db
    .updateTable('oauth_applications')
    .set({ secret_digest: digest, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteApplication(db: Db, id: number): Promise<void> {
  await db.deleteFrom('oauth_applications').where('id', '=', id).execute()
}

export async function insertGrant(db: Db, row: Insertable<OauthGrantsTable>): Promise<void> {
  await db.insertInto('oauth_grants').values(row).execute()
}

export function findGrant(db: Db, digest: Buffer): Promise<GrantRow | undefined> {
  return db
    .selectFrom('oauth_grants')
    .selectAll()
    .where('code_digest', '=', digest)
    .executeTakeFirst()
}

/** Uses a code up; false when that was done before. */
export async function useGrant(db: Db, id: number, now: Instant): Promise<boolean> {
  const done = await db
    .updateTable('oauth_grants')
    .set({ used_at: now })
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

export async function insertDevice(db: Db, row: Insertable<OauthDevicesTable>): Promise<void> {
  await db.insertInto('oauth_devices').values(row).execute()
}

export function findDevice(
  db: Db,
  by: { readonly digest: Buffer } | { readonly userCode: string },
): Promise<DeviceRow | undefined> {
  const query = db.selectFrom('oauth_devices').selectAll()
  return 'digest' in by
    ? query.where('device_digest', '=', by.digest).executeTakeFirst()
    : query.where('user_code', '=', by.userCode).executeTakeFirst()
}

/** A device's user has typed the code; false when somebody else did first. */
export async function claimDevice(db: Db, id: number, userId: number): Promise<boolean> {
  const done = await db
    .updateTable('oauth_devices')
    .set({ user_id: userId })
    .where('id', '=', id)
    .where('user_id', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

export async function notePoll(db: Db, id: number, now: Instant): Promise<void> {
  await db.updateTable('oauth_devices').set({ polled_at: now }).where('id', '=', id).execute()
}

/** Takes a device's row away; false when somebody else was faster. */
export async function takeDevice(db: Db, id: number): Promise<boolean> {
  const done = await db.deleteFrom('oauth_devices').where('id', '=', id).executeTakeFirst()
  return done.numDeletedRows > 0n
}
