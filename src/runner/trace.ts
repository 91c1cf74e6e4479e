import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Job } from './job.ts'
import { Mask } from './mask.ts'
import type { JobAnswer, Server } from './server.ts'

const AT_ONCE = 256 * 1024
/** A cancel arrives within this time, however long the server would wait. */
const LONGEST_WAIT_MS = 3000
const SHORTEST_WAIT_MS = 500
const FIRST_PAUSE_MS = 100
/** Longest log (docs/contract/D §5.7): servers end a job that sends more, and one that is away cannot. */
export const MOST_LOG_BYTES = 100 * 1024 * 1024
const NOTICE = Buffer.from(`\nERROR: the log is longer than ${MOST_LOG_BYTES} bytes\n`)
/** How long the end of a log is sent without the server taking any of it. */
const REST_FOR_MS = 5 * 60_000

/** What the server wants of a job that runs. */
export interface Orders {
  /** The script is to stop; what comes after it still runs. */
  cancel(): void
  /** Everything is to stop: the job is over for the server. */
  abort(): void
  /** The log has all that it may have; what is written from here on is left out of it. */
  tooLong(): void
}

interface TraceOptions {
  /** Values that it must not show. */
  readonly masked: readonly string[]
  readonly orders: Orders
  /** Whether the scripts show their commands with all variables. */
  readonly debug: boolean
}

/**
 * The log of a job: kept in a file until the server has all of it, so that nothing is lost when the server is away for a
 * while or asks for it again.
 */
export class Trace {
  readonly #server: Server
  readonly #job: Job
  readonly #file: FileHandle
  readonly #mask: Mask
  readonly #orders: Orders
  readonly #debug: boolean
  #size = 0
  #isFull = false
  #crc = 0
  #sent = 0
  #wait = SHORTEST_WAIT_MS
  #writes: Promise<unknown> = Promise.resolve()
  #stopped = new AbortController()
  #sending: Promise<void>

  private constructor(server: Server, job: Job, file: FileHandle, given: TraceOptions) {
    this.#server = server
    this.#job = job
    this.#file = file
    this.#mask = new Mask(given.masked, job.features?.token_mask_prefixes)
    this.#orders = given.orders
    this.#debug = given.debug
    this.#sending = this.#sendAlong()
  }

  static async open(
    server: Server,
    job: Job,
    given: TraceOptions & { readonly path: string },
  ): Promise<Trace> {
    return new Trace(server, job, await open(given.path, 'w+', 0o600), given)
  }

  /** Adds output. */
  write(piece: Buffer | string): void {
    const shown = this.#mask.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
    this.#keep(shown)
  }

  #keep(bytes: Buffer): void {
    if (this.#isFull) return
    const room = MOST_LOG_BYTES - NOTICE.length - this.#size
    this.#append(bytes.subarray(0, room))
    if (bytes.length <= room) return
    this.#isFull = true
    this.#append(NOTICE)
    this.#orders.tooLong()
  }

  #append(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#crc = crc32(bytes, this.#crc)
    const at = this.#size
    this.#size += bytes.length
    const copy = Buffer.from(bytes)
    this.#writes = this.#writes.then(() => this.#file.write(copy, 0, copy.length, at))
    // Whoever waits for it gets the error of a full disk; nobody may be waiting now.
    this.#writes.catch(() => {})
  }

  /** Waits until what was written is in the file, so that a fast script cannot fill the memory. */
  async drained(): Promise<void> {
    await this.#writes
  }

  line(text: string): void {
    this.write(`${text}\n`)
  }

  get checksum(): string {
    return `crc32:${this.#crc.toString(16).padStart(8, '0')}`
  }

  get size(): number {
    return this.#size
  }

  async #sendAlong(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      try {
        const answer = await this.#sendNext()
        if (!this.#heed(answer)) return
      } catch {
        // The server is away; the log stays in its file meanwhile.
        this.#wait = LONGEST_WAIT_MS
      }
      if (this.#sent < this.#size && this.#wait < LONGEST_WAIT_MS) continue
      await sleep(this.#wait, undefined, { signal }).catch(() => undefined)
    }
  }

  async #sendNext(): Promise<JobAnswer> {
    // What is written from here on goes with a later piece: it may not be in the file yet.
    const end = this.#size
    await this.#writes
    const length = Math.min(AT_ONCE, end - this.#sent)
    if (length <= 0) return await this.#server.touch(this.#job)
    const bytes = Buffer.alloc(length)
    await this.#file.read(bytes, 0, length, this.#sent)
    const answer = await this.#server.append(this.#job, this.#sent, bytes, this.#debug)
    if (answer.status === 202) this.#sent += length
    else if (answer.status === 416) this.#sent = Math.min(answer.received ?? 0, this.#size)
    return answer
  }

  /** Follows what the server says; false when the job is over for it. */
  #heed(answer: JobAnswer): boolean {
    const seconds = answer.interval ?? 3
    this.#wait = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, seconds * 1000))
    if (answer.jobStatus === 'canceling') this.#orders.cancel()
    if (!isOver(answer)) return true
    this.#orders.abort()
    return false
  }

  /** Sends what is left. */
  async finish(): Promise<void> {
    this.#keep(this.#mask.flush())
    this.#stopped.abort()
    await this.#sending
    await this.sendRest()
  }

  /** Sends what the server has not, from where the server says, as long as it takes some of it now and then. */
  async sendRest(): Promise<void> {
    let taken = this.#sent
    let until = performance.now() + REST_FOR_MS
    let pause = FIRST_PAUSE_MS
    while (this.#sent < this.#size && performance.now() < until) {
      const answer = await this.#sendNext().catch(() => undefined)
      if (this.#sent > taken) {
        taken = this.#sent
        until = performance.now() + REST_FOR_MS
        pause = FIRST_PAUSE_MS
      } else if (answer && (isRefusal(answer) || isOver(answer))) {
        return
      } else {
        await sleep(pause)
        pause = Math.min(pause * 2, LONGEST_WAIT_MS)
      }
    }
  }

  /** The server lost the log: it is sent again from the beginning. */
  async resend(): Promise<void> {
    this.#sent = 0
    await this.sendRest()
  }

  async close(): Promise<void> {
    await this.#writes
    await this.#file.close()
  }
}

/** Whether a job is over for the server. */
function isOver({ status, jobStatus }: JobAnswer): boolean {
  return jobStatus === 'canceled' || jobStatus === 'failed' || status === 403
}

/** Whether the server will not have a log, whatever is sent again. */
function isRefusal({ status }: JobAnswer): boolean {
  return status >= 400 && status < 500 && ![408, 416, 429].includes(status)
}
