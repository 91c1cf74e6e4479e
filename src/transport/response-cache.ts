import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'

export interface ResponseCacheOptions {
  readonly dir: string
  /** Bytes of all answers kept. */
  readonly maxBytes: number
  /** An answer larger than this is handed out and forgotten. */
  readonly maxEntryBytes: number
  readonly maxAgeMs: number
}

/** Makes an answer once: its bytes, ended early through the signal. */
export type Produce = (signal: AbortSignal) => AsyncIterable<Buffer>

const readSize = 256 * 1024

/**
 * Keeps whole answers of upload-pack on disk, by repository and request. The objects behind a
 * request never change, so an answer stays right; who may read was decided before. Maintenance prunes
 * only what nothing has reached for two weeks, so that an answer made before holds nothing that
 * somebody has just taken back. Equal requests that come while an answer is being made follow the one
 * maker.
 */
export class ResponseCache {
  readonly #options: ResponseCacheOptions
  /** The files by request. */
  readonly #files: LRUCache<string, string>
  readonly #flights = new Map<string, Flight>()
  #ready: Promise<void> | undefined
  #count = 0

  constructor(options: ResponseCacheOptions) {
    this.#options = options
    this.#files = new LRUCache({
      maxSize: options.maxBytes,
      ttl: options.maxAgeMs,
      dispose: (path) => void rm(path, { force: true }).catch(() => {}),
    })
  }

  /** `signal` is raised when this one client is gone. */
  async *serve(
    repository: string,
    request: Buffer,
    signal: AbortSignal,
    produce: Produce,
  ): AsyncGenerator<Buffer> {
    const key = `${repository}-${createHash('sha256').update(request).digest('hex')}`
    const file = await this.#openKept(key)
    if (file) {
      yield* readAll(file)
      return
    }
    let begun = false
    try {
      await this.#prepare()
      if (!(await this.#hasRoom())) {
        yield* produce(signal)
        return
      }
      const flight = this.#flying(key) ?? this.#start(key, produce)
      for await (const chunk of flight.follow(signal)) {
        begun = true
        yield chunk
      }
    } catch (error) {
      // A full disk must not keep anybody from reading.
      if (begun || !isDiskError(error)) throw error
      yield* produce(signal)
    }
  }

  #flying(key: string): Flight | undefined {
    const flight = this.#flights.get(key)
    return flight?.over ? undefined : flight
  }

  // What an earlier run left is of no use: the list of entries is in memory only.
  #prepare(): Promise<void> {
    this.#ready ??= rm(this.#options.dir, { recursive: true, force: true })
      .then(async () => void (await mkdir(this.#options.dir, { recursive: true })))
      .catch((error: unknown) => {
        this.#ready = undefined
        throw error
      })
    return this.#ready
  }

  /** A cache must not be what fills the disk up. */
  async #hasRoom(): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.#options.dir)
    return bavail * bsize > this.#options.maxEntryBytes
  }

  async #openKept(key: string): Promise<FileHandle | undefined> {
    const path = this.#files.get(key)
    return path === undefined ? undefined : await open(path, 'r').catch(() => undefined)
  }

  // Without a pause between looking and adding, so that equal requests always meet in one flight.
  #start(key: string, produce: Produce): Flight {
    const path = join(this.#options.dir, String(++this.#count))
    const flight: Flight = new Flight(path, produce, async (size) => {
      if (size === undefined || size > this.#options.maxEntryBytes) await rm(path, { force: true })
      else this.#files.set(key, path, { size: Math.max(size, 1) })
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    this.#flights.set(key, flight)
    return flight
  }
}

/** An answer that is being made: written to a file once, read from there by all who wait for it. */
class Flight {
  #file: FileHandle | undefined
  readonly #abort = new AbortController()
  readonly #landed: (size: number | undefined) => Promise<void>
  #written = 0
  #state: 'flying' | 'complete' | 'failed' = 'flying'
  #error: unknown
  #readers = 0
  #closed = false
  #waiting: (() => void)[] = []

  constructor(path: string, produce: Produce, landed: (size: number | undefined) => Promise<void>) {
    this.#landed = landed
    void this.#make(path, produce)
  }

  /** Whether nobody may join any more: it is being stopped, has failed, or its file is closed. */
  get over(): boolean {
    return this.#abort.signal.aborted || this.#state === 'failed' || this.#closed
  }

  async *follow(signal: AbortSignal): AsyncGenerator<Buffer> {
    this.#readers++
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake, { once: true })
    let at = 0
    try {
      for (;;) {
        signal.throwIfAborted()
        if (this.#file && at < this.#written) {
          const buffer = Buffer.allocUnsafe(Math.min(readSize, this.#written - at))
          const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, at)
          at += bytesRead
          yield buffer.subarray(0, bytesRead)
        } else if (this.#state === 'failed') throw this.#error
        else if (this.#state === 'complete') return
        else await new Promise<void>((resolve) => this.#waiting.push(resolve))
      }
    } finally {
      signal.removeEventListener('abort', wake)
      this.#readers--
      await this.#leave()
    }
  }

  async #make(path: string, produce: Produce): Promise<void> {
    try {
      const file = await open(path, 'wx+', 0o600)
      this.#file = file
      for await (const chunk of produce(this.#abort.signal)) {
        await writeWhole(file, chunk, this.#written)
        this.#written += chunk.length
        this.#wake()
      }
      await this.#landed(this.#written)
      this.#state = 'complete'
    } catch (error) {
      this.#error = error
      this.#state = 'failed'
      await this.#landed(undefined).catch(() => {})
    }
    this.#wake()
    await this.#leave()
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** The last to leave closes the file; when all readers are gone the maker has to go too. */
  async #leave(): Promise<void> {
    if (this.#readers > 0) return
    if (this.#state === 'flying') this.#abort.abort()
    else if (!this.#closed) {
      this.#closed = true
      // The answer went out before; an error of the maker that nobody handles ends the process.
      await this.#file?.close().catch(() => {})
    }
  }
}

/** A disk that fills up takes a part of what it is given, and refuses only the next. */
async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

async function* readAll(file: FileHandle): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(readSize), 0, readSize)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
