import { isAdmin, type TokenUsed, userOf } from '../../access/actor.ts'
import { type AccessTokenRow, findTokenById } from '../../access/authentication/token-queries.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { instanceRecord } from '../../access/records.ts'
import { type Access, signedIn } from '../../access/subjects.ts'
import {
  badRequest,
  existing,
  hidden,
  insufficientScope,
  invalidText,
  unauthorized,
} from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { callerId } from '../users/find-user.ts'

/** The personal, project or group access token behind the request, if one is. */
export function tokenIdInUse(ctx: Ctx): number | undefined {
  const token = ctx.actor.kind === 'user' ? ctx.actor.token : null
  return token && token.kind !== 'oauth' ? token.id : undefined
}

/** The token behind the request; other credentials are no personal access token. */
export function tokenInUse(ctx: Ctx): TokenUsed {
  const token = ctx.actor.kind === 'user' ? ctx.actor.token : null
  if (!token || token.kind === 'oauth') {
    throw badRequest('This endpoint requires token type to be a personal access token')
  }
  return token
}

/** Nobody could see or revoke what the bot of a project's or group's token had made itself. */
export const makesOwnTokens: Condition<{ readonly ctx: Ctx }> = condition(
  'no bot of an access token',
  ({ ctx }) => {
    const kind = userOf(ctx.actor)?.kind
    const isBot = kind === 'project_bot' || kind === 'group_bot'
    return !isBot || invalidText('Not permitted to create')
  },
)

/** Whose tokens the caller sees: administrators everybody's, others their own. */
export interface TokensSeen {
  /** Undefined: everybody's. */
  readonly ownerId: number | undefined
}

export function onTokensSeen(): Access<TokensSeen> {
  return {
    ...signedIn(),
    find: async ({ ctx }) => ({ ownerId: isAdmin(ctx.actor) ? undefined : callerId(ctx) }),
  }
}

interface Listing extends TokensSeen {
  readonly query: { readonly user_id?: string | undefined }
}

export const asksForOwnTokens: Condition<Listing> = condition(
  'user_id: oneself, or admin',
  ({ ownerId, query }) =>
    ownerId === undefined ||
    query.user_id === undefined ||
    query.user_id === String(ownerId) ||
    unauthorized(),
)

/** Foreign and missing tokens look alike to whoever is no administrator (docs/contract/A-resolved §8.3). */
const seenToken = instanceRecord(
  {
    params: { id: id() },
    async find({ ctx, params }) {
      const token = await findTokenById(ctx.db, params.id)
      if (!token) throw isAdmin(ctx.actor) ? hidden() : unauthorized()
      return { token }
    },
    conditions: ({ ctx, token }) => ({
      oneself: isOwn(ctx, token) && token.kind !== 'impersonation',
    }),
  },
  signedIn,
)

export const onToken = () => seenToken('admin_access_token', unauthorized)

const revokedToken = instanceRecord(
  {
    params: { id: id() },
    async find({ ctx, params }) {
      const token = existing(await findTokenById(ctx.db, params.id))
      return { token }
    },
    conditions: ({ ctx, token }) => ({ oneself: isOwn(ctx, token) }),
  },
  signedIn,
)

export const onRevokedToken = () => revokedToken('admin_access_token', () => badRequest())

function isOwn(ctx: Ctx, token: AccessTokenRow): boolean {
  return token.user_id === userOf(ctx.actor)?.id
}

interface Rotating {
  readonly ctx: Ctx
  readonly token: AccessTokenRow
}

/** `self_rotate` without `api` is for the token in use only. */
export const rotatesWithinScope: Condition<Rotating> = condition(
  'self_rotate: the token in use only',
  ({ ctx, token }) => {
    const used = ctx.actor.kind === 'user' ? ctx.actor.token : null
    // Tokens of OAuth are counted by themselves: one may have the number of another kind's.
    const within = !used || used.scopes.includes('api') || tokenIdInUse(ctx) === token.id
    return within || insufficientScope(['api', 'read_api'])
  },
)
