import type { z } from 'zod'
import { audit } from '../../access/audit.ts'
import type { Project } from '../../access/subjects.ts'
import { conflict, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import { findRule, listProjectRules, type NamedRule } from './queries.ts'
import {
  assertRule,
  type changeProjectRuleBody,
  type createProjectRuleBody,
  readNames,
} from './rule-input.ts'
import { deleteRule, insertRule, setRuleNames, updateRule } from './rule-queries.ts'

const anyExists = () => invalid({ rule_type: ['any-approver for the project already exists'] })
const uniques = {
  'approval_rules.project_id, approval_rules.rule_type, approval_rules.name': () => taken('name'),
  'approval_rules.project_id': anyExists,
}

/** The rule of a project, or 404. */
export async function getProjectRule(ctx: Ctx, project: Project, id: number): Promise<NamedRule> {
  const rule = await findRule(ctx.db, id)
  if (rule?.project_id !== project.id) throw notFound()
  return rule
}

export async function createProjectRule(
  ctx: Ctx,
  project: Project,
  input: z.infer<z.ZodObject<typeof createProjectRuleBody>>,
): Promise<NamedRule> {
  const ruleType = input.rule_type ?? 'regular'
  assertRule({ name: input.name, ruleType, reportType: input.report_type ?? null })
  const names = await readNames(ctx, project, input)
  const id = await inTransaction(ctx, async (ctx) => {
    const rules = await listProjectRules(ctx.db, [project.id])
    if (ruleType === 'any_approver' && rules.some((rule) => rule.rule_type === ruleType)) {
      throw anyExists()
    }
    const values = {
      project_id: project.id,
      name: input.name,
      rule_type: ruleType,
      report_type: ruleType === 'report_approver' ? (input.report_type ?? null) : null,
      approvals_required: input.approvals_required,
      applies_to_all_protected_branches: input.applies_to_all_protected_branches ?? false,
      created_at: ctx.now(),
      updated_at: ctx.now(),
    }
    const all = { userIds: [], groupIds: [], ...names }
    const made = await uniquely(uniques, () => insertRule(ctx.db, values, all))
    await note(ctx, 'approval_rule_created', project.id, { name: input.name })
    return made
  })
  return getProjectRule(ctx, project, id)
}

/** Changes what the input names; users and groups in it replace those of before. */
export async function changeProjectRule(
  ctx: Ctx,
  project: Project,
  rule: NamedRule,
  input: z.infer<z.ZodObject<typeof changeProjectRuleBody>>,
): Promise<NamedRule> {
  const { name, approvals_required, applies_to_all_protected_branches: all } = input
  if (name !== undefined) {
    assertRule({ name, ruleType: rule.rule_type, reportType: rule.report_type })
  }
  const names = await readNames(ctx, project, input, rule)
  await inTransaction(ctx, async (ctx) => {
    await uniquely(uniques, () =>
      updateRule(ctx.db, rule.id, {
        name,
        approvals_required,
        applies_to_all_protected_branches: all,
        updated_at: ctx.now(),
      }),
    )
    await setRuleNames(ctx.db, rule.id, names)
    await note(ctx, 'approval_rule_updated', project.id, { name: name ?? rule.name })
  })
  return getProjectRule(ctx, project, rule.id)
}

export async function removeProjectRule(ctx: Ctx, rule: NamedRule): Promise<void> {
  const { project_id: projectId } = rule
  if (projectId === null) throw conflict()
  await inTransaction(ctx, async (ctx) => {
    await deleteRule(ctx.db, rule.id)
    await note(ctx, 'approval_rule_deleted', projectId, { name: rule.name })
  })
}

async function note(
  ctx: Ctx,
  action: string,
  projectId: number,
  details: { readonly name: string },
): Promise<void> {
  await audit(ctx, { entity: { type: 'Project', id: projectId }, action, details })
}

/** The deprecated count of a project: that of its rule for any approver. */
export async function setAnyApprover(ctx: Ctx, project: Project, count: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const rules = await listProjectRules(ctx.db, [project.id])
    const known = rules.find((rule) => rule.rule_type === 'any_approver')
    if (known) {
      await updateRule(ctx.db, known.id, { approvals_required: count, updated_at: ctx.now() })
      await note(ctx, 'approval_rule_updated', project.id, { name: known.name })
    } else if (count > 0) {
      await createProjectRule(ctx, project, {
        name: 'All Members',
        rule_type: 'any_approver',
        approvals_required: count,
      })
    }
  })
}
