import { z } from 'zod'
import { type AccessTokenRow, findTokenById } from '../../access/authentication/token-queries.ts'
import { onInstance } from '../../access/subjects.ts'
import { forbidden, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, oneOf } from '../../http/params.ts'
import { getUser } from '../users/find-user.ts'
import { createToken, refuseBadToken } from './create-token.ts'
import { presentToken, tokenEntity } from './entity.ts'
import { listTokens } from './list-tokens.ts'
import { personalTokenBody } from './params.ts'
import { revokeToken } from './rotate.ts'

const kinds = ['impersonation'] as const

export const listImpersonationTokens = endpoint({
  method: 'GET',
  path: '/users/:user_id/impersonation_tokens',
  summary: 'List the tokens with which administrators act as a user',
  access: onInstance(),
  params: { user_id: id() },
  query: { state: oneOf(['all', 'active', 'inactive']).default('all') },
  paginate: 'offset',
  response: z.array(tokenEntity),
  async handler({ ctx, params, query, page }) {
    const user = await getUser(ctx, params.user_id)
    const filters = query.state === 'all' ? {} : { state: query.state }
    return listTokens(ctx, { userId: user.id, kinds }, filters, page)
  },
})

export const createImpersonationToken = endpoint({
  method: 'POST',
  path: '/users/:user_id/impersonation_tokens',
  summary: 'Create a token with which an administrator acts as a user',
  access: onInstance(),
  params: { user_id: id() },
  body: personalTokenBody,
  response: tokenEntity,
  async handler({ ctx, params, body }) {
    if (!ctx.settings.get('impersonation_enabled')) throw forbidden('Impersonation is disabled')
    const user = await getUser(ctx, params.user_id)
    refuseBadToken(ctx, body, user, invalid)
    const made = await createToken(ctx, body, { kind: 'impersonation', userId: user.id })
    return presentToken(made.row, ctx.now(), made.secret)
  },
})

async function getImpersonationToken(
  ctx: Ctx,
  params: { user_id: number; impersonation_token_id: number },
): Promise<AccessTokenRow> {
  const user = await getUser(ctx, params.user_id)
  const row = await findTokenById(ctx.db, params.impersonation_token_id)
  if (!row || row.user_id !== user.id || row.kind !== 'impersonation') {
    throw notFound('Impersonation Token')
  }
  return row
}

const params = { user_id: id(), impersonation_token_id: id() }

export const getImpersonation = endpoint({
  method: 'GET',
  path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
  summary: 'Get a token with which administrators act as a user',
  access: onInstance(),
  params,
  response: tokenEntity,
  handler: async ({ ctx, params }) =>
    presentToken(await getImpersonationToken(ctx, params), ctx.now()),
})

export const revokeImpersonation = endpoint({
  method: 'DELETE',
  path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
  summary: 'Revoke a token with which administrators act as a user',
  access: onInstance(),
  params,
  async handler({ ctx, params }) {
    await revokeToken(ctx, await getImpersonationToken(ctx, params))
  },
})
