import { randomBytes } from 'node:crypto'
import type { SourceRef } from '../../access/sources.ts'
import { badRequest, type FieldTexts, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { faultSentence } from '../access-tokens/create-token.ts'
import { noReplyHost } from '../users/addresses/no-reply.ts'
import { createUser } from '../users/create/create-user.ts'
import type { getUser } from '../users/find-user.ts'
import { updateUser } from '../users/update-user.ts'

type User = Awaited<ReturnType<typeof getUser>>

export interface AccountInput {
  readonly name?: string | undefined
  readonly username?: string | undefined
  readonly email?: string | undefined
}

/** What the model says of a user, as one sentence: service accounts answer no maps (docs/contract/A-resolved §8.2). */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Problem) || (error.code !== 'invalid' && error.code !== 'conflict')) {
    throw error
  }
  return error.fields ? faultSentence(error.fields as FieldTexts) : error.message
}

/** Makes a service account of the instance, or of a group or project. A custom address waits for its owner's word. */
export async function createServiceAccount(
  ctx: Ctx,
  place: SourceRef | undefined,
  input: AccountInput,
): Promise<User> {
  const random = randomBytes(16).toString('hex')
  const prefix = place ? `service_account_${place.type}_${place.id}` : 'service_account'
  const username = input.username || `${prefix}_${random}`
  const noReply = `${username}@${noReplyHost(ctx.config.externalUrl)}`
  const atOnce = ctx.settings.get('email_confirmation_setting') === 'off'
  const waits = input.email && !atOnce ? input.email : undefined
  try {
    return await createUser(ctx, {
      username,
      name: input.name || 'Service account user',
      email: waits || !input.email ? noReply : input.email,
      ...(waits ? { unconfirmed_email: waits } : {}),
      kind: 'service_account',
      external: true,
      skip_confirmation: true,
      service_source: place,
    })
  } catch (error) {
    throw badRequest(sentenceOf(error))
  }
}

/** Changes a service account; `refuse` puts what is wrong into the words of its route. */
export async function updateServiceAccount(
  ctx: Ctx,
  user: User,
  input: AccountInput,
  refuse: (text: string) => Problem,
): Promise<User> {
  try {
    return await updateUser(ctx, user, {
      name: input.name,
      username: input.username,
      email: input.email,
    })
  } catch (error) {
    throw refuse(sentenceOf(error))
  }
}
