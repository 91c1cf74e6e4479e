const BLANK = Buffer.from('[MASKED]')

/** Replaces values in a stream of bytes, also where a value is cut in two by the end of a piece. */
export class Mask {
  readonly #values: readonly Buffer[]
  readonly #longest: number
  #rest: Buffer = Buffer.alloc(0)

  constructor(values: readonly string[]) {
    const unique = [...new Set(values)].filter((value) => value !== '')
    this.#values = unique
      .map((value) => Buffer.from(value))
      .sort((one, other) => other.length - one.length)
    this.#longest = this.#values[0]?.length ?? 0
  }

  /** What may be shown now; the end is held back while it may be the beginning of a value. */
  push(piece: Buffer): Buffer {
    const replaced = this.#replace(Buffer.concat([this.#rest, piece]))
    const keep = this.#heldBack(replaced)
    this.#rest = replaced.subarray(replaced.length - keep)
    return replaced.subarray(0, replaced.length - keep)
  }

  /** What was held back. */
  flush(): Buffer {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    return rest
  }

  #replace(bytes: Buffer): Buffer {
    let result = bytes
    for (const value of this.#values) {
      let at = result.indexOf(value)
      if (at < 0) continue
      const parts: Buffer[] = []
      let from = 0
      while (at >= 0) {
        parts.push(result.subarray(from, at), BLANK)
        from = at + value.length
        at = result.indexOf(value, from)
      }
      result = Buffer.concat([...parts, result.subarray(from)])
    }
    return result
  }

  /** How many bytes of the end are the beginning of some value. */
  #heldBack(bytes: Buffer): number {
    const most = Math.min(bytes.length, this.#longest - 1)
    for (let length = most; length > 0; length -= 1) {
      const end = bytes.subarray(bytes.length - length)
      if (
        this.#values.some((value) => value.length > length && value.subarray(0, length).equals(end))
      )
        return length
    }
    return 0
  }
}
