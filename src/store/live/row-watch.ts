import type { Log } from '../../base/log.ts'
import type { Db } from '../schema.ts'
import { watchTable } from '../watch.ts'

/** What a thing is like, as short texts that differ when it does. */
export type LiveState = Readonly<Record<string, string>>

/** Things that can be watched: the tables that say what they are like, and their states by their keys, in one query. */
export interface Watched<K, S extends LiveState> {
  /** In the log: `merge requests`. */
  readonly name: string
  readonly tables: readonly string[]
  read(db: Db, keys: readonly K[]): Promise<ReadonlyMap<K, S>>
}

/** What a watch needs of a ctx. */
export interface WatchingCtx {
  readonly db: Db
  readonly log: Log
}

/** Commits come in bursts: it is looked at once for all of them. */
const LOOK_MS = 250

/** Looks at the things that are followed after each commit that may have changed one of them. */
class RowWatch<K, S extends LiveState> {
  readonly #ctx: WatchingCtx
  readonly #watched: Watched<K, S>
  readonly #listeners = new Map<K, Set<(state: S) => void>>()
  #stop: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: WatchingCtx, watched: Watched<K, S>) {
    this.#ctx = ctx
    this.#watched = watched
  }

  /** Calls the listener with the state after each look, until the function that it gives is called. */
  follow(key: K, listener: (state: S) => void): () => void {
    const own = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, own.add(listener))
    this.#stop ??= this.#watch()
    return () => {
      own.delete(listener)
      if (own.size === 0) this.#listeners.delete(key)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  #watch(): () => void {
    const { db } = this.#ctx
    const stops = this.#watched.tables.map((table) => watchTable(db, table, () => this.#lookSoon()))
    return () => {
      clearTimeout(this.#timer)
      this.#timer = undefined
      for (const stop of stops) stop()
    }
  }

  #lookSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#look().catch((error: unknown) => {
        this.#ctx.log.warn(`${this.#watched.name} not looked at`, { error })
      })
    }, LOOK_MS).unref()
  }

  async #look(): Promise<void> {
    const states = await this.#watched.read(this.#ctx.db, [...this.#listeners.keys()])
    for (const [key, state] of states) {
      for (const listener of this.#listeners.get(key) ?? []) listener(state)
    }
  }
}

const watches = new WeakMap<Db, Map<unknown, unknown>>()

/** The one watch of such things in a database. */
export function rowWatch<K, S extends LiveState>(
  ctx: WatchingCtx,
  watched: Watched<K, S>,
): RowWatch<K, S> {
  const ofDb = watches.get(ctx.db) ?? new Map<unknown, unknown>()
  watches.set(ctx.db, ofDb)
  const made = ofDb.get(watched) ?? new RowWatch(ctx, watched)
  ofDb.set(watched, made)
  // Kept by what is watched, which says what its keys and states are.
  return made as RowWatch<K, S>
}
