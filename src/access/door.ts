import { createHash } from 'node:crypto'
import { type Instant, later } from '../base/clock.ts'
import type { Config } from '../base/config.ts'
import type { Db } from '../store/schema.ts'
import type { Vault } from '../store/vault.ts'
import type { GuessLimit } from './guess-limit.ts'
import type { InstanceSettings } from './instance-settings.ts'

/** What authentication needs; a ctx has it all. */
export interface Door {
  readonly db: Db
  readonly ip: string
  readonly config: Pick<Config, 'vendor'>
  readonly guesses: GuessLimit
  readonly settings: InstanceSettings
  readonly vault: Vault
  now(): Instant
}

/** SHA-256 of a secret: what is stored and looked up instead of the secret itself. Tokens have ≥ 120 random bits. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** How often `last_used_at` of a token is written: not on each request. */
const TOUCH_EVERY_MS = 60_000

/** Whether the note of a token's last use is old enough to be written anew. */
export function isDue(lastUsedAt: Instant | null, now: Instant): boolean {
  return lastUsedAt === null || lastUsedAt <= later(now, -TOUCH_EVERY_MS)
}
