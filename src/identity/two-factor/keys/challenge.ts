import { randomBytes } from 'node:crypto'
import { digestOf } from '../../../access/token-use.ts'
import type { Ctx } from '../../../ctx.ts'
import { deleteChallengesBefore, useChallenge } from './queries.ts'

/** What an authenticator is asked for; an answer to one question is none to another. */
export type Purpose = 'add' | 'prove' | 'second_factor' | 'sign_in'

/** For whom and in which browser a challenge is good. */
export interface ChallengeFor {
  readonly purpose: Purpose
  /** Null where nobody is known yet. */
  readonly userId: number | null
  /** What only this browser with this session has: its form token. */
  readonly browser: string
}

interface Contents extends ChallengeFor {
  readonly expires: number
  readonly nonce: string
}

const WITHIN_MS = 5 * 60_000
const SEAL = 'security_keys.challenge'

/** A new challenge, which says itself what it is good for: nothing is kept until it is answered. */
export function newChallenge(ctx: Pick<Ctx, 'vault' | 'now'>, wanted: ChallengeFor): string {
  const contents: Contents = {
    ...wanted,
    browser: digestOf(wanted.browser).toString('base64url'),
    expires: Date.parse(ctx.now()) + WITHIN_MS,
    nonce: randomBytes(16).toString('base64url'),
  }
  const sealed = ctx.vault.seal(JSON.stringify(contents), SEAL)
  return Buffer.from(sealed.replace(/^v1:/, ''), 'base64').toString('base64url')
}

/** Takes a challenge that was answered: false when it is none of ours, for something else, over, or was answered before. */
export async function takeChallenge(
  ctx: Ctx,
  challenge: string,
  wanted: ChallengeFor,
): Promise<boolean> {
  const contents = open(ctx, challenge)
  if (!contents || contents.expires <= Date.parse(ctx.now())) return false
  const isMeant =
    contents.purpose === wanted.purpose &&
    contents.userId === wanted.userId &&
    contents.browser === digestOf(wanted.browser).toString('base64url')
  if (!isMeant) return false
  return await useChallenge(ctx.db, digestOf(challenge), new Date(contents.expires).toISOString())
}

function open(ctx: Pick<Ctx, 'vault'>, challenge: string): Contents | undefined {
  if (challenge.length > 2000) return undefined
  const sealed = Buffer.from(challenge, 'base64url').toString('base64')
  try {
    return JSON.parse(ctx.vault.open(`v1:${sealed}`, SEAL)) as Contents // sealed by us
  } catch {
    return undefined
  }
}

/** Forgets answered challenges that are over. */
export async function removeOldChallenges(ctx: Pick<Ctx, 'db' | 'now'>): Promise<void> {
  await deleteChallengesBefore(ctx.db, ctx.now())
}
