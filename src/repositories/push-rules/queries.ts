import { deleteFound } from '../../store/delete-found.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type PushRuleRow = RowOf<'push_rules'>

export function findPushRule(db: Db, projectId: number): Promise<PushRuleRow | undefined> {
  return db
    .selectFrom('push_rules')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

export function insertPushRule(db: Db, values: NewRowOf<'push_rules'>): Promise<PushRuleRow> {
  return db.insertInto('push_rules').values(values).returningAll().executeTakeFirstOrThrow()
}

export function updatePushRule(
  db: Db,
  projectId: number,
  changes: ChangesOf<'push_rules'>,
): Promise<PushRuleRow> {
  return db
    .updateTable('push_rules')
    .set(changes)
    .where('project_id', '=', projectId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deletePushRule(db: Db, projectId: number): Promise<void> {
  await deleteFound(db.deleteFrom('push_rules').where('project_id', '=', projectId))
}
