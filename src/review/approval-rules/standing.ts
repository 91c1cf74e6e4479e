import { Role } from '../../access/roles.ts'
import { dayOf } from '../../base/clock.ts'
import { matchesPattern } from '../../base/name-pattern.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { judgeRule, type RuleVerdict } from './evaluate.ts'
import {
  type ApprovalRow,
  committersById,
  findNamespaceId,
  listApprovals,
  listGroupMemberIds,
  listMemberIds,
  listProjectRules,
  listProtectedNames,
  listRequestRules,
  type NamedRule,
} from './queries.ts'
import { type ApprovalSettings, projectApprovalSettings } from './settings.ts'

/** A merge request as far as approvals ask. */
export interface ApprovalSubject {
  readonly id: number
  readonly target_project_id: number
  readonly target_branch: string
  readonly author_id: number | null
  readonly rules_overwritten: 0 | 1
}

/** A rule with who may satisfy it, and how far it is satisfied. */
export interface StandingRule extends RuleVerdict {
  readonly rule: NamedRule
  readonly eligible: ReadonlySet<number>
}

/** How a merge request stands with its approvals. */
export interface Standing {
  readonly rules: readonly StandingRule[]
  readonly approvals: readonly ApprovalRow[]
  readonly settings: ApprovalSettings
  /** Developers and above, who may approve where no rule names anybody. */
  readonly developers: ReadonlySet<number>
  readonly committers: ReadonlySet<number>
  readonly approved: boolean
}

/** How a merge request stands with all its rules (docs/contract/B-resolved §8.3); `targetBranch` asks for another target. */
export async function approvalStanding(
  ctx: Ctx,
  subject: ApprovalSubject,
  targetBranch = subject.target_branch,
): Promise<Standing> {
  const project = existing(await findNamespaceId(ctx.db, subject.target_project_id), 'Project')
  const today = dayOf(ctx.now())
  const [settings, approvals, own, general, names, developers, members, committers] =
    await Promise.all([
      projectApprovalSettings(ctx, project),
      listApprovals(ctx.db, [subject.id]),
      listRequestRules(ctx.db, [subject.id]),
      listProjectRules(ctx.db, [project.id]),
      listProtectedNames(ctx.db, project.id, project.namespace_id),
      listMemberIds(ctx.db, project.id, Role.developer, today),
      listMemberIds(ctx.db, project.id, Role.guest, today),
      committersById(ctx.db, [subject.id]),
    ])
  const rules = rulesInForce(subject, own, general, names, targetBranch)
  const groups = await listGroupMemberIds(
    ctx.db,
    [...new Set(rules.flatMap((rule) => rule.groupIds))],
    today,
  )
  const commits = committers.get(subject.id) ?? new Set<number>()
  const barred = barredFrom(subject, settings, commits)
  const approvers = approvals.map((approval) => approval.user_id)
  const standing = rules.map((rule) => {
    const pool = poolOf(rule, { groups, members, developers })
    const ownFiles = rule.rule_type === 'code_owner' ? commits : new Set<number>()
    const eligible = new Set([...pool].filter((id) => !barred.has(id) && !ownFiles.has(id)))
    return {
      rule,
      eligible,
      ...judgeRule({ id: rule.id, required: rule.approvals_required, eligible }, approvers),
    }
  })
  return {
    rules: standing,
    approvals,
    settings,
    developers,
    committers: commits,
    approved: standing.every((one) => one.approved),
  }
}

/** Project rules hold until a merge request has a set of its own; code owners' rules always do. */
function rulesInForce(
  subject: ApprovalSubject,
  own: readonly NamedRule[],
  general: readonly NamedRule[],
  names: readonly { readonly id: number; readonly name: string }[],
  targetBranch: string,
): NamedRule[] {
  const owners = own.filter((rule) => rule.rule_type === 'code_owner')
  const plain =
    subject.rules_overwritten === 1
      ? own.filter((rule) => rule.rule_type !== 'code_owner')
      : general.filter((rule) => appliesTo(rule, names, targetBranch))
  return [...plain, ...owners]
}

/** Without branches a rule means every target; else the protected branches that it names, or all of them. */
function appliesTo(
  rule: Pick<NamedRule, 'applies_to_all_protected_branches' | 'branchIds'>,
  names: readonly { readonly id: number; readonly name: string }[],
  branch: string,
): boolean {
  const matching = names.filter((one) => matchesPattern(one.name, branch))
  if (rule.applies_to_all_protected_branches === 1) return matching.length > 0
  return rule.branchIds.length === 0 || matching.some((one) => rule.branchIds.includes(one.id))
}

/** Who may not approve whatever rules say: the author and the committers, as the project has it. */
export function barredFrom(
  subject: Pick<ApprovalSubject, 'author_id'>,
  settings: ApprovalSettings,
  committers: ReadonlySet<number>,
): ReadonlySet<number> {
  const barred = new Set<number>()
  const mayApproveOwn = settings.merge_requests_author_approval.value
  if (!mayApproveOwn && subject.author_id !== null) barred.add(subject.author_id)
  if (settings.merge_requests_disable_committers_approval.value) {
    for (const id of committers) barred.add(id)
  }
  return barred
}

/** Who may satisfy a rule, before anybody is barred. */
function poolOf(
  rule: NamedRule,
  people: {
    readonly groups: ReadonlyMap<number, ReadonlySet<number>>
    readonly members: ReadonlySet<number>
    readonly developers: ReadonlySet<number>
  },
): ReadonlySet<number> {
  const { groups, members, developers } = people
  if (rule.rule_type === 'any_approver') return developers
  const ofGroups = rule.groupIds.flatMap((id) => [...(groups.get(id) ?? [])])
  // Owners of files are Developers at least, whoever they are named by (docs/contract/B-resolved §7).
  if (rule.rule_type === 'code_owner') {
    return new Set([...rule.userIds, ...ofGroups].filter((id) => developers.has(id)))
  }
  return new Set([...rule.userIds.filter((id) => members.has(id)), ...ofGroups])
}
