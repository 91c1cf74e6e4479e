import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { existing, Problem, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken } from '../../store/unique.ts'
import { hasOwnRules, listProjectRules, listRequestRules, type NamedRule } from './queries.ts'
import { type AskedNames, assertRule, readNames } from './rule-input.ts'
import { deleteRule, insertRule, setRuleNames, updateRule } from './rule-queries.ts'
import { projectApprovalSettings } from './settings.ts'
import { type ApprovalSubject, approvalStanding, type StandingRule } from './standing.ts'

export interface RequestRuleInput extends AskedNames {
  readonly name?: string | undefined
  readonly approvals_required?: number | undefined
  readonly approval_project_rule_id?: number | undefined
}

const prohibited = () => new Problem('forbidden', 403, { message: ['Prohibited'] })

/** The rule of this number that holds for a merge request, its project's included; or 404. */
export async function getRuleInForce(
  ctx: Ctx,
  subject: ApprovalSubject,
  id: number,
): Promise<StandingRule> {
  const { rules } = await approvalStanding(ctx, subject)
  return existing(rules.find(({ rule }) => rule.id === id))
}

/** Refuses changes where the project wants its own rules everywhere (docs/contract/B-resolved §8.3). */
async function assertMayOverride(ctx: Ctx, project: Project): Promise<void> {
  const settings = await projectApprovalSettings(ctx, project)
  if (settings.disable_overriding_approvers_per_merge_request.value) {
    throw unprocessable(['Approval rules cannot be overridden in merge requests of this project'])
  }
}

/**
 * Gives a merge request rules of its own, copies of those that held until now: what the project asks for is not lost by
 * adding something. Nothing happens when it has them. In the caller's transaction.
 */
async function ownRules(ctx: Ctx, subject: ApprovalSubject): Promise<NamedRule[]> {
  // Asked again inside: another request may have made the copies a moment ago.
  if (!(await hasOwnRules(ctx.db, subject.id))) {
    const { rules } = await approvalStanding(ctx, { ...subject, rules_overwritten: 0 })
    for (const { rule } of rules) {
      if (rule.project_id !== null) await insertCopy(ctx, subject, rule, rule.approvals_required)
    }
    await runEffects(ctx, ctx.effects.requestRulesMade, { id: subject.id })
  }
  return listRequestRules(ctx.db, [subject.id])
}

/** The merge request's own form of a rule of its project. */
function insertCopy(ctx: Ctx, subject: ApprovalSubject, rule: NamedRule, count: number) {
  const { name, rule_type, report_type, userIds, groupIds } = rule
  const source = { merge_request_id: subject.id, source_rule_id: rule.id }
  const values = { name, rule_type, report_type, approvals_required: count, ...stamps(ctx) }
  return insertRule(ctx.db, { ...values, ...source }, { userIds, groupIds })
}

function stamps(ctx: Ctx) {
  return { created_at: ctx.now(), updated_at: ctx.now() }
}

/** Names of the rules that a merge request's people write are distinct, as those of a project do. */
function assertNameFree(rules: readonly NamedRule[], name: string, exceptId?: number): void {
  const others = rules.filter((rule) => rule.rule_type === 'regular' && rule.id !== exceptId)
  if (others.some((rule) => rule.name === name)) throw taken('name')
}

/** Adds a rule to a merge request; one that stands for a rule of the project changes the copy of that rule. */
export async function createRequestRule(
  ctx: Ctx,
  project: Project,
  subject: ApprovalSubject,
  input: RequestRuleInput & { readonly name: string; readonly approvals_required: number },
): Promise<number> {
  await assertMayOverride(ctx, project)
  assertRule({ name: input.name, ruleType: 'regular', reportType: null })
  const names = await readNames(ctx, project, input)
  return inTransaction(ctx, async (ctx) => {
    const rules = await ownRules(ctx, subject)
    const { approval_project_rule_id: source, approvals_required } = input
    const copy = rules.find((rule) => source !== undefined && rule.source_rule_id === source)
    if (copy) {
      await updateRule(ctx.db, copy.id, { approvals_required, updated_at: ctx.now() })
      return copy.id
    }
    if (source !== undefined) {
      // It came later, holds for other branches, or its copy was removed.
      const general = await listProjectRules(ctx.db, [project.id])
      const rule = existing(general.find((one) => one.id === source))
      assertNameFree(rules, rule.name)
      return insertCopy(ctx, subject, rule, approvals_required)
    }
    assertNameFree(rules, input.name)
    const values = {
      merge_request_id: subject.id,
      name: input.name,
      approvals_required,
      ...stamps(ctx),
    }
    return insertRule(ctx.db, values, { userIds: [], groupIds: [], ...names })
  })
}

function assertChangeable(rule: NamedRule): void {
  if (rule.rule_type === 'report_approver' || rule.rule_type === 'code_owner') throw prohibited()
}

/** The merge request's own form of a rule. */
function ownRule(rules: readonly NamedRule[], rule: NamedRule): NamedRule {
  return existing(rules.find((one) => one.id === rule.id || one.source_rule_id === rule.id))
}

export async function changeRequestRule(
  ctx: Ctx,
  project: Project,
  subject: ApprovalSubject,
  id: number,
  input: RequestRuleInput,
): Promise<number> {
  const { rule } = await getRuleInForce(ctx, subject, id)
  assertChangeable(rule)
  await assertMayOverride(ctx, project)
  const { name, approvals_required } = input
  if (name !== undefined) assertRule({ name, ruleType: 'regular', reportType: null })
  const names = await readNames(ctx, project, input, rule)
  return inTransaction(ctx, async (ctx) => {
    const rules = await ownRules(ctx, subject)
    const own = ownRule(rules, rule)
    if (name !== undefined && own.rule_type === 'regular') assertNameFree(rules, name, own.id)
    await updateRule(ctx.db, own.id, { name, approvals_required, updated_at: ctx.now() })
    await setRuleNames(ctx.db, own.id, names)
    return own.id
  })
}

export async function removeRequestRule(
  ctx: Ctx,
  project: Project,
  subject: ApprovalSubject,
  id: number,
): Promise<void> {
  const { rule } = await getRuleInForce(ctx, subject, id)
  assertChangeable(rule)
  await assertMayOverride(ctx, project)
  await inTransaction(ctx, async (ctx) => {
    const own = ownRule(await ownRules(ctx, subject), rule)
    await deleteRule(ctx.db, own.id)
  })
}
