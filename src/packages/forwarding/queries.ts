import type { Instant } from '../../base/clock.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type ForwardedRow = RowOf<'forwarded_files'>
export type ForwardedKey = Pick<ForwardedRow, 'package_type' | 'root' | 'path'>

export function findForwarded(db: Db, key: ForwardedKey): Promise<ForwardedRow | undefined> {
  return db
    .selectFrom('forwarded_files')
    .selectAll()
    .where('path', '=', key.path)
    .where('package_type', '=', key.package_type)
    .where('root', '=', key.root)
    .executeTakeFirst()
}

export async function saveForwarded(
  db: Db,
  values: Omit<ForwardedRow, 'id'>,
): Promise<ForwardedRow> {
  const { package_type: _type, root: _root, path: _path, created_at: _created, ...changes } = values
  return await db
    .insertInto('forwarded_files')
    .values(values)
    .onConflict((on) => on.columns(['path', 'package_type', 'root']).doUpdateSet(changes))
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function saveForwardedUse(
  db: Db,
  id: number,
  changes: Partial<Pick<ForwardedRow, 'used_at' | 'upstream_checked_at'>>,
): Promise<void> {
  await db.updateTable('forwarded_files').set(changes).where('id', '=', id).execute()
}

export async function deleteForwarded(db: Db, ids: readonly number[]): Promise<void> {
  await db
    .deleteFrom('forwarded_files')
    .where('id', 'in', [...ids])
    .execute()
}

export async function sumForwarded(db: Db): Promise<number> {
  const row = await db
    .selectFrom('forwarded_files')
    .select((is) => is.fn.sum<number | null>('size').as('bytes'))
    .executeTakeFirstOrThrow()
  return row.bytes ?? 0
}

/** What nobody has used for longest. */
export function listLeastUsed(
  db: Db,
  limit: number,
): Promise<{ id: number; size: number; used_at: Instant }[]> {
  return db
    .selectFrom('forwarded_files')
    .select(['id', 'size', 'used_at'])
    .orderBy('used_at')
    .orderBy('id')
    .limit(limit)
    .execute()
}
