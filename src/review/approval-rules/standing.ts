import { matchesPattern } from '../../base/name-pattern.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { eligibleFor, peopleOf } from './eligible.ts'
import {
  type ApprovalRow,
  findRuledProject,
  listApprovals,
  listCommitterIds,
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
export interface StandingRule {
  readonly rule: NamedRule
  readonly eligible: ReadonlySet<number>
  readonly approvedBy: readonly number[]
  readonly approved: boolean
  readonly left: number
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
    listCommitterIds(ctx.db, subject.id),
  ])
  const rules = rulesInForce(subject, own, general, names, targetBranch)
  const people = await peopleOf(ctx, project, rules)
  const barred = barredFrom(subject, settings, committers)
  const approvers = approvals.map((approval) => approval.user_id)
  const standing = rules.map((rule) => {
    const pool = eligibleFor(rule, people)
    const ownFiles = rule.rule_type === 'code_owner' ? committers : new Set<number>()
    const eligible = new Set([...pool].filter((id) => !barred.has(id) && !ownFiles.has(id)))
    return { rule, eligible, ...judge(rule.approvals_required, eligible, approvers) }
  })
  return {
    rules: standing,
    approvals,
    settings,
    developers: people.developers,
    committers,
    approved: standing.every((one) => one.approved),
  }
}

type ProtectedName = Awaited<ReturnType<typeof listProtectedNames>>[number]

/**
 * Project rules hold until a merge request has a set of its own; code owners' rules always do, and ask for approvals
 * where the target's protection demands them now.
 */
function rulesInForce(
  subject: ApprovalSubject,
  own: readonly NamedRule[],
  general: readonly NamedRule[],
  names: readonly ProtectedName[],
  targetBranch: string,
): NamedRule[] {
  const demanded = names.some(
    (one) => one.code_owner_approval_required === 1 && matchesPattern(one.name, targetBranch),
  )
  const owners = own
    .filter((rule) => rule.rule_type === 'code_owner')
    .map((rule) => (demanded ? rule : { ...rule, approvals_required: 0 }))
  const plain =
    subject.rules_overwritten === 1
      ? own.filter((rule) => rule.rule_type !== 'code_owner')
      : general.filter((rule) => appliesTo(rule, names, targetBranch))
  return [...plain, ...owners]
}

/** Without branches a rule means every target; else the protected branches that it names, or all of them. */
function appliesTo(
  rule: Pick<NamedRule, 'applies_to_all_protected_branches' | 'branchIds'>,
  names: readonly ProtectedName[],
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

/**
 * Whether a rule is satisfied: enough of its people approved, or nobody is left who still could, which counts as
 * approved (docs/contract/B-resolved §8.3). One approval counts in every rule its giver belongs to.
 */
function judge(required: number, eligible: ReadonlySet<number>, approvers: readonly number[]) {
  const approvedBy = approvers.filter((id) => eligible.has(id))
  const left = Math.max(0, required - approvedBy.length)
  const couldStill = eligible.size - approvedBy.length
  return { approvedBy, left, approved: left === 0 || couldStill === 0 }
}
