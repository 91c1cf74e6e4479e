import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import type { AccessTokenRow } from '../../access/authentication/token-queries.ts'
import { MEMBER_LEVELS } from '../../access/roles.ts'
import type { SourceRef } from '../../access/sources.ts'
import { dayOf } from '../../base/clock.ts'
import { badRequest, methodNotAllowed } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { oneOfNumbers } from '../../http/params.ts'
import { rotatesWithinScope, tokenIdInUse } from '../../identity/access-tokens/access.ts'
import {
  createToken,
  faultSentence,
  type MadeToken,
  refuseBadToken,
  type TokenInput,
} from '../../identity/access-tokens/create-token.ts'
import { presentSourceToken, type Token, tokenEntity } from '../../identity/access-tokens/entity.ts'
import { listTokenRows } from '../../identity/access-tokens/list-queries.ts'
import {
  botTokenBody,
  expiryParam,
  tokenFilterParams,
} from '../../identity/access-tokens/params.ts'
import { revokeToken, rotateToken } from '../../identity/access-tokens/rotate.ts'
import { noReplyHost } from '../../identity/users/addresses/no-reply.ts'
import { createUser } from '../../identity/users/create/create-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import { addFirstMember } from '../members/found-source.ts'
import {
  findSourceToken,
  givesBotLevel,
  onNewTokenOf,
  onRevokedToken,
  onRotatedToken,
  onSourceOfOwnToken,
  onToken,
  onTokensOf,
  rotatesNoneAbove,
} from './access.ts'
import { findBotLevels } from './queries.ts'

async function present(
  ctx: Ctx,
  source: SourceRef,
  row: AccessTokenRow,
  secret?: string,
): Promise<Token> {
  const levels = await findBotLevels(ctx.db, source, [row.user_id])
  return presentSourceToken(row, levels.get(row.user_id) ?? 0, ctx.now(), secret)
}

export const listSourceTokens = endpoint({
  method: 'GET',
  path: '/:source/:id/access_tokens',
  summary: 'List the access tokens of a project or group',
  access: onTokensOf(),
  query: tokenFilterParams,
  paginate: 'offset',
  response: z.array(tokenEntity),
  async handler({ ctx, source, query, page }) {
    const rows = await listTokenRows(
      ctx.db,
      { source, kinds: [source.type] },
      query,
      dayOf(ctx.now()),
      page,
    )
    const userIds = rows.items.map((row) => row.user_id)
    const levels = await findBotLevels(ctx.db, source, userIds)
    const items = rows.items.map((row) =>
      presentSourceToken(row, levels.get(row.user_id) ?? 0, ctx.now()),
    )
    return { ...rows, items }
  },
})

export const getSourceToken = endpoint({
  method: 'GET',
  path: '/:source/:id/access_tokens/:token_id',
  summary: 'Get an access token of a project or group',
  access: onToken(),
  response: tokenEntity,
  handler: ({ ctx, source, token }) => present(ctx, source, token),
})

export const postSourceToken = endpoint({
  method: 'POST',
  path: '/:source/:id/access_tokens',
  summary: 'Create an access token of a project or group, with a bot that it signs in',
  access: onNewTokenOf(),
  body: { ...botTokenBody, access_level: oneOfNumbers(MEMBER_LEVELS).default(40) },
  conditions: [givesBotLevel],
  response: tokenEntity,
  async handler({ ctx, source, body }) {
    const input = { ...body, accessLevel: body.access_level }
    const made = await createSourceToken(ctx, source, input)
    return presentSourceToken(made.row, body.access_level, ctx.now(), made.secret)
  },
})

export const revokeSourceToken = endpoint({
  method: 'DELETE',
  path: '/:source/:id/access_tokens/:token_id',
  summary: 'Revoke an access token of a project or group',
  access: onRevokedToken(),
  async handler({ ctx, token }) {
    await revokeToken(ctx, token)
  },
})

export const rotateSourceToken = endpoint({
  method: 'POST',
  path: '/:source/:id/access_tokens/:token_id/rotate',
  summary: 'Rotate an access token of a project or group',
  access: onRotatedToken(),
  scopes: ['api', 'self_rotate'],
  body: { expires_at: expiryParam },
  conditions: [rotatesWithinScope, rotatesNoneAbove],
  status: 200,
  response: tokenEntity,
  async handler({ ctx, source, token, body }) {
    const made = await rotateToken(ctx, token, body.expires_at)
    return present(ctx, source, made.row, made.secret)
  },
})

export const rotateOwnSourceToken = endpoint({
  method: 'POST',
  path: '/:source/:id/access_tokens/self/rotate',
  summary: 'Rotate the access token of the request, of a project or group',
  access: onSourceOfOwnToken(),
  scopes: ['api', 'self_rotate'],
  body: { expires_at: expiryParam },
  status: 200,
  response: tokenEntity,
  async handler({ ctx, source, body }) {
    const tokenId = tokenIdInUse(ctx)
    const row = tokenId === undefined ? undefined : await findSourceToken(ctx, source, tokenId)
    if (!row) throw methodNotAllowed()
    const made = await rotateToken(ctx, row, body.expires_at)
    return present(ctx, source, made.row, made.secret)
  },
})

/** Makes a token of a project or group: a bot, its membership and the token, all or nothing (docs/contract/A-resolved §8.4). */
async function createSourceToken(
  ctx: Ctx,
  source: SourceRef,
  input: TokenInput & { readonly accessLevel: number },
): Promise<MadeToken> {
  refuseBadToken(ctx, input, { admin: false }, (faults) => badRequest(faultSentence(faults)))
  const username = `${source.type}_${source.id}_bot_${randomBytes(16).toString('hex')}`
  const host = noReplyHost(ctx.config.externalUrl)
  return inTransaction(ctx, async (inner) => {
    const bot = await createUser(inner, {
      username,
      name: input.name,
      email: `${username}@${host}`,
      kind: source.type === 'project' ? 'project_bot' : 'group_bot',
      // No token shows more than its maker sees.
      external: userOf(inner.actor)?.external ?? false,
      projects_limit: 0,
      can_create_group: false,
      skip_confirmation: true,
    })
    await addFirstMember(inner, source, {
      userId: bot.id,
      level: input.accessLevel,
      createdById: userOf(inner.actor)?.id ?? null,
    })
    const kind = source.type
    return createToken(inner, input, { kind, userId: bot.id, source })
  })
}
