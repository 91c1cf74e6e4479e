import { z } from 'zod'
import { onEither } from '../../access/sources.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, integer } from '../../http/params.ts'
import { onProtectedEnvironment } from './access.ts'
import { approvalRules, deployLevels, filledDeployLevels } from './levels.ts'
import { listEnvironmentRows } from './queries.ts'
import {
  changeEnvironment,
  presentEnvironments,
  presentOne,
  protectEnvironment,
  protectedEnvironmentEntity,
  unprotectEnvironment,
} from './verbs.ts'

const path = '/:source/:id/protected_environments'
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

export const listProtectedEnvironments = endpoint({
  method: 'GET',
  path,
  summary: 'List the protected environments of a project or group by name',
  access: onEither('read_protections'),
  paginate: 'offset',
  response: z.array(protectedEnvironmentEntity),
  async handler({ ctx, source, page }) {
    const rows = await listEnvironmentRows(ctx.db, source, page)
    return { ...rows, items: await presentEnvironments(ctx, rows.items) }
  },
})

export const getProtectedEnvironment = endpoint({
  method: 'GET',
  path: `${path}/:name`,
  summary: 'Get a protected environment of a project or group',
  access: onProtectedEnvironment(),
  response: protectedEnvironmentEntity,
  handler: ({ ctx, environment }) => presentOne(ctx, environment),
})

export const addProtectedEnvironment = endpoint({
  method: 'POST',
  path,
  summary: 'Protect an environment, or a tier of them, in a project or group',
  access: onEither('admin_protections'),
  body: createBody,
  response: protectedEnvironmentEntity,
  handler: ({ ctx, source, body }) => protectEnvironment(ctx, source, body),
})

export const changeProtectedEnvironment = endpoint({
  method: 'PUT',
  path: `${path}/:name`,
  summary: 'Change who may deploy to an environment of a project or group',
  access: onProtectedEnvironment('admin_protections'),
  body: changeBody,
  response: protectedEnvironmentEntity,
  handler: ({ ctx, source, environment, body }) =>
    changeEnvironment(ctx, source, environment, body),
})

export const unprotectProjectEnvironment = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_environments/:name',
  summary: 'Stop protecting an environment',
  access: onProtectedEnvironment('admin_protections').forms.projects,
  handler: ({ ctx, source, environment }) => unprotectEnvironment(ctx, source, environment),
})

/** Answers 200 with what was taken away (docs/contract/B-resolved §9.3). */
export const unprotectGroupEnvironment = endpoint({
  method: 'DELETE',
  path: '/groups/:id/protected_environments/:name',
  summary: 'Stop protecting a tier of environments',
  access: onProtectedEnvironment('admin_protections').forms.groups,
  response: protectedEnvironmentEntity,
  async handler({ ctx, source, environment }) {
    const presented = await presentOne(ctx, environment)
    await unprotectEnvironment(ctx, source, environment)
    return presented
  },
})
