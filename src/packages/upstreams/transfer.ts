import { PassThrough, type Readable } from 'node:stream'
import type { OutboundResponse } from '../../base/outbound/outbound.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { ExtraDigest, StoredFile } from '../../store/files.ts'
import { type Headers, headersOf, isGood, UpstreamStatusError } from './ask.ts'
import { Waiters } from './waiters.ts'

/** A file on its way from an upstream: for the client that asked first as it comes, for others once it is stored. */
export interface Transfer<Row> {
  readonly headers: Headers
  /** The bytes as they arrive; only the first one may read them. */
  readonly body: Readable
  readonly stored: Promise<Row>
}

/** How a file is fetched, and what becomes of it. */
export interface Fetch<Row> {
  ask(): Promise<OutboundResponse>
  /** Beside sha256, sha1 and md5. */
  readonly digests?: readonly ExtraDigest[]
  /**
   * Looks at what came before it is kept; what it throws leaves nothing behind. The client gets the last piece only after
   * it, so that no wrong file looks whole.
   */
  check?(file: StoredFile, headers: Headers): void
  save(file: StoredFile, headers: Headers): Promise<Row>
  /** When the upstream answers 304: what is here is still right. */
  keep?(): Promise<Row>
  /** Raised when whoever asks is gone; without one somebody waits to the end. */
  readonly signal?: AbortSignal | undefined
  /** The bytes that may be on their way at once, in all such transfers. */
  readonly room: number
}

const AHEAD_BYTES = 8 * 1024 * 1024
const SLOW_MS = 30_000
/** How long an upstream may send nothing in the middle of a file (docs/contract/C-resolved §4.3). */
const IDLE_MS = 10_000
/** Bytes in a second that an upstream must send on average, once it was waited for as long as for any request. */
const LEAST_RATE = 1024
const NOT_MODIFIED = 304

interface Running<Row> {
  readonly begun: Promise<Transfer<Row>>
  readonly waiters: Waiters
}

/** What is on its way in this process, by a name of its owner's. */
export class Transfers<Row> {
  readonly #running = new Map<string, Running<Row>>()
  readonly #arriving = { bytes: 0 }

  /**
   * Fetches a file; whoever asks while it is on the way gets the same transfer. `isFirst` says whose its stream is. A
   * file that is cut short or not as long as was said is not kept. One that nobody waits for any more comes to its end in
   * the time of any other request, or is given up.
   */
  async fetchOnce(
    ctx: Ctx,
    key: string,
    fetch: Fetch<Row>,
  ): Promise<{ readonly transfer: Transfer<Row>; readonly isFirst: boolean }> {
    const known = this.#running.get(key)
    if (known) {
      known.waiters.add(fetch.signal)
      return { transfer: await known.begun, isFirst: false }
    }
    const waiters = new Waiters(ctx.config.outboundTimeout)
    waiters.add(fetch.signal)
    // One that was given up is over at once: whoever asks then would get its error.
    const leave = () => {
      if (this.#running.get(key)?.waiters === waiters) this.#running.delete(key)
    }
    const begun = begin(ctx, fetch, { waiters, leave, arriving: this.#arriving })
    this.#running.set(key, { begun, waiters })
    const forget = () => {
      waiters.end()
      leave()
    }
    begun.then((transfer) => transfer.stored.then(forget, forget), forget)
    return { transfer: await begun, isFirst: true }
  }

  /** Whether a file is on its way. One that was is in the table by the time that it no longer is. */
  isRunning(key: string): boolean {
    return this.#running.has(key)
  }
}

interface Way {
  readonly waiters: Waiters
  /** Takes the transfer away from those that others may join. */
  readonly leave: () => void
  /** Of all transfers. */
  readonly arriving: { bytes: number }
}

async function begin<Row>(ctx: Ctx, fetch: Fetch<Row>, way: Way): Promise<Transfer<Row>> {
  const response = await fetch.ask()
  const headers = headersOf(response)
  if (response.status === NOT_MODIFIED && fetch.keep) {
    return { headers, body: response.body, stored: fetch.keep() }
  }
  const { status } = headers
  if (!isGood(headers)) {
    response.body.destroy()
    throw new UpstreamStatusError(status)
  }
  const body = new PassThrough({ highWaterMark: AHEAD_BYTES })
  body.on('error', () => {})
  const source = response.body
  way.waiters.whenAlone(() => {
    way.leave()
    source.destroy(new OutboundError('timeout', ALONE))
  })
  const stored = store(ctx, fetch, { headers, source, body, ...way })
  stored.catch(() => {})
  return { headers, body, stored }
}

interface Copy extends Way {
  readonly headers: Headers
  readonly source: Readable
  readonly body: PassThrough
}

async function store<Row>(
  ctx: Ctx,
  fetch: Fetch<Row>,
  { headers, source, body, arriving }: Copy,
): Promise<Row> {
  const count = { bytes: 0 }
  try {
    const idleMs = Math.min(IDLE_MS, ctx.config.outboundTimeout)
    const held: Uint8Array[] = []
    const { length } = headers
    const tee = { body, idleMs, longMs: ctx.config.outboundTimeout, length }
    const pieces = teed(source, { ...tee, ...(fetch.check ? { held } : {}) })
    const file = await ctx.files.put(within(pieces, fetch.room, arriving, count), {
      digests: ['sha1', 'md5', ...(fetch.digests ?? [])],
      check(file) {
        if (headers.length !== undefined && file.size !== headers.length) {
          throw new OutboundError('damaged', 'the answer was cut short')
        }
        fetch.check?.(file, headers)
      },
    })
    if (fetch.check) body.end(held[0])
    return await fetch.save(file, headers)
  } catch (error) {
    // A broken stream must not look like a whole one.
    body.destroy(error instanceof Error ? error : undefined)
    throw error instanceof Problem
      ? error
      : new OutboundError('damaged', 'the answer was cut short')
  } finally {
    arriving.bytes -= count.bytes
  }
}

/** Ends with an error when more is on its way than there is room for; `own` is the part of this one. */
async function* within(
  pieces: AsyncIterable<Uint8Array>,
  room: number,
  arriving: { bytes: number },
  own: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    own.bytes += piece.byteLength
    arriving.bytes += piece.byteLength
    if (arriving.bytes > room) throw new OutboundError('too_large', 'too much is on its way')
    yield piece
  }
}

interface Tee {
  readonly body: PassThrough
  readonly idleMs: number
  /** How long it is waited for before it must have come at a certain rate. */
  readonly longMs: number
  /** How long the file is said to be. */
  readonly length: number | undefined
  /** Where the last piece waits, if it is to wait. */
  readonly held?: Uint8Array[]
}

/** Gives the store each piece, and the first client too; a client that is slow for long is left behind. */
async function* teed(source: Readable, tee: Tee): AsyncGenerator<Uint8Array> {
  const { body, idleMs, held } = tee
  const wait = () => setTimeout(() => source.destroy(new OutboundError('timeout', IDLE)), idleMs)
  let timer = wait()
  let size = 0
  let since = performance.now()
  // Without the time in which the client or the disk was waited for.
  let waited = 0
  try {
    for await (const piece of source as AsyncIterable<Uint8Array>) {
      clearTimeout(timer)
      size += piece.byteLength
      waited += performance.now() - since
      if (waited > tee.longMs && size < (waited / 1000) * LEAST_RATE) {
        throw new OutboundError('timeout', 'the upstream sends too slowly')
      }
      const next = held ? held.splice(0, 1, piece)[0] : piece
      if (next && !body.destroyed && !body.write(next)) await drained(body)
      yield piece
      since = performance.now()
      timer = wait()
    }
    // The client need not wait until what it has got whole is safe on the disk.
    if (!held && (tee.length === undefined || tee.length === size)) body.end()
  } finally {
    clearTimeout(timer)
  }
}

const IDLE = 'the upstream sends nothing any more'
const ALONE = 'nobody waits for the file any more'

function drained(body: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => body.destroy(new Error('the client is too slow')), SLOW_MS)
    const done = () => {
      clearTimeout(timer)
      body.off('drain', done)
      body.off('close', done)
      resolve()
    }
    body.on('drain', done)
    body.on('close', done)
  })
}
