import { sql } from 'kysely'
import type { Source } from '../../access/sources.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'
import type { LevelChanges, LevelRow } from './levels.ts'

export type Action = 'push' | 'merge' | 'unprotect'

export interface BranchLevelRow extends LevelRow {
  readonly protected_branch_id: number
  readonly action: Action
}

/** The rules of a group, or of a project with those that its groups lay on it, its own first. */
function rulesOf(db: Db, owner: Source) {
  const query = db.selectFrom('protected_branches as rule').selectAll('rule')
  if (owner.type === 'group') return query.where('rule.group_id', '=', owner.id)
  return query.where((is) =>
    is.or([
      is('rule.project_id', '=', owner.id),
      is('rule.group_id', 'in', namespacesAbove(owner.namespaceId)),
    ]),
  )
}

export function listRuleRows(db: Db, owner: Source, search: string | undefined, page: OffsetPage) {
  const query = rulesOf(db, owner).orderBy('rule.id')
  return listPage(
    db,
    search === undefined
      ? query
      : query.where(sql<boolean>`rule.name LIKE ${containing(search)} ESCAPE '\\'`),
    page,
  )
}

export type BranchRuleRow = NonNullable<Awaited<ReturnType<typeof findRuleRow>>>

/** The rule of exactly this name; the owner's own before an inherited one. */
export function findRuleRow(db: Db, owner: Source, name: string) {
  return rulesOf(db, owner)
    .where('rule.name', '=', name)
    .orderBy('rule.project_id', (order) => order.desc().nullsLast())
    .executeTakeFirst()
}

export function listLevelRows(db: Db, ruleIds: readonly number[]): Promise<BranchLevelRow[]> {
  if (ruleIds.length === 0) return Promise.resolve([])
  return db
    .selectFrom('protected_branch_levels as level')
    .leftJoin('users', 'users.id', 'level.user_id')
    .leftJoin('namespaces', 'namespaces.id', 'level.group_id')
    .leftJoin('ssh_keys', 'ssh_keys.id', 'level.deploy_key_id')
    .selectAll('level')
    .select(['users.name as user_name', 'namespaces.name as group_name'])
    .select('ssh_keys.title as key_title')
    .where('level.protected_branch_id', 'in', ruleIds)
    .orderBy('level.id')
    .execute()
}

type RuleValue = 'name' | 'allow_force_push' | 'code_owner_approval_required'

export async function insertRule(
  db: Db,
  owner: Source,
  rule: Pick<NewRowOf<'protected_branches'>, RuleValue>,
  now: Instant,
): Promise<number> {
  const { id } = await db
    .insertInto('protected_branches')
    .values({
      [owner.type === 'project' ? 'project_id' : 'group_id']: owner.id,
      ...rule,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateRule(
  db: Db,
  ruleId: number,
  change: ChangesOf<'protected_branches'>,
): Promise<void> {
  await db.updateTable('protected_branches').set(change).where('id', '=', ruleId).execute()
}

export async function deleteRule(db: Db, ruleId: number): Promise<void> {
  await deleteFound(db.deleteFrom('protected_branches').where('id', '=', ruleId))
}

/** Changed levels are written anew under their ids, so that two may change places. */
export async function changeBranchLevels(
  db: Db,
  ruleId: number,
  action: Action,
  changes: LevelChanges,
): Promise<void> {
  const gone = [...changes.remove, ...changes.change.map((one) => one.id)]
  if (gone.length > 0) {
    await db.deleteFrom('protected_branch_levels').where('id', 'in', gone).execute()
  }
  const rule = { protected_branch_id: ruleId, action }
  const rows = [
    ...changes.change.map(({ id, target }) => ({ id, ...rule, ...target })),
    ...changes.add.map((target) => ({ ...rule, ...target })),
  ]
  for (const row of rows) await db.insertInto('protected_branch_levels').values(row).execute()
}
