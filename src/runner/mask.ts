const BLANK = Buffer.from('[MASKED]')

/** Letters of which tokens are made. */
const isOfToken = (byte: number | undefined): boolean =>
  byte !== undefined && /[\w.=-]/.test(String.fromCharCode(byte))

/**
 * Replaces values in a stream of bytes, also where a value is cut in two by the end of a piece, and what follows the
 * prefixes of tokens, whoever's they are.
 */
export class Mask {
  readonly #values: readonly Buffer[]
  readonly #prefixes: readonly Buffer[]
  readonly #longest: number
  #rest: Buffer = Buffer.alloc(0)
  /** The last piece ended inside of a token: the next one goes on with it. */
  #isInToken = false

  constructor(values: readonly string[], prefixes: readonly string[] = []) {
    this.#values = buffersOf(values)
    this.#prefixes = buffersOf(prefixes)
    const lengths = [
      ...this.#values,
      ...this.#prefixes.map(({ length }) => ({ length: length + 1 })),
    ]
    this.#longest = Math.max(0, ...lengths.map(({ length }) => length))
  }

  /** What may be shown now; the end is held back while it may be the beginning of a value. */
  push(piece: Buffer): Buffer {
    const given = this.#isInToken ? this.#withoutToken(piece) : piece
    const bytes = this.#replace(Buffer.concat([this.#rest, given]))
    const replaced = this.#replaceTokens(bytes)
    const keep = this.#isInToken ? 0 : this.#heldBack(replaced)
    this.#rest = replaced.subarray(replaced.length - keep)
    return replaced.subarray(0, replaced.length - keep)
  }

  /** What was held back. */
  flush(): Buffer {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    return rest
  }

  #withoutToken(piece: Buffer): Buffer {
    let end = 0
    while (end < piece.length && isOfToken(piece[end])) end += 1
    this.#isInToken = end === piece.length
    return piece.subarray(end)
  }

  #replace(bytes: Buffer): Buffer {
    let result = bytes
    for (const value of this.#values) {
      result = replaced(result, value, (at) => ({ shown: BLANK, end: at + value.length }))
    }
    return result
  }

  #replaceTokens(bytes: Buffer): Buffer {
    let result = bytes
    for (const prefix of this.#prefixes) {
      result = replaced(result, prefix, (at, whole) => {
        let end = at + prefix.length
        while (isOfToken(whole[end])) end += 1
        if (end === at + prefix.length) return { shown: prefix, end }
        if (end === whole.length) this.#isInToken = true
        return { shown: Buffer.concat([prefix, BLANK]), end }
      })
    }
    return result
  }

  /** How many bytes of the end are the beginning of some value, or a prefix whose token is still to come. */
  #heldBack(bytes: Buffer): number {
    const most = Math.min(bytes.length, this.#longest - 1)
    for (let length = most; length > 0; length -= 1) {
      const end = bytes.subarray(bytes.length - length)
      const begins = (whole: Buffer, least: number) =>
        whole.length >= least && whole.subarray(0, length).equals(end)
      if (this.#values.some((value) => begins(value, length + 1))) return length
      if (this.#prefixes.some((prefix) => begins(prefix, length))) return length
    }
    return 0
  }
}

/** Those with something in them, each once, the longest first. */
function buffersOf(texts: readonly string[]): Buffer[] {
  const unique = [...new Set(texts)].filter((text) => text !== '')
  return unique.map((text) => Buffer.from(text)).sort((one, other) => other.length - one.length)
}

/** The bytes with what is shown in the place of each find. */
function replaced(
  bytes: Buffer,
  wanted: Buffer,
  show: (at: number, whole: Buffer) => { readonly shown: Buffer; readonly end: number },
): Buffer {
  let at = bytes.indexOf(wanted)
  if (at < 0) return bytes
  const parts: Buffer[] = []
  let from = 0
  while (at >= 0) {
    const { shown, end } = show(at, bytes)
    parts.push(bytes.subarray(from, at), shown)
    from = end
    at = bytes.indexOf(wanted, from)
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}
