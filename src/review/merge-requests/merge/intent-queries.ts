import type { Db, NewRowOf } from '../../../store/schema.ts'

export async function insertIntent(db: Db, intent: NewRowOf<'merge_intents'>): Promise<void> {
  await db.insertInto('merge_intents').values(intent).execute()
}

export function findIntent(db: Db, pushId: number) {
  return db.selectFrom('merge_intents').selectAll().where('push_id', '=', pushId).executeTakeFirst()
}

export async function deleteIntent(db: Db, pushId: number): Promise<void> {
  await db.deleteFrom('merge_intents').where('push_id', '=', pushId).execute()
}
