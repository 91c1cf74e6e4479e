import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { notFoundText } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { taken, uniquely } from '../../../store/unique.ts'
import { noteTurnedOn } from '../turn-on.ts'
import { type KeyAnswer, keyRefused, readAnswer, webauthn } from './answer.ts'
import { newChallenge, takeChallenge } from './challenge.ts'
import { creationOptions, type RelyingParty, relyingParty } from './options.ts'
import { insertSecurityKey, listSecurityKeys } from './queries.ts'

/** Most keys of one user. */
const MOST = 50

/** What a browser needs to make a key; undefined where browsers know none. */
export async function offerKey(
  ctx: Ctx,
  user: { readonly id: number; readonly username: string; readonly name: string },
  browser: string,
) {
  const party = relyingParty(ctx.config)
  if (!party) return undefined
  const challenge = newChallenge(ctx, { purpose: 'add', userId: user.id, browser })
  return creationOptions(party, user, challenge, await listSecurityKeys(ctx.db, user.id))
}

/** Adds the key that a browser has made; gives the recovery codes where there were none. */
export async function addKey(
  ctx: Ctx,
  userId: number,
  given: { readonly answer: unknown; readonly name: string; readonly browser: string },
): Promise<string[]> {
  const party = relyingParty(ctx.config)
  if (!party) throw notFoundText('Browsers know no keys at this address')
  const answer = readAnswer(given.answer)
  const { browser } = given
  if (!(await takeChallenge(ctx, answer.challenge, { purpose: 'add', userId, browser })))
    throw keyRefused()
  const info = await verified(party, answer)
  if ((await listSecurityKeys(ctx.db, userId)).length >= MOST) throw keyRefused()
  const key = info.credential
  return uniquely({ 'security_keys.credential_id': () => taken('key') }, () =>
    inTransaction(ctx, async (inner) => {
      const codes = await noteTurnedOn(inner, userId, 'key')
      await insertSecurityKey(inner.db, {
        user_id: userId,
        credential_id: key.id,
        public_key: Buffer.from(key.publicKey),
        sign_count: key.counter,
        transports: JSON.stringify(answer.parsed.response.transports ?? []),
        name: given.name,
        is_passkey: answer.parsed.clientExtensionResults.credProps?.rk === true ? 1 : 0,
        created_at: inner.now(),
      })
      return codes
    }),
  )
}

async function verified(party: RelyingParty, { parsed, challenge }: KeyAnswer) {
  const { verifyRegistrationResponse } = await webauthn()
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      // Its parts were read by the schema; the library checks the others.
      response: parsed as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
    })
    if (registrationInfo) return registrationInfo
  } catch {
    // Why is for the library to know: what came was made by whoever sent it.
  }
  throw keyRefused()
}
