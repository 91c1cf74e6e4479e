import type { Db } from '../../store/schema.ts'

/** The stored settings of a group's packages, as JSON. */
export async function findSettings(db: Db, namespaceId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('package_settings')
    .select('settings')
    .where('namespace_id', '=', namespaceId)
    .executeTakeFirst()
  return row?.settings
}

export async function saveSettings(db: Db, namespaceId: number, settings: string): Promise<void> {
  await db
    .insertInto('package_settings')
    .values({ namespace_id: namespaceId, settings })
    .onConflict((on) => on.column('namespace_id').doUpdateSet({ settings }))
    .execute()
}

/** The stored settings of a namespace and those above it, nearest first. */
export async function listSettingsAbove(
  db: Db,
  namespaceId: number,
): Promise<{ namespace_id: number; settings: string }[]> {
  return await db
    .selectFrom('package_settings')
    .innerJoin('namespace_ancestors as above', 'above.ancestor_id', 'package_settings.namespace_id')
    .innerJoin('namespaces', 'namespaces.id', 'package_settings.namespace_id')
    .select(['package_settings.namespace_id', 'package_settings.settings'])
    .where('above.namespace_id', '=', namespaceId)
    .orderBy((is) => is.fn<number>('length', ['namespaces.full_path']), 'desc')
    .execute()
}
