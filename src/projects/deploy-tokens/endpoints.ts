import { z } from 'zod'
import { DEPLOY_SCOPES } from '../../access/scopes.ts'
import { onEither, type SourceKind, type SourceRef, sourceWord } from '../../access/sources.ts'
import { onInstance } from '../../access/subjects.ts'
import type { OffsetPage } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, flag, instant, oneOf, text } from '../../http/params.ts'
import { deployTokensOrder, onDeployToken, onDeployTokens } from './access.ts'
import { deployTokenEntity, presentDeployToken } from './entity.ts'
import { listDeployTokenRows } from './queries.ts'
import { createDeployToken, removeDeployToken } from './verbs.ts'

const query = { active: flag().optional() }

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
const scopesOf = {
  projects: DEPLOY_SCOPES,
  groups: DEPLOY_SCOPES.filter((scope) => !scope.endsWith('_virtual_registry')),
} as const

async function list(
  ctx: Ctx,
  source: SourceRef | undefined,
  active: boolean | undefined,
  page: OffsetPage,
) {
  const rows = await listDeployTokenRows(ctx.db, source, active ? ctx.now() : undefined, page)
  return { ...rows, items: rows.items.map((row) => presentDeployToken(ctx, row)) }
}

export const listAllDeployTokens = endpoint({
  method: 'GET',
  path: '/deploy_tokens',
  summary: 'List every deploy token of the instance',
  access: onInstance({ validateFirst: true }),
  query,
  paginate: 'offset',
  response: z.array(deployTokenEntity),
  handler: ({ ctx, query, page }) => list(ctx, undefined, query.active, page),
})

export const listSourceDeployTokens = endpoint({
  method: 'GET',
  path: '/:source/:id/deploy_tokens',
  summary: 'List the deploy tokens of a project or group',
  access: onDeployTokens(),
  query,
  paginate: 'offset',
  response: z.array(deployTokenEntity),
  handler: ({ ctx, source, query, page }) => list(ctx, source, query.active, page),
})

export const getDeployToken = endpoint({
  method: 'GET',
  path: '/:source/:id/deploy_tokens/:token_id',
  summary: 'Get a deploy token of a project or group',
  access: onDeployToken(),
  response: deployTokenEntity,
  handler: ({ ctx, token }) => presentDeployToken(ctx, token),
})

function creating(kind: SourceKind) {
  return endpoint({
    method: 'POST',
    path: `/${kind}/:id/deploy_tokens`,
    summary: `Create a deploy token of a ${sourceWord[kind]}`,
    access: onEither('create_deploy_token', deployTokensOrder).forms[kind],
    body: bodyWith(scopesOf[kind]),
    response: deployTokenEntity,
    async handler({ ctx, source, body }) {
      const made = await createDeployToken(ctx, source, body)
      return presentDeployToken(ctx, made.row, made.secret)
    },
  })
}

export const postDeployToken = [creating('projects'), creating('groups')]

export const deleteDeployToken = endpoint({
  method: 'DELETE',
  path: '/:source/:id/deploy_tokens/:token_id',
  summary: 'Delete a deploy token of a project or group',
  access: onDeployToken('admin_deploy_tokens'),
  handler: ({ ctx, token }) => removeDeployToken(ctx, token),
})
