import { z } from 'zod'
import { isAdmin, userOf } from '../../access/actor.ts'
import { MEMBER_LEVELS } from '../../access/roles.ts'
import type { SourceKind } from '../../access/sources.ts'
import { type AccessTokenRow, findTokenById } from '../../access/token-queries.ts'
import { badRequest, methodNotAllowed, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { id, oneOfNumbers } from '../../http/params.ts'
import { presentSourceToken, type Token, tokenEntity } from '../../identity/access-tokens/entity.ts'
import { listOwnedTokens } from '../../identity/access-tokens/list-tokens.ts'
import {
  botTokenBody,
  expiryParam,
  tokenFilterParams,
} from '../../identity/access-tokens/params.ts'
import { assertMayRotate, revokeToken, rotateToken } from '../../identity/access-tokens/rotate.ts'
import { createSourceToken } from './create-source-token.ts'
import { findBotLevels } from './queries.ts'
import { onTokenSource, type TokenSource } from './source.ts'

const tags = ['access tokens']

async function present(
  ctx: Ctx,
  source: TokenSource,
  row: AccessTokenRow,
  secret?: string,
): Promise<Token> {
  const levels = await findBotLevels(ctx.db, source, [row.user_id])
  return presentSourceToken(row, levels.get(row.user_id) ?? 0, ctx.now(), secret)
}

async function getSourceToken(
  ctx: Ctx,
  source: TokenSource,
  tokenId: number,
): Promise<AccessTokenRow> {
  const row = await findTokenById(ctx.db, tokenId)
  if (!row || row.source_type !== source.type || row.source_id !== source.id) {
    throw notFound(`${source.type} Access Token`)
  }
  return row
}

/** No permission is 401 here, not 403 (docs/contract/A-resolved §8.4). */
function assertMaySee(source: TokenSource): void {
  if (!source.mayAdminTokens) throw unauthorized()
}

function reads(kind: SourceKind): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/access_tokens`,
      summary: `List the access tokens of a ${kind.slice(0, -1)}`,
      tags,
      access: onTokenSource(kind),
      query: tokenFilterParams,
      paginate: 'offset',
      response: z.array(tokenEntity),
      async handler({ ctx, source, query, page }) {
        assertMaySee(source)
        const owner = { source, kinds: [source.type] }
        const rows = await listOwnedTokens(ctx, owner, query, page)
        const userIds = rows.items.map((row) => row.user_id)
        const levels = await findBotLevels(ctx.db, source, userIds)
        return {
          ...rows,
          items: rows.items.map((row) =>
            presentSourceToken(row, levels.get(row.user_id) ?? 0, ctx.now()),
          ),
        }
      },
    }),
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/access_tokens/:token_id`,
      summary: `Get an access token of a ${kind.slice(0, -1)}`,
      tags,
      access: onTokenSource(kind),
      params: { token_id: id() },
      response: tokenEntity,
      async handler({ ctx, source, params }) {
        assertMaySee(source)
        return present(ctx, source, await getSourceToken(ctx, source, params.token_id))
      },
    }),
  ]
}

function writes(kind: SourceKind): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: `/${kind}/:id/access_tokens`,
      summary: `Create an access token of a ${kind.slice(0, -1)}, with a bot that it signs in`,
      tags,
      access: onTokenSource(kind),
      body: { ...botTokenBody, access_level: oneOfNumbers(MEMBER_LEVELS).default(40) },
      response: tokenEntity,
      status: 201,
      async handler({ ctx, source, body }) {
        const input = { ...body, accessLevel: body.access_level }
        const made = await createSourceToken(ctx, source, input)
        return presentSourceToken(made.row, body.access_level, ctx.now(), made.secret)
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `/${kind}/:id/access_tokens/:token_id`,
      summary: `Revoke an access token of a ${kind.slice(0, -1)}`,
      tags,
      access: onTokenSource(kind),
      params: { token_id: id() },
      async handler({ ctx, source, params }) {
        if (!source.mayAdminTokens) {
          throw badRequest(`User does not have permission to revoke ${source.type} access token`)
        }
        const row = await getSourceToken(ctx, source, params.token_id)
        if (!(await revokeToken(ctx, row))) throw badRequest('Token already revoked')
      },
    }),
    endpoint({
      method: 'POST',
      path: `/${kind}/:id/access_tokens/:token_id/rotate`,
      summary: `Put a new token in the place of an access token of a ${kind.slice(0, -1)}`,
      tags,
      access: onTokenSource(kind),
      scopes: ['api', 'self_rotate'],
      params: { token_id: id() },
      body: { expires_at: expiryParam },
      response: tokenEntity,
      async handler({ ctx, source, params, body }) {
        const isOwn = tokenIdInUse(ctx) === params.token_id
        if (!isOwn) assertMaySee(source)
        assertMayRotate(ctx, params.token_id)
        const row = await getSourceToken(ctx, source, params.token_id)
        await assertNotAbove(ctx, source, row)
        const made = await rotateToken(ctx, row, body.expires_at)
        return present(ctx, source, made.row, made.secret)
      },
    }),
    endpoint({
      method: 'POST',
      path: `/${kind}/:id/access_tokens/self/rotate`,
      summary: `Put a new token in the place of the ${kind.slice(0, -1)} access token in use`,
      tags,
      access: onTokenSource(kind),
      scopes: ['api', 'self_rotate'],
      body: { expires_at: expiryParam },
      response: tokenEntity,
      async handler({ ctx, source, body }) {
        const tokenId = tokenIdInUse(ctx)
        const row = tokenId === undefined ? undefined : await findTokenById(ctx.db, tokenId)
        if (!row || row.source_type !== source.type || row.source_id !== source.id) {
          throw methodNotAllowed()
        }
        const made = await rotateToken(ctx, row, body.expires_at)
        return present(ctx, source, made.row, made.secret)
      },
    }),
  ]
}

function tokenIdInUse(ctx: Ctx): number | undefined {
  return ctx.actor.kind === 'user' && ctx.actor.token?.kind !== 'oauth'
    ? ctx.actor.token?.id
    : undefined
}

/** Rotation shows a secret: nobody gets one of a bot that stands above them. */
async function assertNotAbove(ctx: Ctx, source: TokenSource, row: AccessTokenRow): Promise<void> {
  if (isAdmin(ctx.actor) || row.user_id === userOf(ctx.actor)?.id) return
  const levels = await findBotLevels(ctx.db, source, [row.user_id])
  if ((levels.get(row.user_id) ?? 0) > source.role) {
    throw badRequest('Access level of the token contains permissions not held by the rotating user')
  }
}

export const sourceTokenEndpoints: readonly Endpoint[] = (['projects', 'groups'] as const).flatMap(
  (kind) => [...reads(kind), ...writes(kind)],
)
