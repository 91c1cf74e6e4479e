import { badRequest, tooLarge } from '../../base/problem.ts'

/** One item of an envelope, its payload not read. */
export interface EnvelopeItem {
  readonly type: string
  readonly payload: Buffer
}

export interface Envelope {
  readonly header: Readonly<Record<string, unknown>>
  readonly items: readonly EnvelopeItem[]
}

const NEWLINE = 0x0a
/** Items beyond this many are more than any program sends. */
const MOST_ITEMS = 100
const MAX_HEADER = 64 * 1024
/** Largest event (docs/contract/C-resolved §2.3). */
export const MAX_EVENT = 1024 * 1024

/**
 * Takes an envelope apart (docs/contract/C-resolved §2.3): a line of JSON, then for each item a line of JSON that says
 * its type and maybe its length, and its bytes.
 */
export function readEnvelope(bytes: Buffer): Envelope {
  const reader = new LineReader(bytes)
  const header = objectOf(reader.line())
  const items: EnvelopeItem[] = []
  for (;;) {
    reader.skipBlankLines()
    if (reader.isAtEnd) return { header, items }
    if (items.length >= MOST_ITEMS) throw unreadable()
    const about = objectOf(reader.line())
    if (typeof about.type !== 'string') throw unreadable()
    const payload = reader.payload(about.length)
    if (about.type === 'event' && payload.length > MAX_EVENT) throw tooLarge()
    items.push({ type: about.type, payload })
  }
}

/** The first line of an envelope, from its first bytes; undefined where that is no whole object. */
export function readHeader(head: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(new LineReader(head).line())
  } catch {
    return undefined
  }
}

export function unreadable() {
  return badRequest('Failed to parse sentry request')
}

class LineReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  line(): string {
    const end = this.#endOfLine()
    if (end - this.#at > MAX_HEADER) throw unreadable()
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end + 1
    return text
  }

  skipBlankLines(): void {
    while (this.#bytes[this.#at] === NEWLINE) this.#at += 1
  }

  /** So many bytes and the end of a line, or without a length what the line has. */
  payload(length: unknown): Buffer {
    const from = this.#at
    const end = length === undefined || length === null ? this.#endOfLine() : from + sizeOf(length)
    if (end > this.#bytes.length) throw unreadable()
    if (end < this.#bytes.length && this.#bytes[end] !== NEWLINE) throw unreadable()
    this.#at = end + 1
    return this.#bytes.subarray(from, end)
  }

  #endOfLine(): number {
    const found = this.#bytes.indexOf(NEWLINE, this.#at)
    return found < 0 ? this.#bytes.length : found
  }
}

function sizeOf(length: unknown): number {
  if (!Number.isSafeInteger(length) || Number(length) < 0) throw unreadable()
  return Number(length)
}

function objectOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown> // an object, by the checks right here
    }
  } catch {
    // Told below.
  }
  throw unreadable()
}
