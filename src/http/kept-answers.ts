import type { LRUCache } from 'lru-cache'
import { byteCache } from '../base/byte-cache.ts'
import { dayOf } from '../base/clock.ts'
import type { Ctx } from '../ctx.ts'
import type { ApiRequest } from './request.ts'

/** The database as far as keeping answers needs it: what is read, and what has changed since. */
export interface AnswerSource {
  readonly changes: {
    now(): unknown
    isSame(moment: unknown, tables: Iterable<string>): boolean
  }
  record(): {
    readonly db: Ctx['db']
    tables(): ReadonlySet<string> | undefined
    spoil(): void
  }
}

/** The part of an answer that is kept. */
export interface KeptAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface Entry extends KeptAnswer {
  readonly tables: ReadonlySet<string>
  readonly moment: unknown
  readonly settings: unknown
}

/** Where the answer to one request is kept, or may be. */
export interface AnswerPlace {
  /** The kept answer, when nothing that it was made of has changed. */
  find(): KeptAnswer | undefined
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
const UNWATCHED = ['git', 'files', 'work', 'vault', 'outbound', 'metrics', 'guesses'] as const

/**
 * Whole answers of endpoints that are asked again and again, in memory. An answer is given a second time only to the
 * same caller, with the same rights, for the same request, on the same day, and only when no table that it was read
 * from has been written since, by this process or another.
 */
export class KeptAnswers {
  readonly #source: AnswerSource
  readonly #entries: LRUCache<string, Entry>

  constructor(source: AnswerSource, maxBytes = 16 * 1024 * 1024) {
    this.#source = source
    // The strings and maps of an entry are some nine hundred bytes more.
    this.#entries = byteCache(maxBytes, ({ body }) => body.length + 900, maxBytes / 8)
  }

  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** The place for a request; none for those that carry secrets in their address. */
  place(ctx: Ctx, request: ApiRequest): AnswerPlace | undefined {
    if (/token|sudo/i.test(request.rawQuery)) return undefined
    const caller = JSON.stringify(ctx.actor)
    const key = `${request.rawPath}?${request.rawQuery} ${dayOf(ctx.now())} ${caller}`
    let begun: { recording: ReturnType<AnswerSource['record']>; moment: unknown } | undefined
    const settings = ctx.settings.all
    return {
      find: () => this.#find(key, settings),
      begin: () => {
        // Before the first read: what is written while the answer is being made makes it old.
        const moment = this.#source.changes.now()
        begun = { recording: this.#source.record(), moment }
        return watchedCtx(ctx, begun.recording)
      },
      keep: ({ status, headers, body }) => {
        const tables = begun?.recording.tables()
        if (!tables || status !== 200 || typeof body !== 'string') return
        const bytes = Buffer.from(body)
        this.#entries.set(key, {
          status,
          headers,
          body: bytes,
          tables,
          moment: begun?.moment,
          settings,
        })
      },
    }
  }

  #find(key: string, settings: unknown): KeptAnswer | undefined {
    const found = this.#entries.get(key)
    if (!found) return undefined
    const isSame =
      found.settings === settings && this.#source.changes.isSame(found.moment, found.tables)
    if (!isSame) this.#entries.delete(key)
    return isSame ? found : undefined
  }
}

function watchedCtx(ctx: Ctx, recording: { readonly db: Ctx['db']; spoil(): void }): Ctx {
  const watched = { ...ctx, db: recording.db }
  for (const name of UNWATCHED) {
    const value = ctx[name]
    Object.defineProperty(watched, name, {
      enumerable: true,
      get() {
        recording.spoil()
        return value
      },
    })
  }
  return watched
}
