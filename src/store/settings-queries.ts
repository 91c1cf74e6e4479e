import type { Db, NewRowOf, RowOf } from './schema.ts'

export type FeatureRow = RowOf<'features'>

export function listSettingRows(db: Db): Promise<{ key: string; value: string }[]> {
  return db.selectFrom('settings').selectAll().execute()
}

/** What is stored under a name; undefined when nothing is. */
export async function findSetting(db: Db, key: string): Promise<unknown> {
  const query = db.selectFrom('settings').select('value').where('key', '=', key)
  const row = await query.executeTakeFirst()
  return row && (JSON.parse(row.value) as unknown)
}

export async function saveSetting(db: Db, key: string, value: unknown): Promise<void> {
  const row = { key, value: JSON.stringify(value) }
  await db
    .insertInto('settings')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: row.value }))
    .execute()
}

export function listFeatureRows(db: Db): Promise<FeatureRow[]> {
  return db.selectFrom('features').selectAll().orderBy('name').execute()
}

export function findFeature(db: Db, name: string): Promise<FeatureRow | undefined> {
  return db.selectFrom('features').selectAll().where('name', '=', name).executeTakeFirst()
}

export async function saveFeature(db: Db, row: NewRowOf<'features'>): Promise<void> {
  const { name: _, ...changes } = row
  await db
    .insertInto('features')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(changes))
    .execute()
}

/** False when it was not there. */
export async function deleteFeature(db: Db, name: string): Promise<boolean> {
  const result = await db.deleteFrom('features').where('name', '=', name).executeTakeFirst()
  return result.numDeletedRows > 0n
}
