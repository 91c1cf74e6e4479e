import { randomBytes } from 'node:crypto'
import { digestOf } from '../../access/token-use.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  findRegistrationAt,
  findRegistrationByDigest,
  type RegistrationPlace,
  type RegistrationToken,
  saveRegistration,
} from './queries.ts'

const PURPOSE = 'ci_registration_tokens.token'
const PREFIX = 'GR1348941'

/** Puts a new registration token in the place of the one before, which is good no more. */
export async function resetRegistrationToken(ctx: Ctx, place: RegistrationPlace): Promise<string> {
  const token = PREFIX + randomBytes(18).toString('base64url')
  const row = {
    digest: digestOf(token),
    sealed_token: ctx.vault.seal(token, PURPOSE),
    created_at: ctx.now(),
  }
  await inTransaction(ctx, (ctx) => saveRegistration(ctx.db, place, row))
  return token
}

/** The registration token of a place; null for one that is older than these and has never been given one. */
export async function registrationTokenOf(
  ctx: Ctx,
  place: RegistrationPlace,
): Promise<string | null> {
  const found = await findRegistrationAt(ctx.db, place)
  return found ? ctx.vault.open(found.sealed_token, PURPOSE) : null
}

export async function findRegistration(
  ctx: Pick<Ctx, 'db'>,
  token: string,
): Promise<RegistrationToken | undefined> {
  return await findRegistrationByDigest(ctx.db, digestOf(token))
}
