import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '../../ctx.ts'
import { getJobStatus } from '../pipelines/process/running.ts'
import { readTrace, type ShownTrace } from './read-trace.ts'
import { noteWatched } from './watchers.ts'

const ENDED: readonly string[] = ['success', 'failed', 'canceled', 'skipped']
const LOOK_MS = 500
/** Somebody who follows comes again after this time, and it is looked at again whether they may. */
const LONGEST_MS = 5 * 60_000
const PIECE_BYTES = 64 * 1024

/** What somebody who follows a log is sent, one after the other. */
export type TraceEvent =
  | { readonly name: 'log'; readonly offset: number; readonly end: number; readonly text: string }
  /** What was sent counts no more: the log begins anew. */
  | { readonly name: 'reset'; readonly end: 0 }
  | { readonly name: 'end'; readonly end: number; readonly status: string }
  /** Nothing new. */
  | { readonly name: 'wait' }

/** The log of a job from an offset on as it grows, until the job has ended, the caller is gone or the server stops. */
export async function* followTrace(
  ctx: Pick<Ctx, 'db' | 'files' | 'config'>,
  jobId: number,
  given: { readonly from: number; readonly signal: AbortSignal; readonly stopping: AbortSignal },
): AsyncGenerator<TraceEvent> {
  const until = performance.now() + LONGEST_MS
  const { debug } = await readTrace(ctx, jobId)
  let offset = given.from
  const { signal, stopping } = given
  while (!signal.aborted && !stopping.aborted && performance.now() < until) {
    // The status first: what was written before the end is in the log then.
    const status = (await getJobStatus(ctx.db, jobId)) ?? 'canceled'
    const isEnded = ENDED.includes(status)
    const trace = await readTrace(ctx, jobId)
    // Not everybody who may read a log may read this one.
    if (trace.debug && !debug) return
    if (trace.size < offset) {
      offset = 0
      yield { name: 'reset', end: 0 }
    }
    const before = offset
    for await (const piece of newPieces(trace, offset, isEnded)) {
      offset = piece.end
      yield piece
    }
    if (isEnded) return yield { name: 'end', end: offset, status }
    if (offset === before) yield { name: 'wait' }
    noteWatched(ctx, jobId)
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** What a log holds from an offset on. A character whose end is still to come is left for later. */
async function* newPieces(trace: ShownTrace, from: number, isWhole: boolean) {
  for (let offset = from; offset < trace.size; ) {
    const end = Math.min(trace.size, offset + PIECE_BYTES)
    const chunks: Buffer[] = []
    const body = await trace.open({ start: offset, end: end - 1 })
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk)
    const read = Buffer.concat(chunks)
    const isLast = isWhole && offset + read.length >= trace.size
    const bytes = isLast ? read : wholeCharacters(read)
    if (bytes.length === 0) return
    const event = { name: 'log', offset, end: offset + bytes.length, text: bytes.toString('utf8') }
    yield event as TraceEvent & { readonly name: 'log' } // what a literal of its own would be
    offset += bytes.length
  }
}

/** Bytes with which characters of two, three and four bytes begin. */
const LONGER = [0xc0, 0xe0, 0xf0]

/** The bytes without the beginning of a character of UTF-8 at their end. */
function wholeCharacters(bytes: Buffer): Buffer {
  const least = Math.max(0, bytes.length - 4)
  let start = bytes.length - 1
  while (start > least && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1
  const first = bytes[start] ?? 0
  const length = 1 + LONGER.filter((begin) => first >= begin).length
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes
}
