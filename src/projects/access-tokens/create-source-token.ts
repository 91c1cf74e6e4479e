import { randomBytes } from 'node:crypto'
import { userOf } from '../../access/actor.ts'
import type { SourceRef } from '../../access/sources.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import {
  createToken,
  faultSentence,
  type MadeToken,
  type TokenInput,
  tokenFaults,
} from '../../identity/access-tokens/create-token.ts'
import { noReplyHost } from '../../identity/users/addresses/no-reply.ts'
import { createUser } from '../../identity/users/create/create-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import { addFirstMember } from '../members/found-source.ts'

/** Makes a token of a project or group: a bot, its membership and the token, all or nothing (docs/contract/A-resolved §8.4). */
export async function createSourceToken(
  ctx: Ctx,
  source: SourceRef,
  input: TokenInput & { readonly accessLevel: number },
): Promise<MadeToken> {
  const faults = tokenFaults(ctx, input, { admin: false })
  if (Object.keys(faults).length > 0) throw badRequest(faultSentence(faults))
  const username = `${source.type}_${source.id}_bot_${randomBytes(16).toString('hex')}`
  const host = noReplyHost(ctx.config.externalUrl)
  return inTransaction(ctx, async (inner) => {
    const bot = await createUser(inner, {
      username,
      name: input.name,
      email: `${username}@${host}`,
      kind: source.type === 'project' ? 'project_bot' : 'group_bot',
      external: false,
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
