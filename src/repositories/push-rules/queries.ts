import type { Insertable, Selectable, Updateable } from 'kysely'
import { deleteFound } from '../../store/delete-found.ts'
import type { PushRulesTable } from '../../store/schema/push-rules.ts'
import type { Db } from '../../store/schema.ts'

export type PushRuleRow = Selectable<PushRulesTable>

export function findPushRule(db: Db, projectId: number): Promise<PushRuleRow | undefined> {
  return db
    .selectFrom('push_rules')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

export function insertPushRule(db: Db, values: Insertable<PushRulesTable>): Promise<PushRuleRow> {
  return db.insertInto('push_rules').values(values).returningAll().executeTakeFirstOrThrow()
}

export function updatePushRule(
  db: Db,
  projectId: number,
  changes: Updateable<PushRulesTable>,
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
