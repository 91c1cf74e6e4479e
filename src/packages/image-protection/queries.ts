import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type TagRuleRow = RowOf<'container_tag_rules'>
export type TagRuleValues = Omit<TagRuleRow, 'id' | 'project_id' | 'created_at' | 'updated_at'>

function rules(db: Db, projectId: number) {
  return db.selectFrom('container_tag_rules').selectAll().where('project_id', '=', projectId)
}

export function listTagRulePage(db: Db, projectId: number, page: OffsetPage) {
  return listPage(db, rules(db, projectId).orderBy('id'), page)
}

export function listTagRules(db: Db, projectId: number): Promise<TagRuleRow[]> {
  return rules(db, projectId).execute()
}

export function findTagRule(db: Db, projectId: number, id: number) {
  return rules(db, projectId).where('id', '=', id).executeTakeFirst()
}

export function insertTagRule(
  db: Db,
  projectId: number,
  values: TagRuleValues,
  now: Instant,
): Promise<TagRuleRow> {
  return db
    .insertInto('container_tag_rules')
    .values({ ...values, project_id: projectId, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function updateTagRule(
  db: Db,
  id: number,
  changes: Partial<TagRuleValues>,
  now: Instant,
): Promise<TagRuleRow> {
  return db
    .updateTable('container_tag_rules')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteTagRule(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('container_tag_rules').where('id', '=', id))
}
