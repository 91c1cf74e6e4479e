import { dayOf } from '../base/clock.ts'
import type { Ctx } from '../ctx.ts'
import type { ApiRequest } from './request.ts'

/** A value that is computed from what `db` reads, as the cache of the store sees it. */
interface Reading {
  readonly db: Ctx['db']
  spoil(): void
  keep(key: string, value: object, bytes: number): void
}

/** The cache of the store, as far as responses need it. */
export interface ResponseStore {
  find(key: string): unknown
  begin(): Reading
}

/** The part of an answer that is kept. */
export interface CachedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface Entry extends CachedResponse {
  readonly settings: unknown
}

/** What an entry holds besides its body. */
const entryBytes = 900

/** Where the answer to one request is kept, or may be. */
export interface AnswerPlace {
  /** The cached response, when nothing that it was made of has changed. */
  find(): CachedResponse | undefined
  /** The ctx with which the answer is made: it notes what is looked at. */
  begin(): Ctx
  /** Keeps the answer made with that ctx, unless it was made of more than tables. */
  keep(answer: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
  }): void
}

/** What no answer that is kept may look at: nothing would tell when it changes. */
const UNWATCHED = ['git', 'files', 'work', 'outbound', 'metrics', 'guesses'] as const

/**
 * Whole answers of endpoints that are asked again and again, in memory. An answer is given a second time only to the
 * same caller, with the same rights, for the same request, on the same day, and only when no table that it was read
 * from has been written since, by this process or another.
 */
export class ResponseCache {
  readonly #cache: ResponseStore

  constructor(cache: ResponseStore) {
    this.#cache = cache
  }

  /** The place for a request; none for those that carry secrets in their address. */
  place(ctx: Ctx, request: ApiRequest): AnswerPlace | undefined {
    if (/token|sudo/i.test(request.rawQuery)) return undefined
    const caller = JSON.stringify(ctx.actor)
    const key = `GET ${request.rawPath}?${request.rawQuery} ${dayOf(ctx.now())} ${caller}`
    const settings = ctx.settings.all
    let reading: Reading | undefined
    return {
      find: () => {
        // Stored below, under keys that begin like no other.
        const found = this.#cache.find(key) as Entry | undefined
        return found?.settings === settings ? found : undefined
      },
      begin: () => {
        reading = this.#cache.begin()
        return watchedCtx(ctx, reading)
      },
      keep: ({ status, headers, body }) => {
        if (status !== 200 || typeof body !== 'string') return
        const entry: Entry = { status, headers, body: Buffer.from(body), settings }
        reading?.keep(key, entry, entry.body.length + entryBytes)
      },
    }
  }
}

function watchedCtx(ctx: Ctx, reading: Reading): Ctx {
  const watched = { ...ctx, db: reading.db }
  for (const name of UNWATCHED) {
    const value = ctx[name]
    Object.defineProperty(watched, name, {
      enumerable: true,
      get() {
        reading.spoil()
        return value
      },
    })
  }
  return watched
}
