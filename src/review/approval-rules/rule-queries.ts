import type { Instant } from '../../base/clock.ts'
import { deleteFound } from '../../store/delete-found.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'

/** Whom a rule names, and where it holds. */
export interface RuleNames {
  readonly userIds: readonly number[]
  readonly groupIds: readonly number[]
  readonly branchIds?: readonly number[] | undefined
}

export async function insertRule(
  db: Db,
  values: NewRowOf<'approval_rules'>,
  names: RuleNames,
): Promise<number> {
  const { id } = await db
    .insertInto('approval_rules')
    .values(values)
    .returning('id')
    .executeTakeFirstOrThrow()
  await setRuleNames(db, id, names)
  return id
}

export async function updateRule(
  db: Db,
  id: number,
  changes: ChangesOf<'approval_rules'>,
): Promise<void> {
  await db.updateTable('approval_rules').set(changes).where('id', '=', id).execute()
}

export async function deleteRule(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('approval_rules').where('id', '=', id))
}

/** Replaces whom a rule names; what is left out stays. */
export async function setRuleNames(db: Db, id: number, names: Partial<RuleNames>): Promise<void> {
  const { userIds, groupIds, branchIds } = names
  if (userIds) {
    await db.deleteFrom('approval_rule_users').where('rule_id', '=', id).execute()
    const rows = [...new Set(userIds)].map((user_id) => ({ rule_id: id, user_id }))
    if (rows.length > 0) await db.insertInto('approval_rule_users').values(rows).execute()
  }
  if (groupIds) {
    await db.deleteFrom('approval_rule_groups').where('rule_id', '=', id).execute()
    const rows = [...new Set(groupIds)].map((group_id) => ({ rule_id: id, group_id }))
    if (rows.length > 0) await db.insertInto('approval_rule_groups').values(rows).execute()
  }
  if (branchIds) {
    await db.deleteFrom('approval_rule_branches').where('rule_id', '=', id).execute()
    const rows = [...new Set(branchIds)].map((branch) => ({
      rule_id: id,
      protected_branch_id: branch,
    }))
    if (rows.length > 0) await db.insertInto('approval_rule_branches').values(rows).execute()
  }
}

export async function replaceCodeOwnerRules(
  db: Db,
  mergeRequestId: number,
  rules: readonly (RuleNames & {
    readonly name: string
    readonly section: string
    readonly approvals_required: number
  })[],
  now: Instant,
): Promise<void> {
  await db
    .deleteFrom('approval_rules')
    .where('merge_request_id', '=', mergeRequestId)
    .where('rule_type', '=', 'code_owner')
    .execute()
  for (const { userIds, groupIds, ...rule } of rules) {
    const values = { ...rule, merge_request_id: mergeRequestId, rule_type: 'code_owner' } as const
    await insertRule(db, { ...values, created_at: now, updated_at: now }, { userIds, groupIds })
  }
}

/** Removes the rules that were made for open merge requests of a project, and that they were. */
export async function deleteRequestRules(
  db: Db,
  mergeRequestIds: readonly number[],
): Promise<void> {
  if (mergeRequestIds.length === 0) return
  await db
    .deleteFrom('approval_rules')
    .where('merge_request_id', 'in', mergeRequestIds)
    .where('rule_type', '<>', 'code_owner')
    .execute()
}

/** The open merge requests of a project that have rules of their own. */
export async function listOverwritten(db: Db, projectId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('merge_requests')
    .select('id')
    .where('target_project_id', '=', projectId)
    .where('state', '=', 'opened')
    .where('rules_overwritten', '=', 1)
    .execute()
  return rows.map((row) => row.id)
}
