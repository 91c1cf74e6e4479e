import type { Actor } from './access/actor.ts'
import type { AddressLimit } from './access/authentication/address-limit.ts'
import type { GuessLimit } from './access/authentication/guess-limit.ts'
import type { InstanceSettings } from './access/instance-settings.ts'
import type { RequestMemory } from './access/remember.ts'
import type { Work } from './background/queue.ts'
import type { Instant } from './base/clock.ts'
import type { Config } from './base/config.ts'
import type { Log } from './base/log.ts'
import type { Metrics } from './base/metrics.ts'
import type { Outbound } from './base/outbound/outbound.ts'
import type { GitStore } from './git/store.ts'
import type { FileStore } from './store/files.ts'
import type { Db } from './store/schema.ts'
import type { Vault } from './store/vault.ts'

/** What a request or a task holds in its hands. */
export interface Ctx {
  /** The database, or the transaction we are in. */
  readonly db: Db
  /** `ctx.git.open(project.id)` gives a Repo. */
  readonly git: GitStore
  /** Bytes by content hash. */
  readonly files: FileStore
  /** `ctx.work.enqueue(ctx.db, task, payload)`. */
  readonly work: Work
  /** Seals secrets that must be read again. */
  readonly vault: Vault
  /** The only way to ask other servers. */
  readonly outbound: Outbound
  readonly actor: Actor
  /** What follows from a change; `effects.ts` writes the lists out. */
  readonly effects: Effects
  /** What a lower area shows of a higher one; `readers.ts` says who reads it. */
  readonly readers: Readers
  readonly config: Config
  /** What administrators have set. */
  readonly settings: InstanceSettings
  readonly log: Log
  /** What the process counts about its requests. */
  readonly metrics: Metrics
  /** Who guesses passwords, by address and account. */
  readonly guesses: GuessLimit
  /** From where people came lately. */
  readonly addresses: AddressLimit
  /** Where the request came from, for the audit trail and throttles; empty in tasks. */
  readonly ip: string
  /** The webhook event that the caller says they answer: hooks do not get one chain of events twice. A push begins its own. */
  readonly causedBy?: string | undefined
  /** What the calls of one page share; absent where each call looks for itself. */
  readonly memory?: RequestMemory
  now(): Instant
}

/** One thing that follows from a change. */
export type Effect<Change> = (ctx: Ctx, change: Change) => Promise<unknown>

/** One that looks at what there is before the change; what it gives runs after it. */
export type PreparedEffect<Before, Change> = (ctx: Ctx, before: Before) => Promise<Effect<Change>>

/** What follows from each change, in order. Each area declares its own changes into it, in its `effects.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: an interface, since only that can be declared in parts.
export interface Effects {}

/** What a lower area shows of a higher one. Each area declares what it wants into it, in its `readers.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: an interface, since only that can be declared in parts.
export interface Readers {}
