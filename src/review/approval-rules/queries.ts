import { sql } from 'kysely'
import type { Day, Instant } from '../../base/clock.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type RuleRow = RowOf<'approval_rules'>

/** A rule with whom it names. */
export interface NamedRule extends RuleRow {
  readonly userIds: readonly number[]
  readonly groupIds: readonly number[]
  readonly branchIds: readonly number[]
}

async function withNames(db: Db, rows: readonly RuleRow[]): Promise<NamedRule[]> {
  const ids = rows.map((row) => row.id)
  const [users, groups, branches] = await Promise.all([
    db.selectFrom('approval_rule_users').selectAll().where('rule_id', 'in', ids).execute(),
    db.selectFrom('approval_rule_groups').selectAll().where('rule_id', 'in', ids).execute(),
    db.selectFrom('approval_rule_branches').selectAll().where('rule_id', 'in', ids).execute(),
  ])
  return rows.map((row) => ({
    ...row,
    userIds: users.filter((one) => one.rule_id === row.id).map((one) => one.user_id),
    groupIds: groups.filter((one) => one.rule_id === row.id).map((one) => one.group_id),
    branchIds: branches
      .filter((one) => one.rule_id === row.id)
      .map((one) => one.protected_branch_id),
  }))
}

/** Whether a merge request has rules of its own in the place of its project's. */
export async function hasOwnRules(db: Db, mergeRequestId: number): Promise<boolean> {
  const row = await db
    .selectFrom('merge_requests')
    .select('rules_overwritten')
    .where('id', '=', mergeRequestId)
    .executeTakeFirst()
  return row?.rules_overwritten === 1
}

async function listRules(
  db: Db,
  column: 'id' | 'project_id' | 'merge_request_id',
  ids: readonly number[],
): Promise<NamedRule[]> {
  if (ids.length === 0) return []
  const rules = db.selectFrom('approval_rules').selectAll().where(column, 'in', ids)
  return withNames(db, await rules.orderBy('id').execute())
}

/** Rules of projects, oldest first. */
export function listProjectRules(db: Db, projectIds: readonly number[]): Promise<NamedRule[]> {
  return listRules(db, 'project_id', projectIds)
}

/** Rules of single merge requests, code owners' included, oldest first. */
export function listRequestRules(db: Db, mergeRequestIds: readonly number[]): Promise<NamedRule[]> {
  return listRules(db, 'merge_request_id', mergeRequestIds)
}

export async function findRule(db: Db, ruleId: number): Promise<NamedRule | undefined> {
  return (await listRules(db, 'id', [ruleId]))[0]
}

/** Approvals of many merge requests, oldest first, with who gave them. */
export async function listApprovals(db: Db, mergeRequestIds: readonly number[]) {
  if (mergeRequestIds.length === 0) return []
  return await db
    .selectFrom('approvals')
    .innerJoin('users', 'users.id', 'approvals.user_id')
    .select(userBasicColumns)
    .select([
      'approvals.merge_request_id',
      'approvals.user_id',
      'approvals.head_sha',
      'approvals.patch_id',
      'approvals.created_at as approved_at',
    ])
    .where('approvals.merge_request_id', 'in', mergeRequestIds)
    .orderBy('approvals.created_at')
    .orderBy('users.id')
    .execute()
}

export type ApprovalRow = Awaited<ReturnType<typeof listApprovals>>[number]

/** False when the user has approved before. */
export async function insertApproval(
  db: Db,
  approval: {
    merge_request_id: number
    user_id: number
    head_sha: string | null
    patch_id: string | null
    created_at: Instant
  },
): Promise<boolean> {
  const result = await db
    .insertInto('approvals')
    .values(approval)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Removes approvals, of these users only when given; gives how many it removed. */
export async function deleteApprovals(
  db: Db,
  mergeRequestId: number,
  userIds?: readonly number[],
): Promise<number> {
  const result = await db
    .deleteFrom('approvals')
    .where('merge_request_id', '=', mergeRequestId)
    .$if(userIds !== undefined, (query) => query.where('user_id', 'in', userIds ?? []))
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Everybody with at least this role in a project, as `findProjectRole` finds it for one. */
export async function listMemberIds(
  db: Db,
  projectId: number,
  least: number,
  today: Day,
): Promise<Set<number>> {
  const { rows } = await sql<{ user_id: number }>`
    WITH chain(id) AS MATERIALIZED (
      SELECT a.ancestor_id FROM projects p JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id
      WHERE p.id = ${projectId}
    ), found(user_id, role) AS (
      SELECT n.owner_id, 50 FROM projects p JOIN namespaces n ON n.id = p.namespace_id
        WHERE p.id = ${projectId} AND n.kind = 'user'
      UNION ALL
      SELECT m.user_id, m.access_level FROM members m WHERE m.requested_at IS NULL AND m.state = 'active'
        AND (m.expires_at IS NULL OR m.expires_at > ${today})
        AND ((m.source_type = 'project' AND m.source_id = ${projectId})
          OR (m.source_type = 'group' AND m.source_id IN (SELECT id FROM chain)))
      UNION ALL
      SELECT m.user_id, min(l.access_level, m.access_level) FROM group_links l
        JOIN namespace_ancestors a ON a.namespace_id = l.group_id
        JOIN members m ON m.source_type = 'group' AND m.source_id = a.ancestor_id
        WHERE (l.expires_at IS NULL OR l.expires_at > ${today})
          AND ((l.source_type = 'project' AND l.source_id = ${projectId})
            OR (l.source_type = 'group' AND l.source_id IN (SELECT id FROM chain)))
          AND m.requested_at IS NULL AND m.state = 'active' AND (m.expires_at IS NULL OR m.expires_at > ${today})
    )
    SELECT DISTINCT f.user_id FROM found f JOIN users u ON u.id = f.user_id
    WHERE f.role >= ${least} AND u.state = 'active'`.execute(db)
  return new Set(rows.map((row) => row.user_id))
}

/** Direct members of groups, by group. */
export async function listGroupMemberIds(
  db: Db,
  groupIds: readonly number[],
  today: Day,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const found = new Map<number, Set<number>>(groupIds.map((id) => [id, new Set<number>()]))
  if (groupIds.length === 0) return found
  const rows = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.source_id', 'users.id'])
    .where('members.source_type', '=', 'group')
    .where('members.source_id', 'in', groupIds)
    .where('members.requested_at', 'is', null)
    .where('members.state', '=', 'active')
    .where('users.state', '=', 'active')
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', today)]))
    .execute()
  for (const row of rows) found.get(row.source_id)?.add(row.id)
  return found
}

/** Who committed to a merge request. */
export async function listCommitterIds(db: Db, mergeRequestId: number): Promise<Set<number>> {
  const rows = await db
    .selectFrom('merge_request_committers')
    .select('user_id')
    .where('merge_request_id', '=', mergeRequestId)
    .execute()
  return new Set(rows.map((row) => row.user_id))
}

/** Protected branches that hold in a project: its own and its groups'. */
export function listProtectedNames(db: Db, projectId: number, namespaceId: number) {
  return db
    .selectFrom('protected_branches')
    .select(['id', 'name', 'code_owner_approval_required'])
    .where((is) =>
      is.or([is('project_id', '=', projectId), is('group_id', 'in', namespacesAbove(namespaceId))]),
    )
    .orderBy('id')
    .execute()
}

export function findRuledProject(db: Db, projectId: number) {
  return db
    .selectFrom('projects')
    .select(['id', 'namespace_id', 'visibility'])
    .where('id', '=', projectId)
    .executeTakeFirst()
}

export function listApproverAddresses(db: Db, mergeRequestId: number) {
  return db
    .selectFrom('approvals')
    .innerJoin('users', 'users.id', 'approvals.user_id')
    .select(['users.name', 'users.email', 'users.commit_email'])
    .where('approvals.merge_request_id', '=', mergeRequestId)
    .orderBy('approvals.created_at')
    .orderBy('users.id')
    .execute()
}
