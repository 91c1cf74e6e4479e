import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import { pageOf } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, text } from '../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { presentRule, requestRuleEntity } from '../approval-rules/entity.ts'
import { findRule, type NamedRule } from '../approval-rules/queries.ts'
import {
  changeRequestRule,
  createRequestRule,
  getRuleInForce,
  removeRequestRule,
} from '../approval-rules/request-rules.ts'
import { changeRequestRuleBody, createRequestRuleBody } from '../approval-rules/rule-input.ts'
import { approvalStanding, type StandingRule } from '../approval-rules/standing.ts'
import { onMergeRequest, resetsApprovals } from '../merge-requests/access.ts'
import { submitReview } from '../merge-requests/change/quick-actions.ts'
import { publicMergeStatus } from '../merge-requests/detailed-merge-status.ts'
import { listOwnDrafts } from '../merge-requests/drafts/publish-drafts.ts'
import { reload } from '../merge-requests/find.ts'
import { path } from '../merge-requests/path.ts'
import type { MergeRequestRow } from '../merge-requests/row.ts'
import { approve, mayApprove, resetAllApprovals, unapprove } from './approve.ts'

/** Who approves, or may, is shown to nobody who is not signed in (docs/contract/B §Authentication). */
const read = onMergeRequest(undefined, { signedIn: true })
const edit = onMergeRequest('edit_merge_request', { signedIn: true })

const ruleBrief = z.strictObject({ id: z.int(), name: z.string(), rule_type: z.string() })

const approvedBy = z.strictObject({ user: userBasicEntity, approved_at: z.string() })

/** How a merge request stands with its approvals (docs/contract/B §Approval state, docs/contract/B-resolved §8.3). */
const stateEntity = z.strictObject({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  merge_status: z.string(),
  approved: z.boolean(),
  approvals_required: z.int(),
  approvals_left: z.int(),
  require_password_to_approve: z.boolean(),
  approved_by: z.array(approvedBy),
  suggested_approvers: z.array(userBasicEntity),
  approvers: z.array(z.never()),
  approver_groups: z.array(z.never()),
  user_has_approved: z.boolean(),
  user_can_approve: z.boolean(),
  approval_rules_left: z.array(ruleBrief),
  has_approval_rules: z.boolean(),
  merge_request_approvers_available: z.boolean(),
  multiple_approval_rules_available: z.boolean(),
  invalid_approvers_rules: z.array(ruleBrief),
})

function brief({ rule }: StandingRule): z.input<typeof ruleBrief> {
  return { id: rule.id, name: rule.name, rule_type: rule.rule_type }
}

async function presentState(ctx: Ctx, row: MergeRequestRow): Promise<z.input<typeof stateEntity>> {
  const standing = await approvalStanding(ctx, row)
  const user = userOf(ctx.actor)
  const { rules, approvals } = standing
  const open = rules.filter((rule) => !rule.approved)
  const done = new Set(approvals.map((approval) => approval.user_id))
  const suggested = open
    .filter(({ rule }) => rule.rule_type !== 'any_approver')
    .flatMap(({ eligible }) => [...eligible])
    .filter((id) => !done.has(id))
  const { id, iid, title, description, state, created_at, updated_at } = row
  return {
    ...{ id, iid, title, description, state, created_at, updated_at },
    project_id: row.target_project_id,
    merge_status: publicMergeStatus(row.merge_status),
    approved: standing.approved,
    approvals_required: sum(rules.map(({ rule }) => rule.approvals_required)),
    approvals_left: sum(rules.map(({ left }) => left)),
    require_password_to_approve: standing.settings.require_reauthentication_to_approve.value,
    approved_by: approvals.map((approval) => ({
      user: presentUserBasic(ctx, approval),
      approved_at: approval.approved_at,
    })),
    suggested_approvers: [...(await usersById(ctx, suggested)).values()],
    approvers: [],
    approver_groups: [],
    user_has_approved: user !== null && done.has(user.id),
    user_can_approve: user !== null && mayApprove(row, standing, user.id),
    approval_rules_left: open.map((rule) => brief(rule)),
    has_approval_rules: rules.some(({ rule }) => rule.rule_type !== 'any_approver'),
    merge_request_approvers_available: true,
    multiple_approval_rules_available: true,
    invalid_approvers_rules: rules
      .filter(({ rule, eligible }) => rule.approvals_required > eligible.size)
      .map((rule) => brief(rule)),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function sourceOf({ id, name, rule_type, approvals_required }: NamedRule) {
  return { id, name, rule_type, approvals_required }
}

async function presentStanding(ctx: Ctx, row: MergeRequestRow, standing: StandingRule) {
  const { rule, eligible } = standing
  const { source_rule_id: sourceId } = rule
  const source = sourceId === null ? rule : await findRule(ctx.db, sourceId)
  return {
    ...(await presentRule(ctx, rule, eligible)),
    section: rule.section,
    source_rule: source?.project_id ? sourceOf(source) : null,
    overridden: row.rules_overwritten === 1 && rule.rule_type !== 'code_owner',
  }
}

async function presentJudged(ctx: Ctx, row: MergeRequestRow, standing: StandingRule) {
  const people = await usersById(ctx, standing.approvedBy)
  return {
    ...(await presentStanding(ctx, row, standing)),
    approved: standing.approved,
    approved_by: [...people.values()],
  }
}

async function presentOne(ctx: Ctx, given: MergeRequestRow, ruleId: number) {
  const row = await reload(ctx, given.id)
  return presentStanding(ctx, row, await getRuleInForce(ctx, row, ruleId))
}

export const getMergeRequestApprovals = endpoint({
  method: 'GET',
  path: `${path}/approvals`,
  summary: 'Get how a merge request stands with its approvals',
  access: read,
  response: stateEntity,
  handler: ({ ctx, mergeRequest }) => presentState(ctx, mergeRequest),
})

const judgedRule = z.strictObject({
  ...requestRuleEntity.shape,
  approved: z.boolean(),
  approved_by: z.array(userBasicEntity),
})

const overwritten = { approval_rules_overwritten: z.boolean() }

async function judgedRules(ctx: Ctx, row: MergeRequestRow, target?: string) {
  const { rules } = await approvalStanding(ctx, row, target)
  return {
    approval_rules_overwritten: row.rules_overwritten === 1,
    rules: await Promise.all(rules.map((rule) => presentJudged(ctx, row, rule))),
  }
}

const stateQuery = { target_branch: text({ max: 1024 }).optional() }

export const getMergeRequestApprovalState = endpoint({
  method: 'GET',
  path: `${path}/approval_state`,
  summary: 'Get the approval state of a merge request',
  access: read,
  query: stateQuery,
  response: z.strictObject({ ...overwritten, rules: z.array(judgedRule) }),
  handler: ({ ctx, mergeRequest, query }) => judgedRules(ctx, mergeRequest, query.target_branch),
})

export const getMergeRequestApprovalSettings = endpoint({
  method: 'GET',
  path: `${path}/approval_settings`,
  summary: 'Get the rules of a merge request as pages show them',
  access: read,
  query: stateQuery,
  response: z.strictObject({
    ...overwritten,
    rules: z.array(
      z.strictObject({
        ...judgedRule.shape,
        approvers: z.array(userBasicEntity),
        commented_by: z.array(userBasicEntity),
      }),
    ),
  }),
  async handler({ ctx, mergeRequest, query }) {
    const found = await judgedRules(ctx, mergeRequest, query.target_branch)
    return {
      ...found,
      rules: found.rules.map((rule) => ({
        ...rule,
        approvers: rule.eligible_approvers,
        commented_by: [],
      })),
    }
  },
})

export const listMergeRequestApprovalRules = endpoint({
  method: 'GET',
  path: `${path}/approval_rules`,
  summary: 'List the approval rules that hold for a merge request',
  access: read,
  paginate: 'offset',
  response: z.array(requestRuleEntity),
  async handler({ ctx, mergeRequest: row, page }) {
    const { rules } = await approvalStanding(ctx, row)
    const { items, total } = pageOf(rules, page)
    return { items: await Promise.all(items.map((rule) => presentStanding(ctx, row, rule))), total }
  },
})

const ruleParams = { approval_rule_id: id() }

export const getMergeRequestApprovalRule = endpoint({
  method: 'GET',
  path: `${path}/approval_rules/:approval_rule_id`,
  summary: 'Get an approval rule that holds for a merge request',
  access: read,
  params: ruleParams,
  response: requestRuleEntity,
  handler: ({ ctx, mergeRequest, params }) =>
    presentOne(ctx, mergeRequest, params.approval_rule_id),
})

export const createMergeRequestApprovalRule = endpoint({
  method: 'POST',
  path: `${path}/approval_rules`,
  summary: 'Give a merge request an approval rule of its own',
  access: edit,
  body: createRequestRuleBody,
  response: requestRuleEntity,
  async handler({ ctx, project, mergeRequest: row, body }) {
    const ruleId = await createRequestRule(ctx, project, row, body)
    return presentOne(ctx, row, ruleId)
  },
})

export const updateMergeRequestApprovalRule = endpoint({
  method: 'PUT',
  path: `${path}/approval_rules/:approval_rule_id`,
  summary: 'Change an approval rule for one merge request',
  access: edit,
  params: ruleParams,
  body: changeRequestRuleBody,
  response: requestRuleEntity,
  async handler({ ctx, project, mergeRequest: row, params, body }) {
    const ruleId = await changeRequestRule(ctx, project, row, params.approval_rule_id, body)
    return presentOne(ctx, row, ruleId)
  },
})

export const deleteMergeRequestApprovalRule = endpoint({
  method: 'DELETE',
  path: `${path}/approval_rules/:approval_rule_id`,
  summary: 'Remove an approval rule for one merge request',
  access: edit,
  params: ruleParams,
  handler: ({ ctx, project, mergeRequest, params }) =>
    removeRequestRule(ctx, project, mergeRequest, params.approval_rule_id),
})

export const approveMergeRequest = endpoint({
  method: 'POST',
  path: `${path}/approve`,
  summary: 'Approve a merge request',
  access: read,
  body: {
    sha: text({ max: 64 }).optional(),
    approval_password: text({ max: 1000 }).optional(),
    publish_review: flag().optional(),
  },
  response: stateEntity,
  async handler({ ctx, project, mergeRequest: row, body }) {
    await approve(ctx, project, row, { sha: body.sha, password: body.approval_password })
    if (body.publish_review) {
      await submitReview(ctx, project, row, await listOwnDrafts(ctx, row))
    }
    return presentState(ctx, row)
  },
})

export const unapproveMergeRequest = endpoint({
  method: 'POST',
  path: `${path}/unapprove`,
  summary: 'Take the own approval back',
  access: read,
  response: stateEntity,
  async handler({ ctx, project, mergeRequest: row }) {
    await unapprove(ctx, project, row)
    return presentState(ctx, row)
  },
})

export const resetMergeRequestApprovals = endpoint({
  method: 'PUT',
  path: `${path}/reset_approvals`,
  summary: 'Take all approvals back; for the bots of projects and groups',
  access: read,
  // Stock clients parse what comes with a 202, so it is never empty (docs/contract/D §0.3).
  response: z.strictObject({ message: z.literal('202 Accepted') }),
  status: 202,
  conditions: [resetsApprovals],
  async handler({ ctx, mergeRequest: row }) {
    await resetAllApprovals(ctx, row)
    return { message: '202 Accepted' as const }
  },
})
