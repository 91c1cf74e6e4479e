import { z } from 'zod'
import { findVisibleGroup, type Group } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { avatarUrl, userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { listProtectedNames, type NamedRule } from './queries.ts'

const groupEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  path: z.string(),
  description: z.string(),
  visibility: z.string(),
  lfs_enabled: z.boolean(),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
  request_access_enabled: z.boolean(),
  full_name: z.string(),
  full_path: z.string(),
  parent_id: z.int().nullable(),
  ldap_cn: z.null(),
  ldap_access: z.null(),
})

const common = {
  id: z.int(),
  name: z.string(),
  rule_type: z.string(),
  report_type: z.string().nullable(),
  eligible_approvers: z.array(userBasicEntity),
  approvals_required: z.int(),
  users: z.array(userBasicEntity),
  groups: z.array(groupEntity),
  contains_hidden_groups: z.boolean(),
}

/** A rule of a project (docs/contract/B §Approval rule). */
export const projectRuleEntity = z.strictObject({
  ...common,
  applies_to_all_protected_branches: z.boolean(),
  protected_branches: z.array(
    z.strictObject({
      id: z.int(),
      name: z.string(),
      code_owner_approval_required: z.boolean(),
    }),
  ),
})

/** A rule as it holds for one merge request (docs/contract/B-resolved §8.3). */
export const requestRuleEntity = z.strictObject({
  ...common,
  section: z.string().nullable(),
  source_rule: z
    .strictObject({
      id: z.int(),
      name: z.string(),
      rule_type: z.string(),
      approvals_required: z.int(),
    })
    .nullable(),
  overridden: z.boolean(),
})

type Common = z.input<z.ZodObject<typeof common>>

function presentGroup(ctx: Ctx, group: Group): z.input<typeof groupEntity> {
  return {
    id: group.id,
    name: group.name,
    path: group.path,
    description: group.description,
    visibility: group.visibility,
    lfs_enabled: group.settings.lfs_enabled !== false,
    avatar_url: avatarUrl(ctx, 'group', group.id, group),
    web_url: `${ctx.config.externalUrl}/groups/${group.full_path}`,
    request_access_enabled: group.request_access_enabled === 1,
    full_name: group.full_name,
    full_path: group.full_path,
    parent_id: group.parent_id,
    ldap_cn: null,
    ldap_access: null,
  }
}

/** What rules of projects and of merge requests have in common. Groups that the caller can't see are left out. */
export async function presentRule(
  ctx: Ctx,
  rule: NamedRule,
  eligible: ReadonlySet<number>,
): Promise<Common> {
  const groups: Group[] = []
  for (const id of rule.groupIds) {
    const group = await findVisibleGroup(ctx, String(id))
    if (group) groups.push(group)
  }
  const people = [...(await usersById(ctx, [...rule.userIds, ...eligible])).values()]
  return {
    id: rule.id,
    name: rule.name,
    rule_type: rule.rule_type,
    report_type: rule.report_type,
    eligible_approvers: people.filter(
      (user) => rule.rule_type !== 'any_approver' && eligible.has(user.id),
    ),
    approvals_required: rule.approvals_required,
    users: people.filter((user) => rule.userIds.includes(user.id)),
    groups: groups.map((group) => presentGroup(ctx, group)),
    contains_hidden_groups: groups.length < rule.groupIds.length,
  }
}

export async function presentProjectRule(
  ctx: Ctx,
  project: { readonly id: number; readonly namespace_id: number },
  rule: NamedRule,
  eligible: ReadonlySet<number>,
): Promise<z.input<typeof projectRuleEntity>> {
  const names = await listProtectedNames(ctx.db, project.id, project.namespace_id)
  const all = rule.applies_to_all_protected_branches === 1
  const chosen = names.filter((one) => all || rule.branchIds.includes(one.id))
  return {
    ...(await presentRule(ctx, rule, eligible)),
    applies_to_all_protected_branches: all,
    protected_branches: chosen.map((one) => ({
      id: one.id,
      name: one.name,
      code_owner_approval_required: one.code_owner_approval_required === 1,
    })),
  }
}
