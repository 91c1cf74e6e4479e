import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import type { Level } from '../refs/protection.ts'
import type { LevelRow } from './levels.ts'

function rulesOf(db: Db, projectId: number) {
  return db.selectFrom('protected_tags').selectAll().where('project_id', '=', projectId)
}

export type TagRuleRow = NonNullable<Awaited<ReturnType<typeof findTagRuleRow>>>

export function listTagRuleRows(db: Db, projectId: number, page: OffsetPage) {
  return listPage(db, rulesOf(db, projectId).orderBy('id'), page)
}

export function findTagRuleRow(db: Db, projectId: number, name: string) {
  return rulesOf(db, projectId).where('name', '=', name).executeTakeFirst()
}

export function listTagLevelRows(
  db: Db,
  ruleIds: readonly number[],
): Promise<(LevelRow & { readonly protected_tag_id: number })[]> {
  if (ruleIds.length === 0) return Promise.resolve([])
  return db
    .selectFrom('protected_tag_levels as level')
    .leftJoin('users', 'users.id', 'level.user_id')
    .leftJoin('namespaces', 'namespaces.id', 'level.group_id')
    .leftJoin('ssh_keys', 'ssh_keys.id', 'level.deploy_key_id')
    .selectAll('level')
    .select(['users.name as user_name', 'namespaces.name as group_name'])
    .select('ssh_keys.title as key_title')
    .where('level.protected_tag_id', 'in', ruleIds)
    .orderBy('level.id')
    .execute()
}

export async function insertTagRule(
  db: Db,
  rule: { readonly projectId: number; readonly name: string; readonly levels: readonly Level[] },
  now: Instant,
): Promise<void> {
  const { id } = await db
    .insertInto('protected_tags')
    .values({ project_id: rule.projectId, name: rule.name, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  const levels = rule.levels.map((level) => ({ protected_tag_id: id, ...level }))
  await db.insertInto('protected_tag_levels').values(levels).execute()
}

export async function deleteTagRule(db: Db, ruleId: number): Promise<void> {
  await deleteFound(db.deleteFrom('protected_tags').where('id', '=', ruleId))
}
