import type { GpgKeyName } from '../../base/gpg-key.ts'
import { deleteFound } from '../../store/delete-found.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type GpgKeyRow = RowOf<'gpg_keys'>

export function gpgKeysQuery(db: Db, userId: number) {
  return db.selectFrom('gpg_keys').selectAll().where('user_id', '=', userId).orderBy('id')
}

export function findGpgKey(db: Db, userId: number, id: number): Promise<GpgKeyRow | undefined> {
  return gpgKeysQuery(db, userId).where('id', '=', id).executeTakeFirst()
}

export function insertGpgKey(db: Db, row: NewRowOf<'gpg_keys'>): Promise<GpgKeyRow> {
  return db.insertInto('gpg_keys').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function deleteGpgKey(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('gpg_keys').where('id', '=', id))
}

export async function insertGpgSubkeys(
  db: Db,
  keyId: number,
  subkeys: readonly GpgKeyName[],
): Promise<void> {
  if (subkeys.length === 0) return
  const rows = subkeys.map((subkey) => ({
    gpg_key_id: keyId,
    fingerprint: subkey.fingerprint,
    key_id: subkey.keyId,
  }))
  await db
    .insertInto('gpg_subkeys')
    .values(rows)
    .onConflict((on) => on.doNothing())
    .execute()
}
