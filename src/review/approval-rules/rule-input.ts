import type { z } from 'zod'
import { Role } from '../../access/roles.ts'
import { findVisibleGroup, type Project } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { listUsersByName } from '../../discussions/references/queries.ts'
import { csv, flag, id, integer, oneOf, text } from '../../http/params.ts'
import { listMemberIds, listProtectedNames, type NamedRule } from './queries.ts'

/** The most approvals that one rule may ask for (docs/contract/B-resolved §8.2). */
const required = () => integer({ min: 0, max: 100 })

/** Whom a rule names; the `_ids` forms win over the older names. */
const people = {
  user_ids: csv(id()).optional(),
  usernames: csv(text()).optional(),
  group_ids: csv(id()).optional(),
  users: csv(id()).optional(),
  groups: csv(id()).optional(),
}

const projectOnly = {
  protected_branch_ids: csv(id()).optional(),
  applies_to_all_protected_branches: flag().optional(),
}

export const createProjectRuleBody = {
  ...people,
  ...projectOnly,
  name: text({ max: 1024 }),
  approvals_required: required(),
  rule_type: oneOf(['regular', 'any_approver', 'report_approver']).optional(),
  report_type: text({ max: 100 }).optional(),
}

export const changeProjectRuleBody = {
  ...people,
  ...projectOnly,
  name: text({ max: 1024 }).optional(),
  approvals_required: required().optional(),
  remove_hidden_groups: flag().optional(),
}

export const createRequestRuleBody = {
  ...people,
  name: text({ max: 1024 }),
  approvals_required: required(),
  approval_project_rule_id: id().optional(),
}

export const changeRequestRuleBody = {
  ...people,
  name: text({ max: 1024 }).optional(),
  approvals_required: required().optional(),
  remove_hidden_groups: flag().optional(),
}

export type AskedNames = z.infer<z.ZodObject<typeof people & typeof projectOnly>> & {
  readonly remove_hidden_groups?: boolean | undefined
}

interface Names {
  readonly userIds?: readonly number[]
  readonly groupIds?: readonly number[]
  readonly branchIds?: readonly number[]
}

/**
 * Whom a request wants a rule to name. Users who are no members and groups that the caller can't see are dropped without
 * an error; what the request does not mention is absent (docs/contract/B-resolved §8.2). Hidden groups of `before` are kept.
 */
export async function readNames(
  ctx: Ctx,
  project: Project,
  asked: AskedNames,
  before?: NamedRule,
): Promise<Names> {
  const users = await readUsers(ctx, project, asked)
  const groups = await readGroups(ctx, asked, before)
  const branches = await readBranches(ctx, project, asked)
  return {
    ...(users ? { userIds: users } : {}),
    ...(groups ? { groupIds: groups } : {}),
    ...(branches ? { branchIds: branches } : {}),
  }
}

async function readUsers(ctx: Ctx, project: Project, asked: AskedNames) {
  const ids = asked.user_ids ?? asked.users
  if (ids === undefined && asked.usernames === undefined) return undefined
  const named = await listUsersByName(ctx.db, asked.usernames ?? [])
  const members = await listMemberIds(ctx.db, project.id, Role.guest, dayOf(ctx.now()))
  return [...(ids ?? []), ...named.map((user) => user.id)].filter((id) => members.has(id))
}

async function readGroups(ctx: Ctx, asked: AskedNames, before: NamedRule | undefined) {
  const ids = asked.group_ids ?? asked.groups
  const hidden: number[] = []
  for (const id of before?.groupIds ?? []) {
    if (!(await findVisibleGroup(ctx, String(id)))) hidden.push(id)
  }
  if (ids === undefined && !asked.remove_hidden_groups) return undefined
  const kept = asked.remove_hidden_groups ? [] : hidden
  const wanted = ids ?? (before?.groupIds ?? []).filter((id) => !hidden.includes(id))
  const seen: number[] = []
  for (const id of wanted) if (await findVisibleGroup(ctx, String(id))) seen.push(id)
  return [...new Set([...seen, ...kept])]
}

async function readBranches(ctx: Ctx, project: Project, asked: AskedNames) {
  if (asked.protected_branch_ids === undefined) return undefined
  const names = await listProtectedNames(ctx.db, project.id, project.namespace_id)
  const known = new Set(names.map((one) => one.id))
  return asked.protected_branch_ids.filter((id) => known.has(id))
}

const coverageName = 'Coverage-Check'

/** What holds of names and kinds of rules (docs/contract/B-resolved §8.2 Validation). */
export function assertRule(rule: {
  readonly name: string
  readonly ruleType: string
  readonly reportType: string | null
}): void {
  if (rule.name.trim() === '') throw invalid({ name: ["can't be blank"] })
  const isReport = rule.ruleType === 'report_approver'
  if (isReport && rule.reportType !== 'code_coverage') {
    throw invalid({
      report_type: [rule.reportType === null ? "can't be blank" : 'is not included in the list'],
    })
  }
  if (isReport !== (rule.name === coverageName)) {
    throw invalid({
      report_type: [`${coverageName} is reserved for the report type code_coverage`],
    })
  }
}
