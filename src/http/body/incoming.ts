import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, type Readable, Transform } from 'node:stream'
import { Problem, requestTimeout, tooLarge, unsupportedType } from '../../base/problem.ts'
import { malformed } from './json.ts'
import { unpacker } from './packed.ts'
import { BodySource } from './source.ts'

export interface OpenOptions {
  /** Milliseconds without a byte after which the sender is given up; 0: never. */
  readonly idleMs: number
  /** Bytes after which the sender is refused, on the wire and unpacked. */
  readonly maxBytes: number
  /** Deflate, Brotli and Zstandard are unpacked too; gzip always is. */
  readonly anyEncoding?: boolean | undefined
}

/** The first bytes of a body. */
export interface Peeked {
  readonly bytes: Buffer
  /** Whether that is all. */
  readonly whole: boolean
}

/**
 * The body of one request. Nothing else reads a request: whoever wants bytes asks here, once it is decided that the
 * caller may send them. Until then a client that waits for `100 Continue` keeps its body to itself.
 */
export class IncomingBody {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  #begun = false
  #head: Peeked | undefined
  #opened: Readable | undefined

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  /** Whether the headers announce a body. */
  get declared(): boolean {
    const { headers } = this.#request
    if (headers['transfer-encoding'] !== undefined) return true
    return headers['content-length'] !== undefined && Number(headers['content-length']) !== 0
  }

  /** Its length on the wire, where the client says so. */
  get length(): number | undefined {
    const length = this.#request.headers['content-length']
    return length === undefined ? undefined : Number(length)
  }

  /** The content type, in lower case and without parameters. */
  get type(): string {
    return (
      (this.#request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
    )
  }

  get encoding(): string {
    return (this.#request.headers['content-encoding'] || 'identity').toLowerCase()
  }

  /** Whether the client sends its body only after `100 Continue`, and has not been answered yet. */
  get waits(): boolean {
    return !this.#begun && /^100-continue$/i.test(this.#request.headers.expect ?? '')
  }

  /** Looks at up to `most` bytes as they come on the wire; they are read again by `open`. */
  async peek(most: number, withinMs: number): Promise<Peeked> {
    if (this.#head) return this.#head
    this.#begin()
    const source = new BodySource(this.#request, { idleMs: 0, maxBytes: Number.POSITIVE_INFINITY })
    const chunks: Buffer[] = []
    let size = 0
    const seen = new Promise<void>((resolve, reject) => {
      source.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size >= most) resolve()
      })
      source.on('end', resolve)
      source.on('error', reject)
    })
    const timer = setTimeout(() => source.destroy(requestTimeout()), withinMs)
    await seen.finally(() => clearTimeout(timer))
    // What has come meanwhile goes to the listener as well.
    while (source.read() !== null);
    const whole = source.ended
    source.destroy()
    this.#head = { bytes: Buffer.concat(chunks, size), whole }
    return this.#head
  }

  /** The bytes, unpacked where they come packed. Destroying the stream leaves the connection for the answer. */
  open(options: OpenOptions): Readable {
    const { encoding } = this
    const unpack = unpacker(encoding, options.anyEncoding ?? false)
    if (!unpack && encoding !== 'identity') throw unsupportedType(encoding)
    if (this.length !== undefined && this.length > options.maxBytes) throw tooLarge()
    this.#begin()
    const source = new BodySource(this.#request, { ...options, head: this.#head })
    this.#head = undefined
    // The error, if any, arrives at whoever reads the last stream.
    this.#opened = unpack ? pipeline(source, unpack(), limited(options.maxBytes), () => {}) : source
    // A connection may break off before the reader listens: it finds the error on the stream when it comes, and the
    // event alone must not end the process.
    this.#opened.on('error', () => {})
    return this.#opened
  }

  /** As `open`, for those who may ask more than once. */
  stream(options: OpenOptions): Readable {
    return this.#opened ?? this.open(options)
  }

  /** Stops reading. */
  close(): void {
    this.#opened?.destroy()
  }

  #begin(): void {
    if (this.waits) this.#response.writeContinue()
    this.#begun = true
  }
}

/** A small body may unpack to anything, and what is said to be packed need not be. */
function limited(maxBytes: number): Transform {
  let size = 0
  return new Transform({
    destroy(error, done) {
      done(error === null || error instanceof Problem ? error : malformed())
    },
    transform(chunk: Buffer, _, done) {
      size += chunk.length
      if (size > maxBytes) done(tooLarge())
      else done(null, chunk)
    },
  })
}
