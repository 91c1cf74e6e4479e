import { z } from 'zod'
import { onGroup, onProject } from '../../access/subjects.ts'
import type { OffsetPage } from '../../base/page.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import type { Owner } from './admit.ts'
import { presentRules, protectedBranchEntity } from './branch-entity.ts'
import { type BranchRuleRow, findRuleRow, listRuleRows } from './branch-queries.ts'
import {
  assertMayUnprotect,
  changeRule,
  createRule,
  getOwnRule,
  type NewRule,
  type RuleChange,
  removeRule,
} from './branch-verbs.ts'
import { changeBranchBody, createBranchBody, listQuery, ownerOf } from './params.ts'

const tags = ['protected branches']
const params = { name: text({ max: 255 }) }

async function list(ctx: Ctx, owner: Owner, search: string | undefined, page: OffsetPage) {
  const rows = await listRuleRows(ctx.db, owner, search, page)
  return { ...rows, items: await presentRules(ctx, owner, rows.items) }
}

async function one(ctx: Ctx, owner: Owner, row: BranchRuleRow | undefined) {
  const [rule] = row ? await presentRules(ctx, owner, [row]) : []
  if (!rule) throw notFound(owner.kind === 'group' ? 'ProtectedBranch' : undefined)
  return rule
}

function newRule(body: z.infer<z.ZodObject<typeof createBranchBody>>): NewRule {
  return {
    name: body.name,
    allowForcePush: body.allow_force_push ?? false,
    codeOwners: body.code_owner_approval_required ?? false,
    levels: {
      push: { level: body.push_access_level, list: body.allowed_to_push },
      merge: { level: body.merge_access_level, list: body.allowed_to_merge },
      unprotect: { level: body.unprotect_access_level, list: body.allowed_to_unprotect },
    },
  }
}

function ruleChange(body: z.infer<z.ZodObject<typeof changeBranchBody>>): RuleChange {
  return {
    allowForcePush: body.allow_force_push,
    codeOwners: body.code_owner_approval_required,
    levels: {
      push: body.allowed_to_push,
      merge: body.allowed_to_merge,
      unprotect: body.allowed_to_unprotect,
    },
  }
}

export const listProtectedBranches = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_branches',
  summary: 'List the protected branches of a project, those that its groups protect included',
  tags,
  access: onProject('read_protected_branches'),
  query: listQuery,
  paginate: 'offset',
  response: z.array(protectedBranchEntity),
  handler: ({ ctx, project, query, page }) => list(ctx, ownerOf({ project }), query.search, page),
})

export const getProtectedBranch = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Get a protected branch, or a pattern of them',
  tags,
  access: onProject('read_protected_branches'),
  params,
  response: protectedBranchEntity,
  async handler({ ctx, project, params: { name } }) {
    const owner = ownerOf({ project })
    return one(ctx, owner, await findRuleRow(ctx.db, owner, name))
  },
})

export const protectRepositoryBranch = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_branches',
  summary: 'Protect a branch, or all that fit a pattern',
  tags,
  access: onProject('admin_protections'),
  body: createBranchBody,
  response: protectedBranchEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const owner = ownerOf({ project })
    return one(ctx, owner, await createRule(ctx, owner, newRule(body)))
  },
})

export const changeProtectedBranch = endpoint({
  method: 'PATCH',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Change who may push to, merge into and unprotect a branch',
  tags,
  access: onProject('admin_protections'),
  params,
  body: changeBranchBody,
  response: protectedBranchEntity,
  async handler({ ctx, project, params: { name }, body }) {
    const owner = ownerOf({ project })
    const row = await getOwnRule(ctx, owner, name)
    await assertMayUnprotect(ctx, project, row)
    return one(ctx, owner, await changeRule(ctx, owner, row, ruleChange(body)))
  },
})

export const unprotectRepositoryBranch = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Stop protecting a branch',
  tags,
  access: onProject('unprotect_branches'),
  params,
  async handler({ ctx, project, params: { name } }) {
    const owner = ownerOf({ project })
    const row = await getOwnRule(ctx, owner, name)
    await assertMayUnprotect(ctx, project, row)
    await removeRule(ctx, owner, row)
  },
})

export const listGroupProtectedBranches = endpoint({
  method: 'GET',
  path: '/groups/:id/protected_branches',
  summary: 'List the branches that a group protects in all its projects',
  tags,
  access: onGroup('read_protections'),
  query: listQuery,
  paginate: 'offset',
  response: z.array(protectedBranchEntity),
  handler: ({ ctx, group, query, page }) => list(ctx, ownerOf({ group }), query.search, page),
})

export const getGroupProtectedBranch = endpoint({
  method: 'GET',
  path: '/groups/:id/protected_branches/:name',
  summary: 'Get a branch that a group protects',
  tags,
  access: onGroup('read_protections'),
  params,
  response: protectedBranchEntity,
  handler: async ({ ctx, group, params: { name } }) =>
    one(ctx, ownerOf({ group }), await getOwnRule(ctx, ownerOf({ group }), name)),
})

export const protectGroupBranch = endpoint({
  method: 'POST',
  path: '/groups/:id/protected_branches',
  summary: 'Protect a branch in all projects of a group',
  tags,
  access: onGroup('admin_protections'),
  body: createBranchBody,
  response: protectedBranchEntity,
  status: 201,
  async handler({ ctx, group, body }) {
    const owner = ownerOf({ group })
    return one(ctx, owner, await createRule(ctx, owner, newRule(body)))
  },
})

export const changeGroupProtectedBranch = endpoint({
  method: 'PATCH',
  path: '/groups/:id/protected_branches/:name',
  summary: 'Change how a group protects a branch',
  tags,
  access: onGroup('admin_protections'),
  params,
  body: changeBranchBody,
  response: protectedBranchEntity,
  async handler({ ctx, group, params: { name }, body }) {
    const owner = ownerOf({ group })
    const row = await getOwnRule(ctx, owner, name)
    return one(ctx, owner, await changeRule(ctx, owner, row, ruleChange(body)))
  },
})

export const unprotectGroupBranch = endpoint({
  method: 'DELETE',
  path: '/groups/:id/protected_branches/:name',
  summary: 'Stop protecting a branch for a group',
  tags,
  access: onGroup('admin_protections'),
  params,
  async handler({ ctx, group, params: { name } }) {
    const owner = ownerOf({ group })
    await removeRule(ctx, owner, await getOwnRule(ctx, owner, name))
  },
})
