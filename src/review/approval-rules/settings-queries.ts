import type { Instant } from '../../base/clock.ts'
import type { Db, RowOf } from '../../store/schema.ts'

type Columns = Omit<RowOf<'approval_settings'>, 'subject_type' | 'subject_id' | 'updated_at'>
export type SettingName = keyof Columns
export type SettingChanges = { readonly [K in SettingName]?: boolean | undefined }

/** What a project, or the topmost group above it, says about approvals. */
export function findSettings(db: Db, type: 'project' | 'group', id: number) {
  return db
    .selectFrom('approval_settings')
    .selectAll()
    .where('subject_type', '=', type)
    .where('subject_id', '=', id)
    .executeTakeFirst()
}

/** The group without a parent above a namespace; undefined below a user's namespace. */
export async function findTopGroup(db: Db, namespaceId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('namespace_ancestors as above')
    .innerJoin('namespaces', 'namespaces.id', 'above.ancestor_id')
    .select('namespaces.id')
    .where('above.namespace_id', '=', namespaceId)
    .where('namespaces.kind', '=', 'group')
    .where('namespaces.parent_id', 'is', null)
    .executeTakeFirst()
  return row?.id
}

export async function saveSettings(
  db: Db,
  type: 'project' | 'group',
  id: number,
  changes: SettingChanges,
  now: Instant,
): Promise<void> {
  const values = Object.fromEntries(
    Object.entries(changes).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value ? 1 : 0]],
    ),
  ) as Partial<Record<SettingName, 0 | 1>> // the same keys
  await db
    .insertInto('approval_settings')
    .values({ subject_type: type, subject_id: id, ...values, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['subject_type', 'subject_id']).doUpdateSet({ ...values, updated_at: now }),
    )
    .execute()
}
