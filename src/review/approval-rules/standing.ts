import { matchesPattern } from '../../base/name-pattern.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { eligibleFor, peopleOf } from './eligible.ts'
import { judgeRule, type RuleVerdict } from './evaluate.ts'
import {
  type ApprovalRow,
  committersById,
  findRuledProject,
  listApprovals,
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
  const project = existing(await findRuledProject(ctx.db, subject.target_project_id), 'Project')
  const [settings, approvals, own, general, names, committers] = await Promise.all([
    projectApprovalSettings(ctx, project),
    listApprovals(ctx.db, [subject.id]),
    listRequestRules(ctx.db, [subject.id]),
    listProjectRules(ctx.db, [project.id]),
    listProtectedNames(ctx.db, project.id, project.namespace_id),
    committersById(ctx.db, [subject.id]),
  ])
  const rules = rulesInForce(subject, own, general, names, targetBranch)
  const people = await peopleOf(ctx, project, rules)
  const commits = committers.get(subject.id) ?? new Set<number>()
  const barred = barredFrom(subject, settings, commits)
  const approvers = approvals.map((approval) => approval.user_id)
  const standing = rules.map((rule) => {
    const pool = eligibleFor(rule, people)
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
    developers: people.developers,
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
