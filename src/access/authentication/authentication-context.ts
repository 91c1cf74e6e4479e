import type { Instant } from '../../base/clock.ts'
import type { Config } from '../../base/config.ts'
import type { Log } from '../../base/log.ts'
import type { Db } from '../../store/schema.ts'
import type { Vault } from '../../store/vault.ts'
import type { InstanceSettings } from '../instance-settings.ts'
import type { GuessLimit } from './guess-limit.ts'

/** What authentication needs; a ctx has it all. */
export interface AuthenticationContext {
  readonly db: Db
  readonly ip: string
  readonly config: Pick<Config, 'vendor'>
  readonly guesses: GuessLimit
  readonly log: Log
  readonly settings: InstanceSettings
  readonly vault: Vault
  now(): Instant
}
