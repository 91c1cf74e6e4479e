import { z } from 'zod'
import { type AccessTokenRow, findTokenById } from '../../access/authentication/token-queries.ts'
import { SELF_SERVICE_SCOPES } from '../../access/scopes.ts'
import { onInstance, signedIn } from '../../access/subjects.ts'
import {
  hidden,
  invalidText,
  methodNotAllowed,
  unauthorized,
  unprocessable,
} from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, id, oneOf, text } from '../../http/params.ts'
import { callerId, getUser } from '../users/find-user.ts'
import {
  asksForOwnTokens,
  makesOwnTokens,
  onRevokedToken,
  onToken,
  onTokensSeen,
  rotatesWithinScope,
  tokenIdInUse,
  tokenInUse,
} from './access.ts'
import { createToken, faultSentence, refuseBadToken } from './create-token.ts'
import { presentToken, tokenEntity } from './entity.ts'
import { listTokens } from './list-tokens.ts'
import { expiryParam, personalTokenBody, tokenFilterParams } from './params.ts'
import { revokeToken, rotateToken } from './rotate.ts'

export const listPersonalTokens = endpoint({
  method: 'GET',
  path: '/personal_access_tokens',
  summary: "List the caller's tokens; administrators see everybody's",
  access: onTokensSeen(),
  query: { ...tokenFilterParams, user_id: text().optional() },
  conditions: [asksForOwnTokens],
  paginate: 'offset',
  response: z.array(tokenEntity),
  async handler({ ctx, ownerId, query, page }) {
    const userId = ownerId ?? (await findAskedUser(ctx, query.user_id))
    return listTokens(ctx, { userId, kinds: ['personal', 'project', 'group'] }, query, page)
  },
})

async function findAskedUser(ctx: Ctx, asked: string | undefined): Promise<number | undefined> {
  if (asked === undefined) return undefined
  if (!/^\d+$/.test(asked)) throw hidden()
  return (await getUser(ctx, asked).catch(() => Promise.reject(hidden()))).id
}

async function ownRow(ctx: Ctx): Promise<AccessTokenRow> {
  const row = await findTokenById(ctx.db, tokenInUse(ctx).id)
  if (!row) throw unauthorized()
  return row
}

export const getOwnToken = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self',
  summary: 'Get the token in use',
  access: signedIn(),
  scopes: ['any'],
  response: tokenEntity,
  handler: async ({ ctx }) => presentToken(await ownRow(ctx), ctx.now()),
})

export const revokeOwnToken = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/self',
  summary: 'Revoke the token in use',
  access: signedIn(),
  scopes: ['any'],
  async handler({ ctx }) {
    await revokeToken(ctx, await ownRow(ctx))
  },
})

export const rotateOwnToken = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/self/rotate',
  summary: 'Rotate the token of the request',
  access: signedIn(),
  scopes: ['api', 'self_rotate'],
  body: { expires_at: expiryParam },
  status: 200,
  response: tokenEntity,
  async handler({ ctx, body }) {
    if (tokenIdInUse(ctx) === undefined) throw methodNotAllowed()
    const made = await rotateToken(ctx, await ownRow(ctx), body.expires_at)
    return presentToken(made.row, ctx.now(), made.secret)
  },
})

export const getTokenById = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/:id',
  summary: 'Get a token',
  access: onToken(),
  response: tokenEntity,
  handler: ({ ctx, token }) => presentToken(token, ctx.now()),
})

export const revokeTokenById = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/:id',
  summary: 'Revoke a token',
  access: onRevokedToken(),
  async handler({ ctx, token }) {
    await revokeToken(ctx, token)
  },
})

export const rotateTokenById = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/:id/rotate',
  summary: 'Rotate an access token',
  access: onToken(),
  scopes: ['api', 'self_rotate'],
  body: { expires_at: expiryParam },
  conditions: [rotatesWithinScope],
  status: 200,
  response: tokenEntity,
  async handler({ ctx, token, body }) {
    const made = await rotateToken(ctx, token, body.expires_at)
    return presentToken(made.row, ctx.now(), made.secret)
  },
})

export const createOwnToken = endpoint({
  method: 'POST',
  path: '/user/personal_access_tokens',
  summary: 'Create a token of the caller, of little reach',
  access: signedIn(),
  body: { ...personalTokenBody, scopes: csv(oneOf(SELF_SERVICE_SCOPES)) },
  conditions: [makesOwnTokens],
  response: tokenEntity,
  async handler({ ctx, body }) {
    const user = await getUser(ctx, callerId(ctx))
    refuseBadToken(ctx, body, user, (faults) => invalidText(faultSentence(faults)))
    const made = await createToken(ctx, body, { kind: 'personal', userId: user.id })
    return presentToken(made.row, ctx.now(), made.secret)
  },
})

export const createUserToken = endpoint({
  method: 'POST',
  path: '/users/:user_id/personal_access_tokens',
  summary: 'Create a token of a user',
  access: onInstance(),
  params: { user_id: id() },
  body: personalTokenBody,
  response: tokenEntity,
  async handler({ ctx, params, body }) {
    const user = await getUser(ctx, params.user_id)
    // 422 as for all tokens, but a wrong day is 400 (docs/contract/A-resolved §2, docs/contract/D §1.1).
    refuseBadToken(ctx, body, user, (faults) =>
      (faults.expires_at ? invalidText : unprocessable)(faultSentence(faults)),
    )
    const made = await createToken(ctx, body, { kind: 'personal', userId: user.id })
    return presentToken(made.row, ctx.now(), made.secret)
  },
})
