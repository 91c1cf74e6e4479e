import { availableParallelism } from 'node:os'
import { type Actor, SYSTEM } from './access/actor.ts'
import { AddressLimit } from './access/authentication/address-limit.ts'
import { GuessLimit } from './access/authentication/guess-limit.ts'
import { InstanceSettings } from './access/instance-settings.ts'
import { migrations } from './areas.ts'
import { makeWork, type Work } from './background/queue.ts'
import { type Instant, systemClock } from './base/clock.ts'
import type { Config } from './base/config.ts'
import { Hold } from './base/hold.ts'
import { type Log, makeLog } from './base/log.ts'
import { Metrics } from './base/metrics.ts'
import { sharingAddress } from './base/outbound/address.ts'
import { makeOutbound } from './base/outbound/outbound.ts'
import { StartError } from './base/start-error.ts'
import type { Ctx } from './ctx.ts'
import { effects } from './effects.ts'
import type { Engine } from './git/engine/operation.ts'
import { openGit } from './git/store.ts'
import { passOverUnknown } from './projects/unknown-repositories/pass-over.ts'
import { readers } from './readers.ts'
import { openStore, type Store } from './store/connection.ts'
import { assertUsable } from './store/data-folder/usable.ts'
import { openFileStore } from './store/files.ts'
import {
  assertDatabaseNotLost,
  closeToOthers,
  isFirstStart,
  openToOthers,
} from './store/sqlite/data-folder.ts'
import { type DataLock, lockDataFolder, tryLockDataFolder } from './store/sqlite/lock.ts'
import { assertRestored } from './store/unfinished-restore.ts'
import { openVault } from './store/vault.ts'

export interface PartsOptions {
  readonly now?: () => Instant
  readonly log?: Log
  /** `off` only for tests, whose data nobody misses after a power cut. */
  readonly synchronous?: 'full' | 'off'
  /** The engine of all servers of this process, in place of one of its own (tests). */
  readonly engine?: Engine | undefined
  /** Called when background work was added. */
  readonly wake?: () => void
}

/** What lasts as long as the process: the store, the repositories, the files, and the ctx made of them. */
export interface Parts {
  readonly store: Store
  readonly log: Log
  readonly metrics: Metrics
  readonly work: Work
  readonly settings: InstanceSettings
  /** A ctx of the program itself, or of an actor. */
  makeCtx(actor?: Actor, ip?: string): Ctx
  now(): Instant
  close(): Promise<void>
}

/** Opens a data folder for the one server that may serve it; a second is refused. */
export async function openServerParts(config: Config, options: PartsOptions = {}): Promise<Parts> {
  const lock = await lockDataFolder(config.data)
  try {
    const processes = config.engineProcesses || Math.min(availableParallelism(), 4)
    closeToOthers(config.data)
    const parts = await open(config, options, { processes, beside: false, mayMigrate: true })
    const isOpen = openToOthers(config.data)
    if (isOpen !== undefined) parts.log.warn(isOpen)
    await passOverUnknown(parts.makeCtx())
    return { ...parts, close: () => parts.close().finally(() => lock.release()) }
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * Opens a data folder for a command of the operator, beside a server that may be running: nothing of the server's is
 * cleared away, and the schema is upgraded only while no server uses it.
 */
export async function openCommandParts(
  config: Config,
  options: PartsOptions & { readonly mayMigrate?: boolean } = {},
): Promise<Parts> {
  assertUsable(config.data)
  if (isFirstStart(config.data)) {
    assertRestored(config.data)
    assertDatabaseNotLost(config.data)
    throw holdsNothing(config)
  }
  const lock: DataLock | undefined = tryLockDataFolder(config.data)
  try {
    return await open(config, options, {
      processes: 0,
      beside: true,
      mayMigrate: lock !== undefined && options.mayMigrate !== false,
    })
  } finally {
    lock?.release()
  }
}

/** A command makes nothing where no server was started yet: the folder may be mistyped. */
export function holdsNothing({ data }: Config): StartError {
  return new StartError(`${data} holds nothing yet: start the server there once`)
}

interface Manner {
  readonly processes: number
  readonly beside: boolean
  /** Whether the schema may be upgraded. */
  readonly mayMigrate: boolean
}

async function open(config: Config, options: PartsOptions, manner: Manner): Promise<Parts> {
  const now = options.now ?? systemClock
  const log = options.log ?? makeLog({ level: config.logLevel, now })
  assertRestored(config.data)
  assertDatabaseNotLost(config.data)
  const store = openStore(config.data, {
    migrations,
    now,
    log,
    synchronous: options.synchronous ?? 'full',
    mayMigrate: manner.mayMigrate,
  })
  const vault = await openVault(config.data, store.db, config.secretKey).catch(async (error) => {
    await store.close()
    throw error
  })
  const deletions = new Hold()
  const files = await openFileStore(config.data, { clear: !manner.beside, deletions })
  const git = openGit({
    dataDir: config.data,
    engineProcesses: manner.processes,
    engine: options.engine,
    engineMemory: config.engineMemory,
    engineTimeout: config.engineTimeout,
    maxPushBytes: config.maxPush,
    archiveCache: manner.beside ? undefined : config.archiveCache,
    deletions,
  })
  const work = makeWork(now, options.wake)
  const guesses = new GuessLimit()
  const addresses = new AddressLimit()
  const metrics = new Metrics()
  const settings = new InstanceSettings({
    throttle_authenticated_api_enabled: config.rateLimit,
    throttle_authenticated_api_requests_per_period: config.rateLimitUser,
    throttle_unauthenticated_api_enabled: config.rateLimit,
    throttle_unauthenticated_api_requests_per_period: config.rateLimitAnonymous,
  })
  await settings.load(store.db)
  const outbound = makeOutbound({
    allow: config.outboundAllow,
    allowedNow: () => settings.get('outbound_local_requests_whitelist'),
    proxy: config.outboundProxy,
    timeoutMs: config.outboundTimeout,
    maxSize: config.outboundMaxSize,
  })
  return {
    store,
    log,
    metrics,
    work,
    settings,
    now,
    makeCtx: (actor = SYSTEM, ip = '') => ({
      db: store.db,
      git: ip === '' ? git : git.of(sharingAddress(ip)),
      files,
      work,
      vault,
      outbound,
      actor,
      effects,
      readers,
      config,
      settings,
      log,
      metrics,
      guesses,
      addresses,
      ip,
      now,
    }),
    async close() {
      await git.close()
      await store.close()
    },
  }
}
