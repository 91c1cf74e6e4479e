import { readdir, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../base/config.ts'
import { unavailable } from '../base/problem.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { Repo } from '../git/repo.ts'
import { Advertisements } from './advertisements.ts'
import { writeHooks } from './hook.ts'
import { ResponseCache } from './response-cache.ts'

/** Where a crash test may stop the process in the middle of a push. */
export type PushStep =
  | 'commands read'
  | 'objects received'
  | 'intent recorded'
  | 'allowed'
  | 'refs moved'
  | 'finalized'

/** What all transfers of a server share. */
export interface Transport {
  readonly advertisements: Advertisements
  readonly packs: ResponseCache
  /** How many git programs serve clones and take pushes at once. */
  readonly fetches: Semaphore
  readonly pushes: Semaphore
  /** Longest single transfer, in milliseconds; 0 has no limit. */
  readonly timeLimit: number
  /** The folder of our hooks. */
  readonly hooks: string
  /** Bytes of packs in a repository. */
  packBytes(repo: Repo): Promise<number>
  atStep(step: PushStep): void
  /** Has the end of the server wait, for a while, for a push that has begun until it is finalized. */
  finish<T>(push: Promise<T>): Promise<T>
  /** Lets pushes that git has accepted be finalized. */
  close(): Promise<void>
}

export interface TransportOptions {
  readonly atStep?: ((step: PushStep) => void) | undefined
}

const mebibyte = 1024 * 1024
const timeoutMs = 120_000
/** The part of the programs that one address may have. */
const share = 0.5
const closeTimeoutMs = 5000

/** Builds what transfers share, below the data folder of a server. */
export async function openTransport(
  config: Pick<Config, 'data' | 'gitProcesses' | 'gitWaiting' | 'gitTimeout'>,
  options: TransportOptions = {},
): Promise<Transport> {
  const cores = availableParallelism()
  const maxWaiting = config.gitWaiting
  const running = new Set<Promise<unknown>>()
  // A clone keeps a core busy; a push mostly waits for its client.
  const fetches = config.gitProcesses || cores * 2
  const pushes = config.gitProcesses || cores * 8
  return {
    advertisements: new Advertisements(32 * mebibyte),
    packs: new ResponseCache({
      dir: join(config.data, 'cache', 'packs'),
      maxBytes: 2048 * mebibyte,
      maxEntryBytes: 512 * mebibyte,
      maxAgeMs: 3_600_000,
    }),
    fetches: new Semaphore({ limit: fetches, maxWaiting, share, timeoutMs, busy }),
    pushes: new Semaphore({ limit: pushes, maxWaiting, share, timeoutMs, busy }),
    timeLimit: config.gitTimeout,
    hooks: await writeHooks(config.data),
    packBytes,
    atStep: options.atStep ?? (() => {}),
    async finish(push) {
      running.add(push)
      try {
        return await push
      } finally {
        running.delete(push)
      }
    },
    async close() {
      await Promise.race([
        Promise.allSettled(running),
        sleep(closeTimeoutMs, undefined, { ref: false }),
      ])
    },
  }
}

async function packBytes(repo: Repo): Promise<number> {
  const folder = join(repo.path, 'objects', 'pack')
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.pack'))
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (stats) => stats.size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** 503 with `Retry-After`. */
export function busy(): Error {
  return unavailable('The server is busy with other transfers. Try again in a few seconds.', 5)
}
