import { badParameters } from '../../base/problem.ts'

export interface JsonLimits {
  readonly jsonDepth: number
  /** Most values of one document, of whichever kind. */
  readonly jsonValues: number
}

/** Where a string stands in a document, its quotes included. */
export interface Span {
  readonly start: number
  readonly end: number
}

const [quote, backslash] = [0x22, 0x5c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const [comma, colon] = [0x2c, 0x3a]

/** Strings from this length on are read by themselves. */
const LONG = 256
/**
 * Most bytes outside of strings, 80 for each of 200,000 values, and of long keys: blanks, digits and keys without end are
 * left to the parser, and keep everybody waiting.
 */
const MOST_OUTSIDE = 16 * 1024 * 1024

/**
 * Looks over a JSON document before it is parsed: how deep it is, how many values it has, and where its long strings
 * are. In time that follows from the length alone, and in as many steps as the caller likes.
 */
export class JsonScan {
  /** Long strings that are values, in order. */
  readonly long: Span[] = []
  values = 1
  #outsideBytes = 0
  readonly #bytes: Buffer
  readonly #limits: JsonLimits
  #at = 0
  #depth = 0
  #stringStart = -1
  /** Nothing but blanks since a long string. */
  #behindLong = false

  constructor(bytes: Buffer, limits: JsonLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  /** Goes on by about `length` bytes; true at the end. Throws 400 when the document is beyond the limits. */
  step(length: number): boolean {
    const stop = Math.min(this.#at + length, this.#bytes.length)
    while (this.#at < stop) {
      if (this.#stringStart >= 0) this.#inString()
      else this.#countOutside(stop)
    }
    return this.#at >= this.#bytes.length
  }

  #countOutside(stop: number): void {
    const from = this.#at
    this.#outside(stop)
    this.#outsideBytes += this.#at - from
    if (this.#outsideBytes > MOST_OUTSIDE) {
      throw badParameters(`message body has more than ${MOST_OUTSIDE} bytes outside of its texts`)
    }
  }

  #outside(stop: number): void {
    const bytes = this.#bytes
    for (let at = this.#at; at < stop; at += 1) {
      const byte = bytes[at]
      if (byte === quote) {
        this.#stringStart = at
        this.#at = at + 1
        return
      }
      if (byte === openArray || byte === openObject) this.#deeper()
      else if (byte === closeArray || byte === closeObject) this.#depth -= 1
      else if (byte === comma) this.#count()
      else if (byte === colon) this.#forgetKey()
    }
    this.#at = stop
  }

  #deeper(): void {
    this.#depth += 1
    this.#count()
    if (this.#depth > this.#limits.jsonDepth) {
      throw badParameters('message body is nested too deeply')
    }
  }

  #count(): void {
    this.#behindLong = false
    this.values += 1
    if (this.values > this.#limits.jsonValues) {
      throw badParameters(`message body has more than ${this.#limits.jsonValues} values`)
    }
  }

  #inString(): void {
    const found = this.#bytes.indexOf(quote, this.#at)
    const end = found < 0 ? this.#bytes.length : found
    this.#at = end + 1
    if (found >= 0 && this.#isEscaped(end)) return
    const span = { start: this.#stringStart, end: end + 1 }
    this.#behindLong = span.end - span.start >= LONG
    if (this.#behindLong) this.long.push(span)
    this.#stringStart = -1
  }

  #isEscaped(end: number): boolean {
    let at = end
    while (at - 1 > this.#stringStart && this.#bytes[at - 1] === backslash) at -= 1
    return (end - at) % 2 === 1
  }

  /** A long string in front of a colon is no value. */
  #forgetKey(): void {
    const key = this.#behindLong ? this.long.pop() : undefined
    if (key) this.#outsideBytes += key.end - key.start
    this.#behindLong = false
  }
}
