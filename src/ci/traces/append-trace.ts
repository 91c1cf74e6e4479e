import { crc32 } from 'node:zlib'
import { byteCache } from '../../base/byte-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { flushLater, inTransaction } from '../../store/transaction.ts'
import {
  findRunning,
  masksOf,
  type RunningJob,
  touchRunning,
} from '../pipelines/process/running.ts'
import { maskBytes, overlapOf } from './mask.ts'
import { findTrace, saveTrace } from './queries.ts'
import { openTrace, traceLength } from './trace-file.ts'
import { withTrace } from './trace-lock.ts'

/** A log as far as it was received. */
export interface Received {
  readonly size: number
  readonly shown: number
  /** CRC-32 of all bytes as they were sent; null when a crash took the count. */
  readonly crc: number | null
  /** Whether a piece of it was written with `CI_DEBUG_TRACE`. */
  readonly debug: boolean
}

/** Longest log (docs/contract/D §5.7). */
export const MOST_TRACE_BYTES = 100 * 1024 * 1024

export type Appended =
  | { readonly outcome: 'appended'; readonly size: number }
  | { readonly outcome: 'wrong_start'; readonly size: number }
  | { readonly outcome: 'too_large' }
  | { readonly outcome: 'ended' }

/** What is known of a log, and what is really there: a power cut may have taken the end of the file. */
export async function readReceived(ctx: Ctx, jobId: number): Promise<Received> {
  const row = await findTrace(ctx.db, jobId)
  if (!row) return { size: 0, shown: 0, crc: 0, debug: false }
  const debug = row.debug === 1
  const length = await traceLength(ctx.config, jobId)
  if (length >= row.size) return { ...row, debug }
  return { size: length, shown: Math.min(row.shown, length), crc: null, debug }
}

/** Adds bytes to the log of a running job, masked; only where the log ends (docs/contract/B-resolved §6 Trace). */
export function appendTrace(
  ctx: Ctx,
  running: RunningJob,
  chunk: { readonly start: number; readonly bytes: Buffer; readonly debug: boolean },
): Promise<Appended> {
  return withTrace(running.job_id, async () => {
    // The job may have ended, or gone to another runner, while the piece came.
    const now = await findRunning(ctx.db, running.job_id)
    if (!now?.token_digest.equals(running.token_digest)) return { outcome: 'ended' }
    const before = await readReceived(ctx, running.job_id)
    if (chunk.start !== before.size) return { outcome: 'wrong_start', size: before.size }
    if (chunk.bytes.length === 0) {
      await touchRunning(ctx, running.job_id)
      return { outcome: 'appended', size: before.size }
    }
    const size = before.size + chunk.bytes.length
    if (size > MOST_TRACE_BYTES) return { outcome: 'too_large' }
    const held = await writeMasked(ctx, running, before.size, chunk.bytes)
    const crc = before.crc === null ? null : crc32(chunk.bytes, before.crc)
    await inTransaction(ctx, async (ctx) => {
      await flushLater(ctx.db)
      const debug = before.debug || chunk.debug
      const row = { job_id: running.job_id, size, shown: size - held, crc, debug }
      await saveTrace(ctx.db, row, ctx.now())
      await touchRunning(ctx, running.job_id)
    })
    return { outcome: 'appended', size }
  })
}

/**
 * The ends of logs as they were sent: in the file they stand masked, and a masked value may be the beginning of a longer
 * one, whose rest is in the next chunk.
 */
const sentEnds = byteCache<{ readonly size: number; readonly bytes: Buffer }>(
  4 * 1024 * 1024,
  (end) => end.bytes.length,
)

/** Writes the chunk, and anew the end of what was there where a value began in it; gives how much must be held back. */
async function writeMasked(
  ctx: Ctx,
  running: RunningJob,
  size: number,
  bytes: Buffer,
): Promise<number> {
  const values = masksOf(ctx, running)
  const key = String(running.job_id)
  const file = await openTrace(ctx.config, running.job_id)
  try {
    const overlap = overlapOf(values)
    const tail = Buffer.alloc(Math.min(size, overlap))
    const from = size - tail.length
    if (tail.length > 0) await file.read(tail, 0, tail.length, from)
    const known = sentEnds.get(key)
    const isKnown = known?.size === size && known.bytes.length === tail.length
    const sent = Buffer.concat([isKnown ? known.bytes : tail, bytes])
    const masked = await maskBytes(sent, values)
    // What stands masked stays so: its value may have begun further ahead.
    for (const [at, byte] of tail.entries()) if (byte !== sent[at]) masked.bytes[at] = byte
    const end = Buffer.from(sent.subarray(Math.max(0, sent.length - overlap)))
    sentEnds.set(key, { size: size + bytes.length, bytes: end })
    await file.write(masked.bytes, 0, masked.bytes.length, from)
    await file.truncate(from + masked.bytes.length)
    return masked.held
  } finally {
    await file.close()
  }
}

/** Forgets what was received of a log that is not what the runner has: it sends all of it again. */
export function resetTrace(ctx: Ctx, jobId: number): Promise<void> {
  return withTrace(jobId, async () => {
    const file = await openTrace(ctx.config, jobId)
    await file.truncate(0)
    await file.close()
    await saveTrace(ctx.db, { job_id: jobId, size: 0, shown: 0, crc: 0, debug: false }, ctx.now())
  })
}
