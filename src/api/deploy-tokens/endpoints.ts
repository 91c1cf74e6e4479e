import { z } from 'zod'
import type { DeployTokenRow } from '../../access/deploy-token-queries.ts'
import { DEPLOY_SCOPES } from '../../access/scopes.ts'
import { type Group, onGroup, onInstance, onProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, flag, id, instant, oneOf, text } from '../../http/params.ts'
import { deployTokenEntity, presentDeployToken } from './entity.ts'
import { findDeployToken, listDeployTokenRows, type TokenPlace } from './queries.ts'
import { createDeployToken, removeDeployToken } from './verbs.ts'

const tags = ['deploy tokens']
// Parameters are looked at first, and anonymous callers get 403 (spec A-resolved §1).
const order = { validateFirst: true, plainForbidden: true } as const

const query = { active: flag().optional() }
const params = { token_id: id() }

function bodyWith<const S extends string>(scopes: readonly S[]) {
  return {
    name: text({ max: 10_000 }),
    scopes: csv(oneOf(scopes)),
    expires_at: instant()
      .or(text({ max: 0 }).transform(() => null))
      .nullish(),
    username: text({ max: 10_000 }).nullish(),
  }
}

/** Groups have no virtual registries (spec A §Deploy token). */
const groupScopes = DEPLOY_SCOPES.filter((scope) => !scope.endsWith('_virtual_registry'))

function placeOf(subject: { project: Project } | { group: Group }): TokenPlace {
  return 'project' in subject
    ? { type: 'project', id: subject.project.id }
    : { type: 'group', id: subject.group.id }
}

async function list(
  ctx: Ctx,
  place: TokenPlace | undefined,
  active: boolean | undefined,
  page: Parameters<typeof listDeployTokenRows>[3],
) {
  const rows = await listDeployTokenRows(ctx.db, place, active ? ctx.now() : undefined, page)
  return { ...rows, items: rows.items.map((row) => presentDeployToken(ctx, row)) }
}

async function get(ctx: Ctx, place: TokenPlace, tokenId: number): Promise<DeployTokenRow> {
  const row = await findDeployToken(ctx.db, place, tokenId)
  if (!row) throw notFound()
  return row
}

export const listAllDeployTokens = endpoint({
  method: 'GET',
  path: '/deploy_tokens',
  summary: 'List every deploy token of the instance',
  tags,
  access: onInstance({ validateFirst: true }),
  query,
  paginate: 'offset',
  response: z.array(deployTokenEntity),
  handler: ({ ctx, query, page }) => list(ctx, undefined, query.active, page),
})

export const listProjectDeployTokens = endpoint({
  method: 'GET',
  path: '/projects/:id/deploy_tokens',
  summary: 'List the deploy tokens of a project',
  tags,
  access: onProject('admin_deploy_tokens', order),
  query,
  paginate: 'offset',
  response: z.array(deployTokenEntity),
  handler: ({ ctx, project, query, page }) => list(ctx, placeOf({ project }), query.active, page),
})

export const getProjectDeployToken = endpoint({
  method: 'GET',
  path: '/projects/:id/deploy_tokens/:token_id',
  summary: 'Get a deploy token of a project',
  tags,
  access: onProject('admin_deploy_tokens', order),
  params,
  response: deployTokenEntity,
  handler: async ({ ctx, project, params }) =>
    presentDeployToken(ctx, await get(ctx, placeOf({ project }), params.token_id)),
})

export const createProjectDeployToken = endpoint({
  method: 'POST',
  path: '/projects/:id/deploy_tokens',
  summary: 'Create a deploy token of a project',
  tags,
  access: onProject('admin_deploy_tokens', order),
  body: bodyWith(DEPLOY_SCOPES),
  response: deployTokenEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const made = await createDeployToken(ctx, placeOf({ project }), body)
    return presentDeployToken(ctx, made.row, made.secret)
  },
})

export const deleteProjectDeployToken = endpoint({
  method: 'DELETE',
  path: '/projects/:id/deploy_tokens/:token_id',
  summary: 'Delete a deploy token of a project',
  tags,
  access: onProject('admin_deploy_tokens', order),
  params,
  handler: async ({ ctx, project, params }) =>
    removeDeployToken(ctx, await get(ctx, placeOf({ project }), params.token_id)),
})

export const listGroupDeployTokens = endpoint({
  method: 'GET',
  path: '/groups/:id/deploy_tokens',
  summary: 'List the deploy tokens of a group',
  tags,
  access: onGroup('read_deploy_tokens', order),
  query,
  paginate: 'offset',
  response: z.array(deployTokenEntity),
  handler: ({ ctx, group, query, page }) => list(ctx, placeOf({ group }), query.active, page),
})

export const getGroupDeployToken = endpoint({
  method: 'GET',
  path: '/groups/:id/deploy_tokens/:token_id',
  summary: 'Get a deploy token of a group',
  tags,
  access: onGroup('read_deploy_tokens', order),
  params,
  response: deployTokenEntity,
  handler: async ({ ctx, group, params }) =>
    presentDeployToken(ctx, await get(ctx, placeOf({ group }), params.token_id)),
})

export const createGroupDeployToken = endpoint({
  method: 'POST',
  path: '/groups/:id/deploy_tokens',
  summary: 'Create a deploy token of a group',
  tags,
  access: onGroup('admin_deploy_tokens', order),
  body: bodyWith(groupScopes),
  response: deployTokenEntity,
  status: 201,
  async handler({ ctx, group, body }) {
    const made = await createDeployToken(ctx, placeOf({ group }), body)
    return presentDeployToken(ctx, made.row, made.secret)
  },
})

export const deleteGroupDeployToken = endpoint({
  method: 'DELETE',
  path: '/groups/:id/deploy_tokens/:token_id',
  summary: 'Delete a deploy token of a group',
  tags,
  access: onGroup('admin_deploy_tokens', order),
  params,
  handler: async ({ ctx, group, params }) =>
    removeDeployToken(ctx, await get(ctx, placeOf({ group }), params.token_id)),
})
