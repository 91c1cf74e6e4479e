import { userOf } from '../../access/actor.ts'
import { type AccessTokenRow, findTokenById } from '../../access/authentication/token-queries.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { eitherRecord } from '../../access/records.ts'
import { mayInSource, onEither, readEither, type Source } from '../../access/sources.ts'
import { badRequest, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { tokenIdInUse } from '../../identity/access-tokens/access.ts'
import { getUser } from '../../identity/users/find-user.ts'
import { findBotLevels } from './queries.ts'

const order = { signedIn: true, validateFirst: true } as const

/** 401, then parameters, then 404; who has not the ability is refused by 401 here, not 403 (docs/contract/A-resolved §1, §8.4). */
const seen = { ...order, refuse: unauthorized }

const may = (verb: 'create' | 'revoke') => ({
  ...order,
  refuse: (type: 'project' | 'group') =>
    badRequest(`User does not have permission to ${verb} ${type} access token`),
})

/** The project or group whose tokens are listed. */
export const onTokensOf = () => onEither('admin_access_tokens', seen)

/** The project or group in which a token is made. */
export const onNewTokenOf = () => onEither('create_access_token', may('create'))

/** The project or group that the token in use may belong to. */
export const onSourceOfOwnToken = () => onEither(readEither, order)

/** The access token with this id, if it belongs to the project or group. */
export async function findSourceToken(ctx: Ctx, source: Source, tokenId: number) {
  const row = await findTokenById(ctx.db, tokenId)
  return row?.source_type === source.type && row.source_id === source.id ? row : undefined
}

const token = eitherRecord('admin_access_tokens', {
  params: { token_id: id() },
  async find({ ctx, source, params }) {
    const row = await findSourceToken(ctx, source, params.token_id)
    if (!row) throw notFound(`${source.type} Access Token`)
    return { token: row }
  },
})

/** A token of the project or group. */
export const onToken = () => token('admin_access_tokens', seen)

export const onRevokedToken = () => token('admin_access_tokens', may('revoke'))

const rotated = eitherRecord(readEither, {
  params: { token_id: id() },
  async find({ ctx, source, params }) {
    const row = await findSourceToken(ctx, source, params.token_id)
    if (row) return { token: row }
    const administers = mayInSource(ctx, source, 'admin_access_tokens')
    throw administers ? notFound(`${source.type} Access Token`) : unauthorized()
  },
  conditions: ({ ctx, token }) => ({ oneself: tokenIdInUse(ctx) === token.id }),
})

/** A token that is rotated: by whoever administers tokens, or by itself. */
export const onRotatedToken = () => rotated('rotate_access_token', seen)

interface Creating {
  readonly source: Source
  readonly body: { readonly access_level: number }
}

export const givesBotLevel: Condition<Creating> = condition(
  'access_level: not above the caller',
  ({ source, body }) =>
    body.access_level <= source.role ||
    badRequest('Access level of the token contains permissions not held by the creating user'),
)

interface Rotating {
  readonly ctx: Ctx
  readonly source: Source
  readonly token: AccessTokenRow
}

/** Rotation shows a secret: nobody gets one of a bot that stands above them, or that sees what is kept from external users. */
export const rotatesNoneAbove: Condition<Rotating> = condition(
  'the bot is not above the caller',
  async ({ ctx, source, token }) => {
    const caller = userOf(ctx.actor)
    if (token.user_id === caller?.id) return true
    const levels = await findBotLevels(ctx.db, source, [token.user_id])
    const seesMore = caller?.external === true && (await getUser(ctx, token.user_id)).external === 0
    return (
      (!seesMore && (levels.get(token.user_id) ?? 0) <= source.role) ||
      badRequest('Access level of the token contains permissions not held by the rotating user')
    )
  },
)
