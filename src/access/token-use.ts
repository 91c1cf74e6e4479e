import { createHash } from 'node:crypto'
import { type Instant, later } from '../base/clock.ts'

/** SHA-256 of a secret: what is stored and looked up instead of the secret itself. Tokens have ≥ 120 random bits. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** How often `last_used_at` of a token is written: not on each request. */
const WRITE_EVERY_MS = 60_000

/** Whether the time of a token's last use is old enough to be written anew. */
export function isDue(lastUsedAt: Instant | null, now: Instant): boolean {
  return lastUsedAt === null || lastUsedAt <= later(now, -WRITE_EVERY_MS)
}
