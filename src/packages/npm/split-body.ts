import { badRequest } from '../../base/problem.ts'

const MOST_DEPTH = 64
/** A document names every version when one of them is deprecated. */
const MOST_BYTES = 16 * 1024 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c

interface Open {
  readonly isObject: boolean
  key: string
  expectsKey: boolean
}

export interface SplitBody<T> {
  /** The document, with empty texts where the attachments were. */
  readonly document: unknown
  readonly attachments: ReadonlyMap<string, T>
}

/**
 * Reads the document that `npm publish` sends, and hands the bytes of its attachment to `store` while they arrive: a
 * tarball of some hundred megabytes stands in it as one text, which is never held as a whole.
 */
export async function splitBody<T>(
  source: AsyncIterable<Uint8Array>,
  store: (name: string, bytes: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<SplitBody<T>> {
  const reader = new Splitter(source)
  const attachments = new Map<string, T>()
  for (;;) {
    const name = await reader.toNextAttachment()
    if (name === undefined) break
    if (attachments.size > 0) throw badRequest('There may be one attachment')
    attachments.set(name, await store(name, reader.attachment()))
  }
  return { document: parse(reader.document()), attachments }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('Invalid json')
  }
}

/** Follows the nesting just as far as to find the texts at `_attachments.<name>.data`; `JSON.parse` judges the rest. */
class Splitter {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #kept: Buffer[] = []
  #size = 0
  #chunk: Buffer = Buffer.alloc(0)
  #at = 0
  readonly #stack: Open[] = []

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** Keeps what comes before the next attachment; gives its name, and nothing at the end of the body. */
  async toNextAttachment(): Promise<string | undefined> {
    let from = this.#at
    for (;;) {
      if (this.#at >= this.#chunk.length) {
        this.#keep(this.#chunk.subarray(from))
        if (!(await this.#next())) return undefined
        from = 0
      }
      const byte = this.#chunk[this.#at]
      this.#at += 1
      if (byte !== QUOTE) {
        this.#note(byte ?? 0)
        continue
      }
      if (this.#isAttachment()) {
        this.#keep(this.#chunk.subarray(from, this.#at))
        this.#keep(Buffer.from('"'))
        return this.#stack[1]?.key
      }
      this.#keep(this.#chunk.subarray(from, this.#at))
      await this.#text()
      from = this.#at
    }
  }

  /** The decoded bytes of the attachment that the body is at, to its closing quote. */
  async *attachment(): AsyncGenerator<Uint8Array> {
    let rest = ''
    for (;;) {
      const end = this.#chunk.indexOf(QUOTE, this.#at)
      const until = end < 0 ? this.#chunk.length : end
      const text = rest + this.#chunk.toString('latin1', this.#at, until)
      if (text.includes('\\')) throw badRequest('Attachment data is not base64')
      const whole = end < 0 ? text.length - (text.length % 4) : text.length
      rest = text.slice(whole)
      if (whole > 0) yield Buffer.from(text.slice(0, whole), 'base64')
      this.#at = until + 1
      if (end >= 0) return
      if (!(await this.#next())) throw badRequest('Invalid json')
    }
  }

  document(): string {
    return Buffer.concat(this.#kept).toString('utf8')
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done) return false
    this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    this.#at = 0
    return true
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size > MOST_BYTES) throw badRequest('The document is too large')
    // A copy: the part that is kept must not hold the whole chunk of the attachment beside it.
    if (bytes.length > 0) this.#kept.push(Buffer.from(bytes))
  }

  /** Keeps a text to its closing quote, and remembers it where it is a key. */
  async #text(): Promise<void> {
    const top = this.#stack.at(-1)
    const parts: Buffer[] = []
    let isEscaped = false
    for (let from = this.#at; ; ) {
      if (this.#at >= this.#chunk.length) {
        parts.push(Buffer.from(this.#chunk.subarray(from)))
        this.#keep(this.#chunk.subarray(from))
        if (!(await this.#next())) return
        from = 0
        continue
      }
      const byte = this.#chunk[this.#at]
      this.#at += 1
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) {
        parts.push(Buffer.from(this.#chunk.subarray(from, this.#at)))
        this.#keep(this.#chunk.subarray(from, this.#at))
        break
      }
    }
    if (top?.expectsKey) top.key = String(parse(`"${Buffer.concat(parts).toString('utf8')}`))
  }

  #note(byte: number): void {
    const top = this.#stack.at(-1)
    switch (byte) {
      case 0x7b: // {
      case 0x5b: // [
        this.#stack.push({ isObject: byte === 0x7b, key: '', expectsKey: byte === 0x7b })
        if (this.#stack.length > MOST_DEPTH) throw badRequest('Invalid json')
        break
      case 0x7d: // }
      case 0x5d: // ]
        this.#stack.pop()
        break
      case 0x3a: // :
        if (top) top.expectsKey = false
        break
      case 0x2c: // ,
        if (top?.isObject) top.expectsKey = true
        break
    }
  }

  #isAttachment(): boolean {
    const [root, attachments, one, ...deeper] = this.#stack
    return (
      deeper.length === 0 &&
      root?.key === '_attachments' &&
      attachments?.isObject === true &&
      one?.key === 'data' &&
      !one.expectsKey
    )
  }
}
