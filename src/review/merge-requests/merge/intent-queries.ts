import type { Insertable } from 'kysely'
import type { MergeIntentsTable } from '../../../store/schema/merge-requests.ts'
import type { Db } from '../../../store/schema.ts'

export async function insertIntent(db: Db, intent: Insertable<MergeIntentsTable>): Promise<void> {
  await db.insertInto('merge_intents').values(intent).execute()
}

export function findIntent(db: Db, pushId: number) {
  return db.selectFrom('merge_intents').selectAll().where('push_id', '=', pushId).executeTakeFirst()
}

export async function deleteIntent(db: Db, pushId: number): Promise<void> {
  await db.deleteFrom('merge_intents').where('push_id', '=', pushId).execute()
}
