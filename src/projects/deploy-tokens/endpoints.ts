import { z } from 'zod'
import type { DeployTokenRow } from '../../access/deploy-token-queries.ts'
import { DEPLOY_SCOPES } from '../../access/scopes.ts'
import { onKindOfSource, type SourceKind, sourceWord } from '../../access/sources.ts'
import { type Group, onInstance, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { csv, flag, id, instant, oneOf, text } from '../../http/params.ts'
import { deployTokenEntity, presentDeployToken } from './entity.ts'
import { findDeployToken, listDeployTokenRows, type TokenPlace } from './queries.ts'
import { createDeployToken, removeDeployToken } from './verbs.ts'

const tags = ['deploy tokens']
// Parameters are looked at first, and anonymous callers get 403 (docs/contract/A-resolved §1).
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

/** Groups have no virtual registries (docs/contract/A §Deploy token). */
const groupScopes = DEPLOY_SCOPES.filter((scope) => !scope.endsWith('_virtual_registry'))

function onPlace(kind: SourceKind, ability: 'read_deploy_tokens' | 'admin_deploy_tokens') {
  // In projects seeing them takes as much as changing them (docs/contract/A §Deploy token).
  const needs = { projects: 'admin_deploy_tokens', groups: ability } as const
  const make = {
    project: ({ id }: Project): TokenPlace => ({ type: 'project', id }),
    group: ({ id }: Group): TokenPlace => ({ type: 'group', id }),
  }
  return onKindOfSource(kind, needs, make, order)
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

function tokensOf(kind: SourceKind): Endpoint[] {
  const word = sourceWord[kind]
  const all = `/${kind}/:id/deploy_tokens`
  const one = `/${kind}/:id/deploy_tokens/:token_id`
  const [reading, changing] = [
    onPlace(kind, 'read_deploy_tokens'),
    onPlace(kind, 'admin_deploy_tokens'),
  ]
  return [
    endpoint({
      method: 'GET',
      path: all,
      summary: `List the deploy tokens of a ${word}`,
      tags,
      access: reading,
      query,
      paginate: 'offset',
      response: z.array(deployTokenEntity),
      handler: ({ ctx, source, query, page }) => list(ctx, source, query.active, page),
    }),
    endpoint({
      method: 'GET',
      path: one,
      summary: `Get a deploy token of a ${word}`,
      tags,
      access: reading,
      params,
      response: deployTokenEntity,
      handler: async ({ ctx, source, params }) =>
        presentDeployToken(ctx, await get(ctx, source, params.token_id)),
    }),
    endpoint({
      method: 'POST',
      path: all,
      summary: `Create a deploy token of a ${word}`,
      tags,
      access: changing,
      body: bodyWith(kind === 'groups' ? groupScopes : DEPLOY_SCOPES),
      response: deployTokenEntity,
      status: 201,
      async handler({ ctx, source, body }) {
        const made = await createDeployToken(ctx, source, body)
        return presentDeployToken(ctx, made.row, made.secret)
      },
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      summary: `Delete a deploy token of a ${word}`,
      tags,
      access: changing,
      params,
      handler: async ({ ctx, source, params }) =>
        removeDeployToken(ctx, await get(ctx, source, params.token_id)),
    }),
  ]
}

export const projectDeployTokens = tokensOf('projects')
export const groupDeployTokens = tokensOf('groups')
