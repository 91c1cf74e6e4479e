import { z } from 'zod'
import { onGroup, onProject } from '../../access/subjects.ts'
import type { OffsetPage } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, integer, text } from '../../http/params.ts'
import type { Owner } from './admit.ts'
import { approvalRules, deployLevels, filledDeployLevels } from './environment-levels.ts'
import { listEnvironmentRows } from './environment-queries.ts'
import {
  changeEnvironment,
  getEnvironment,
  presentEnvironments,
  presentOne,
  protectEnvironment,
  protectedEnvironmentEntity,
  unprotectEnvironment,
} from './environment-verbs.ts'
import { ownerOf } from './params.ts'

const tags = ['protected environments']
const params = { name: text({ max: 255 }) }
const shared = {
  required_approval_count: integer({ min: 0, max: 5 }).optional(),
  approval_rules: approvalRules.optional(),
}
const createBody = {
  ...shared,
  name: filledText({ max: 255 }),
  deploy_access_levels: filledDeployLevels,
}
const changeBody = { ...shared, deploy_access_levels: deployLevels.optional() }

async function list(ctx: Ctx, owner: Owner, page: OffsetPage) {
  const rows = await listEnvironmentRows(ctx.db, owner, page)
  return { ...rows, items: await presentEnvironments(ctx, rows.items) }
}

export const listProtectedEnvironments = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_environments',
  summary: 'List the protected environments of a project by name',
  tags,
  access: onProject('read_protections'),
  paginate: 'offset',
  response: z.array(protectedEnvironmentEntity),
  handler: ({ ctx, project, page }) => list(ctx, ownerOf({ project }), page),
})

export const getProtectedEnvironment = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_environments/:name',
  summary: 'Get a protected environment',
  tags,
  access: onProject('read_protections'),
  params,
  response: protectedEnvironmentEntity,
  handler: ({ ctx, project, params: { name } }) => presentOne(ctx, ownerOf({ project }), name),
})

export const protectProjectEnvironment = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_environments',
  summary: 'Protect an environment of a project',
  tags,
  access: onProject('admin_protections'),
  body: createBody,
  response: protectedEnvironmentEntity,
  status: 201,
  handler: ({ ctx, project, body }) => protectEnvironment(ctx, ownerOf({ project }), body),
})

export const changeProtectedEnvironment = endpoint({
  method: 'PUT',
  path: '/projects/:id/protected_environments/:name',
  summary: 'Change who may deploy to an environment',
  tags,
  access: onProject('admin_protections'),
  params,
  body: changeBody,
  response: protectedEnvironmentEntity,
  async handler({ ctx, project, params: { name }, body }) {
    const owner = ownerOf({ project })
    return changeEnvironment(ctx, owner, await getEnvironment(ctx, owner, name), body)
  },
})

export const unprotectProjectEnvironment = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_environments/:name',
  summary: 'Stop protecting an environment',
  tags,
  access: onProject('admin_protections'),
  params,
  async handler({ ctx, project, params: { name } }) {
    const owner = ownerOf({ project })
    await unprotectEnvironment(ctx, owner, await getEnvironment(ctx, owner, name))
  },
})

export const listGroupProtectedEnvironments = endpoint({
  method: 'GET',
  path: '/groups/:id/protected_environments',
  summary: 'List the tiers of environments that a group protects',
  tags,
  access: onGroup('read_protections'),
  paginate: 'offset',
  response: z.array(protectedEnvironmentEntity),
  handler: ({ ctx, group, page }) => list(ctx, ownerOf({ group }), page),
})

export const getGroupProtectedEnvironment = endpoint({
  method: 'GET',
  path: '/groups/:id/protected_environments/:name',
  summary: 'Get a tier of environments that a group protects',
  tags,
  access: onGroup('read_protections'),
  params,
  response: protectedEnvironmentEntity,
  handler: ({ ctx, group, params: { name } }) => presentOne(ctx, ownerOf({ group }), name),
})

export const protectGroupEnvironment = endpoint({
  method: 'POST',
  path: '/groups/:id/protected_environments',
  summary: 'Protect a tier of environments in all projects of a group',
  tags,
  access: onGroup('admin_protections'),
  body: createBody,
  response: protectedEnvironmentEntity,
  status: 201,
  handler: ({ ctx, group, body }) => protectEnvironment(ctx, ownerOf({ group }), body),
})

export const changeGroupProtectedEnvironment = endpoint({
  method: 'PUT',
  path: '/groups/:id/protected_environments/:name',
  summary: 'Change who may deploy to a tier of environments',
  tags,
  access: onGroup('admin_protections'),
  params,
  body: changeBody,
  response: protectedEnvironmentEntity,
  async handler({ ctx, group, params: { name }, body }) {
    const owner = ownerOf({ group })
    return changeEnvironment(ctx, owner, await getEnvironment(ctx, owner, name), body)
  },
})

/** Answers 200 with what was taken away (docs/contract/B-resolved §9.3). */
export const unprotectGroupEnvironment = endpoint({
  method: 'DELETE',
  path: '/groups/:id/protected_environments/:name',
  summary: 'Stop protecting a tier of environments',
  tags,
  access: onGroup('admin_protections'),
  params,
  response: protectedEnvironmentEntity,
  async handler({ ctx, group, params: { name } }) {
    const owner = ownerOf({ group })
    const row = await getEnvironment(ctx, owner, name)
    const presented = await presentOne(ctx, owner, name)
    await unprotectEnvironment(ctx, owner, row)
    return presented
  },
})
