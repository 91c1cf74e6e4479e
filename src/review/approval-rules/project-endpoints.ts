import { z } from 'zod'
import { onProject, type Project } from '../../access/subjects.ts'
import { recordOf } from '../../base/group-by.ts'
import { pageOf } from '../../base/page.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, flag, id, integer } from '../../http/params.ts'
import { readsOfArchived } from './access.ts'
import { changeProjectSettings } from './change-settings.ts'
import { eligibleFor, peopleOf } from './eligible.ts'
import { presentProjectRule, projectRuleEntity } from './entity.ts'
import {
  changeProjectRule,
  createProjectRule,
  getProjectRule,
  removeProjectRule,
  setAnyApprover,
} from './project-rules.ts'
import { listProjectRules, type NamedRule } from './queries.ts'
import { changeProjectRuleBody, createProjectRuleBody } from './rule-input.ts'
import { projectApprovalSettings, settingNames } from './settings.ts'
import type { SettingChanges } from './settings-queries.ts'

const read = onProject('read_approval_rules', { signedIn: true })
const admin = onProject('admin_approval_rules', { signedIn: true })

const configEntity = z.strictObject({
  approvers: z.array(z.never()),
  approver_groups: z.array(z.never()),
  approvals_before_merge: z.int(),
  ...recordOf(settingNames, () => z.boolean()),
  require_password_to_approve: z.boolean(),
})

const configBody = {
  approvals_before_merge: integer({ min: 0, max: 100 }).optional(),
  ...recordOf(settingNames, () => flag().optional()),
  require_password_to_approve: flag().optional(),
}

type ConfigInput = z.infer<z.ZodObject<typeof configBody>>

async function presentConfig(ctx: Ctx, project: Project): Promise<z.input<typeof configEntity>> {
  const settings = await projectApprovalSettings(ctx, project)
  const rules = await listProjectRules(ctx.db, [project.id])
  const any = rules.find((rule) => rule.rule_type === 'any_approver')
  return {
    approvers: [],
    approver_groups: [],
    approvals_before_merge: any?.approvals_required ?? 0,
    ...recordOf(settingNames, (name) => settings[name].value),
    require_password_to_approve: settings.require_reauthentication_to_approve.value,
  }
}

async function present(ctx: Ctx, project: Project, rule: NamedRule) {
  const people = await peopleOf(ctx, project, [rule])
  return presentProjectRule(ctx, project, rule, eligibleFor(rule, people))
}

export const getProjectApprovals = endpoint({
  method: 'GET',
  path: '/projects/:id/approvals',
  summary: 'Get how a project wants merge requests approved',
  access: read,
  conditions: [readsOfArchived],
  response: configEntity,
  handler: ({ ctx, project }) => presentConfig(ctx, project),
})

export const changeProjectApprovals = endpoint({
  method: 'POST',
  path: '/projects/:id/approvals',
  summary: 'Change how a project wants merge requests approved',
  access: admin,
  body: configBody,
  check: atLeastOne(Object.keys(configBody)),
  response: configEntity,
  async handler({ ctx, project, body }) {
    await changeProjectSettings(ctx, project, settingsOf(body))
    const count = body.approvals_before_merge
    if (count !== undefined) await setAnyApprover(ctx, project, count)
    return presentConfig(ctx, project)
  },
})

function settingsOf(body: ConfigInput): SettingChanges {
  const { approvals_before_merge: _, require_password_to_approve: password, ...rest } = body
  const again = rest.require_reauthentication_to_approve ?? password
  return { ...rest, require_reauthentication_to_approve: again }
}

export const listApprovalRules = endpoint({
  method: 'GET',
  path: '/projects/:id/approval_rules',
  summary: 'List the approval rules of a project',
  access: read,
  conditions: [readsOfArchived],
  paginate: 'offset',
  response: z.array(projectRuleEntity),
  async handler({ ctx, project, page }) {
    const rules = await listProjectRules(ctx.db, [project.id])
    const { items, total } = pageOf(rules, page)
    return { items: await Promise.all(items.map((rule) => present(ctx, project, rule))), total }
  },
})

const ruleParams = { approval_rule_id: id() }

export const getApprovalRule = endpoint({
  method: 'GET',
  path: '/projects/:id/approval_rules/:approval_rule_id',
  summary: 'Get an approval rule of a project',
  access: read,
  conditions: [readsOfArchived],
  params: ruleParams,
  response: projectRuleEntity,
  async handler({ ctx, project, params }) {
    return present(ctx, project, await getProjectRule(ctx, project, params.approval_rule_id))
  },
})

export const createApprovalRule = endpoint({
  method: 'POST',
  path: '/projects/:id/approval_rules',
  summary: 'Add an approval rule to a project',
  access: admin,
  body: createProjectRuleBody,
  response: projectRuleEntity,
  handler: async ({ ctx, project, body }) =>
    present(ctx, project, await createProjectRule(ctx, project, body)),
})

export const updateApprovalRule = endpoint({
  method: 'PUT',
  path: '/projects/:id/approval_rules/:approval_rule_id',
  summary: 'Change an approval rule of a project',
  access: admin,
  params: ruleParams,
  body: changeProjectRuleBody,
  response: projectRuleEntity,
  async handler({ ctx, project, params, body }) {
    const rule = await getProjectRule(ctx, project, params.approval_rule_id)
    return present(ctx, project, await changeProjectRule(ctx, project, rule, body))
  },
})

export const deleteApprovalRule = endpoint({
  method: 'DELETE',
  path: '/projects/:id/approval_rules/:approval_rule_id',
  summary: 'Remove an approval rule of a project',
  access: admin,
  params: ruleParams,
  async handler({ ctx, project, params, request }) {
    const rule = await getProjectRule(ctx, project, params.approval_rule_id)
    assertUnmodifiedSince(request, rule.updated_at)
    await removeProjectRule(ctx, rule)
  },
})
