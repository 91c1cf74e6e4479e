import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Ctx } from '../../../ctx.ts'

/** What is remembered between the way to a provider and back. */
const attempt = z.object({
  provider: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The browser that went, as the digest of its cookie. */
  browser: z.string(),
  returnTo: z.string(),
  /** The user who wants to link the identity; null to sign in. */
  link: z.int().nullable(),
  at: z.number(),
})

export type Attempt = z.infer<typeof attempt>

const PURPOSE = 'sign_in.state'
const KEPT_MS = 10 * 60_000

/**
 * The `state` of the request to a provider: the attempt itself, sealed, so that nothing is kept for strangers who never
 * come back. It is of use in the browser alone that it was made for.
 */
export function sealAttempt(ctx: Ctx, given: Omit<Attempt, 'at'>): string {
  const text = JSON.stringify({ ...given, at: Date.parse(ctx.now()) })
  return Buffer.from(ctx.vault.seal(text, PURPOSE)).toString('base64url')
}

/** The attempt of a `state`; undefined for what is not ours, too old, or another browser's. */
export function openAttempt(ctx: Ctx, state: string, browser: string): Attempt | undefined {
  try {
    const text = ctx.vault.open(Buffer.from(state, 'base64url').toString(), PURPOSE)
    const found = attempt.parse(JSON.parse(text))
    const age = Date.parse(ctx.now()) - found.at
    return found.browser === browser && age >= 0 && age < KEPT_MS ? found : undefined
  } catch {
    return undefined
  }
}

/** A browser by the secret of its cookie. */
export function browserOf(secret: string): string {
  return createHash('sha256').update(`sign-in ${secret}`).digest('base64url')
}
