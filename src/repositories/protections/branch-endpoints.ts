import { z } from 'zod'
import { onEither, type Source } from '../../access/sources.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { mayUnprotect, onBranchRule, onOwnBranchRule, readBranchRules } from './access.ts'
import { presentRules, protectedBranchEntity } from './branch-entity.ts'
import { type BranchRuleRow, listRuleRows } from './branch-queries.ts'
import { changeRule, createRule, removeRule } from './branch-verbs.ts'
import { changeBranchBody, createBranchBody, listQuery } from './params.ts'

const path = '/:source/:id/protected_branches'

async function present(ctx: Ctx, source: Source, row: BranchRuleRow) {
  const [rule] = await presentRules(ctx, source, [row])
  return existing(rule)
}

export const listProtectedBranches = endpoint({
  method: 'GET',
  path,
  summary:
    'List the protected branches of a project or group, a project’s with those of the groups above it',
  access: onEither(readBranchRules),
  query: listQuery,
  paginate: 'offset',
  response: z.array(protectedBranchEntity),
  async handler({ ctx, source, query, page }) {
    const rows = await listRuleRows(ctx.db, source, query.search, page)
    return { ...rows, items: await presentRules(ctx, source, rows.items) }
  },
})

export const getProtectedBranch = endpoint({
  method: 'GET',
  path: `${path}/:name`,
  summary: 'Get a protected branch of a project or group, or a pattern of them',
  access: onBranchRule(),
  response: protectedBranchEntity,
  handler: ({ ctx, source, rule }) => present(ctx, source, rule),
})

export const addProtectedBranch = endpoint({
  method: 'POST',
  path,
  summary: 'Protect a branch, or all that fit a pattern, in a project or group',
  access: onEither('admin_protections'),
  body: createBranchBody,
  response: protectedBranchEntity,
  handler: async ({ ctx, source, body }) =>
    present(ctx, source, await createRule(ctx, source, body)),
})

export const changeProtectedBranch = endpoint({
  method: 'PATCH',
  path: `${path}/:name`,
  summary: 'Change who may push to, merge into and unprotect a branch of a project or group',
  access: onOwnBranchRule('admin_protections'),
  body: changeBranchBody,
  conditions: [mayUnprotect],
  response: protectedBranchEntity,
  handler: async ({ ctx, source, rule, body }) =>
    present(ctx, source, await changeRule(ctx, source, rule, body)),
})

export const removeProtectedBranch = endpoint({
  method: 'DELETE',
  path: `${path}/:name`,
  summary: 'Stop protecting a branch of a project or group',
  access: onOwnBranchRule({ projects: 'unprotect_branches', groups: 'admin_protections' }),
  conditions: [mayUnprotect],
  handler: ({ ctx, source, rule }) => removeRule(ctx, source, rule),
})
