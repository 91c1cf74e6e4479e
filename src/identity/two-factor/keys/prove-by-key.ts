import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { audit } from '../../../access/audit.ts'
import type { Ctx } from '../../../ctx.ts'
import { type KeyAnswer, keyRefused, readAnswer, webauthn } from './answer.ts'
import { newChallenge, type Purpose, takeChallenge } from './challenge.ts'
import { relyingParty, requestOptions, userHandleOf } from './options.ts'
import {
  findKeyByCredential,
  listSecurityKeys,
  type SecurityKeyRow,
  touchSecurityKey,
} from './queries.ts'

interface Asked {
  readonly purpose: Purpose
  /** Null: whoever has the key, which then must ask for a PIN or a finger. */
  readonly userId: number | null
  readonly browser: string
}

/** What a browser needs to ask for a key; undefined where there is none to ask for. */
export async function askForKey(ctx: Ctx, asked: Asked) {
  const party = relyingParty(ctx.config)
  if (!party) return undefined
  const known = asked.userId === null ? [] : await listSecurityKeys(ctx.db, asked.userId)
  if (asked.userId !== null && known.length === 0) return undefined
  return requestOptions(party, newChallenge(ctx, asked), known)
}

/** Proves who somebody is by a key; gives the user whose it is. Whatever is wrong is refused in the same words. */
export async function proveByKey(ctx: Ctx, asked: Asked, sent: unknown): Promise<number> {
  const answer = readAnswer(sent)
  const key = await findKeyByCredential(ctx.db, answer.parsed.id)
  // Taken first, so that each answer is looked at once.
  const isOurs = await takeChallenge(ctx, answer.challenge, asked)
  const isTheirs = key && (asked.userId === null || key.user_id === asked.userId)
  if (isOurs && isTheirs && (await isRight(ctx, key, answer, asked.userId === null))) {
    return key.user_id
  }
  const userId = asked.userId ?? key?.user_id
  if (userId !== undefined) {
    await audit(ctx, { entity: { type: 'User', id: userId }, action: 'security_key_refused' })
  }
  throw keyRefused()
}

async function isRight(
  ctx: Ctx,
  key: SecurityKeyRow,
  { parsed, challenge }: KeyAnswer,
  needsPin: boolean,
): Promise<boolean> {
  const party = relyingParty(ctx.config)
  const handle = parsed.response.userHandle
  // A key that names its owner must name this one; where nobody is known yet, it must name one.
  if (!party || (handle ? handle !== userHandleOf(key.user_id) : needsPin)) return false
  const { verifyAuthenticationResponse } = await webauthn()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      // Its parts were read by the schema; the library checks the others.
      response: parsed as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: {
        id: key.credential_id,
        publicKey: new Uint8Array(key.public_key),
        counter: key.sign_count,
      },
      requireUserVerification: needsPin,
    })
    const used = { before: key.sign_count, count: authenticationInfo.newCounter, now: ctx.now() }
    return verified && (await touchSecurityKey(ctx.db, key.id, used))
  } catch (error) {
    if (isOfDatabase(error)) throw error
    return false
  }
}

/** What went wrong on our side is no answer about a key. */
function isOfDatabase(error: unknown): boolean {
  return error instanceof Error && error.name === 'SqliteError'
}
