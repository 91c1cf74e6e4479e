import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../base/problem.ts'
import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import type { Ctx } from '../../ctx.ts'
import { parseJsonObject } from '../../http/body/json.ts'
import { readEvent } from '../errors/event.ts'
import { packPayload } from '../errors/payload.ts'
import type { Report } from '../errors/report-writer.ts'
import type { ReadOutcome, SentEvent } from './read-in-worker.ts'

/** From so many events a second on it is a storm, and a worker is worth its memory. */
const STORM = 50
/** Events and bytes that a worker reads at a time. */
const BATCH = 32
const BATCH_BYTES = 2 * 1024 * 1024
/** A task of the worker costs as much for one event as for ten: what comes within so long goes together. */
const GATHER_MS = 4
const TIMEOUT_MS = 10_000

interface Waiting {
  readonly sent: SentEvent
  resolve(report: Report | Promise<Report>): void
  reject(error: unknown): void
}

const waiting: Waiting[] = []
let isRunning = false

/**
 * Reads the JSON of an event and packs it. In a storm a worker does so, while this thread takes the next ones in: those
 * that come while it is busy are its next batch.
 */
export function readReport(ctx: Ctx, payload: Buffer): Promise<Report> {
  const { maxJsonDepth, maxJsonValues } = ctx.config
  const sent = { payload, limits: { maxJsonDepth, maxJsonValues }, now: ctx.now() }
  if (!isStorm()) return readHere(sent)
  return new Promise((resolve, reject) => {
    waiting.push({ sent, resolve, reject })
    if (!isRunning) void readAll()
  })
}

const events = { second: 0, before: 0, now: 0 }

/** Counts one more event; whether this second, or the one before, has many. */
function isStorm(): boolean {
  const second = Math.floor(performance.now() / 1000)
  if (second !== events.second) {
    events.before = second === events.second + 1 ? events.now : 0
    events.now = 0
    events.second = second
  }
  events.now += 1
  return Math.max(events.before, events.now) >= STORM
}

async function readHere({ payload, limits, now }: SentEvent): Promise<Report> {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const event = readEvent(await parseJsonObject(bytes, limits), now)
  return { event, payload: await packPayload(bytes) }
}

async function readAll(): Promise<void> {
  isRunning = true
  while (waiting.length > 0) {
    await sleep(GATHER_MS)
    await readBatch(take())
  }
  isRunning = false
}

function take(): Waiting[] {
  let bytes = 0
  const beyond = waiting.findIndex(({ sent }, index) => {
    bytes += sent.payload.length
    return index === BATCH || (index > 0 && bytes > BATCH_BYTES)
  })
  return waiting.splice(0, beyond < 0 ? waiting.length : beyond)
}

async function readBatch(batch: readonly Waiting[]): Promise<void> {
  try {
    const outcomes = await runInWorker<readonly SentEvent[], readonly ReadOutcome[]>(
      batch.map(({ sent }) => sent),
      {
        module: new URL('./read-in-worker.ts', import.meta.url),
        name: 'readSentEvents',
        timeoutMs: TIMEOUT_MS,
        isLong: false,
      },
    )
    for (const [index, one] of batch.entries()) finish(one, outcomes[index])
  } catch (error) {
    // No worker is free, or it came to its end: then as without a storm.
    const isLimit = error instanceof WorkerLimitError
    for (const one of batch) isLimit ? one.resolve(readHere(one.sent)) : one.reject(error)
  }
}

function finish(one: Waiting, outcome: ReadOutcome | undefined): void {
  if (!outcome) one.reject(new Error('a worker left an event out'))
  else if ('refusal' in outcome) {
    const { code, status, body } = outcome.refusal
    one.reject(new Problem(code, status, body))
  } else {
    const { buffer, byteOffset, byteLength } = outcome.payload
    one.resolve({ event: outcome.event, payload: Buffer.from(buffer, byteOffset, byteLength) })
  }
}
