import { PassThrough, type Readable } from 'node:stream'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { askUpstream, type Headers, headersOf, isGood } from './ask.ts'
import { type EntryRow, saveEntry } from './entry-queries.ts'
import type { UpstreamRow } from './queries.ts'
import { addressOf } from './upstream.ts'

/** A file on its way from an upstream: for the client that asked first as it comes, for others once it is stored. */
export interface Transfer {
  readonly headers: Headers
  /** The bytes as they arrive; only the first one may read them. */
  readonly body: Readable
  readonly stored: Promise<EntryRow>
}

/** What is on its way in this process, by upstream and path. */
const running = new Map<string, Promise<Transfer>>()

const AHEAD_BYTES = 8 * 1024 * 1024
const SLOW_MS = 30_000
/** How long an upstream may send nothing in the middle of a file (docs/contract/C-resolved §4.3). */
const IDLE_MS = 10_000

/**
 * Fetches a file; whoever asks while it is on the way gets the same transfer. `isFirst` says whose its stream is. A file
 * that is cut short or not as long as was said is not kept.
 */
export async function fetchOnce(
  ctx: Ctx,
  upstream: UpstreamRow,
  path: string,
): Promise<{ readonly transfer: Transfer; readonly isFirst: boolean }> {
  const key = `${upstream.id} ${path}`
  const known = running.get(key)
  if (known) return { transfer: await known, isFirst: false }
  const begun = begin(ctx, upstream, path)
  running.set(key, begun)
  const forget = () => {
    running.delete(key)
  }
  begun.then((transfer) => transfer.stored.then(forget, forget), forget)
  return { transfer: await begun, isFirst: true }
}

/** Whether a file is on its way. One that was is in the table by the time that it no longer is. */
export function isRunning(upstream: UpstreamRow, path: string): boolean {
  return running.has(`${upstream.id} ${path}`)
}

async function begin(ctx: Ctx, upstream: UpstreamRow, path: string): Promise<Transfer> {
  const response = await askUpstream(ctx, addressOf(ctx, upstream), path, 'GET')
  const headers = headersOf(response)
  if (!isGood(headers)) {
    response.body.destroy()
    throw new OutboundError('unreachable', `the upstream answered ${response.status}`)
  }
  const body = new PassThrough({ highWaterMark: AHEAD_BYTES })
  body.on('error', () => {})
  const stored = store(ctx, upstream, path, { headers, source: response.body, body })
  stored.catch(() => {})
  return { headers, body, stored }
}

interface Copy {
  readonly headers: Headers
  readonly source: Readable
  readonly body: PassThrough
}

async function store(
  ctx: Ctx,
  upstream: UpstreamRow,
  path: string,
  { headers, source, body }: Copy,
): Promise<EntryRow> {
  try {
    const file = await ctx.files.put(
      teed(source, body, Math.min(IDLE_MS, ctx.config.outboundTimeout)),
      {
        digests: ['sha1', 'md5'],
        check({ size }) {
          if (headers.length !== undefined && size !== headers.length) {
            throw new OutboundError('damaged', 'the answer was cut short')
          }
        },
      },
    )
    body.end()
    const now = ctx.now()
    const entry = await saveEntry(ctx.db, {
      upstream_id: upstream.id,
      relative_path: path,
      file_sha256: file.sha256,
      file_sha1: file.digests.sha1 ?? '',
      file_md5: file.digests.md5 ?? '',
      size: file.size,
      content_type: headers.type,
      upstream_etag: headers.etag,
      upstream_checked_at: now,
      created_at: now,
      updated_at: now,
    })
    return entry
  } catch (error) {
    // A broken stream must not look like a whole one.
    body.destroy(error instanceof Error ? error : undefined)
    throw error instanceof Problem
      ? error
      : new OutboundError('damaged', 'the answer was cut short')
  }
}

/** Gives the store each piece, and the first client too; a client that is slow for long is left behind. */
async function* teed(
  source: Readable,
  body: PassThrough,
  idleMs: number,
): AsyncGenerator<Uint8Array> {
  const wait = () => setTimeout(() => source.destroy(new OutboundError('timeout', IDLE)), idleMs)
  let timer = wait()
  try {
    for await (const piece of source) {
      clearTimeout(timer)
      if (!body.destroyed && !body.write(piece)) await drained(body)
      yield piece as Uint8Array
      timer = wait()
    }
  } finally {
    clearTimeout(timer)
  }
}

const IDLE = 'the upstream sends nothing any more'

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
