import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type RuleRow = RowOf<'package_protection_rules'>
export type RuleValues = Omit<RuleRow, 'id' | 'project_id' | 'created_at' | 'updated_at'>

function rules(db: Db, projectId: number) {
  return db.selectFrom('package_protection_rules').selectAll().where('project_id', '=', projectId)
}

export function listRuleRows(db: Db, projectId: number, page: OffsetPage) {
  return listPage(db, rules(db, projectId).orderBy('id'), page)
}

export function listRulesOfType(db: Db, projectId: number, type: PackageType): Promise<RuleRow[]> {
  return rules(db, projectId).where('package_type', '=', type).execute()
}

export function findRule(db: Db, projectId: number, id: number): Promise<RuleRow | undefined> {
  return rules(db, projectId).where('id', '=', id).executeTakeFirst()
}

export function insertRule(
  db: Db,
  projectId: number,
  values: RuleValues,
  now: Instant,
): Promise<RuleRow> {
  return db
    .insertInto('package_protection_rules')
    .values({ ...values, project_id: projectId, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function updateRule(
  db: Db,
  id: number,
  changes: Partial<RuleValues>,
  now: Instant,
): Promise<RuleRow> {
  return db
    .updateTable('package_protection_rules')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteRule(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('package_protection_rules').where('id', '=', id))
}
