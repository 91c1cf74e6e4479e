/** A cache bounded in bytes that drops what was used least recently. Keys name immutable things. */
export class ByteCache<Value> {
  readonly #limit: number
  readonly #sizeOf: (value: Value) => number
  readonly #entries = new Map<string, Value>()
  #bytes = 0

  constructor(limit: number, sizeOf: (value: Value) => number) {
    this.#limit = limit
    this.#sizeOf = sizeOf
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.delete(key)
    const size = this.#cost(key, value)
    // One value must not push out everything else.
    if (size > this.#limit / 4) return
    this.#entries.set(key, value)
    this.#bytes += size
    for (const [oldest, old] of this.#entries) {
      if (this.#bytes <= this.#limit) break
      this.#entries.delete(oldest)
      this.#bytes -= this.#cost(oldest, old)
    }
  }

  delete(key: string): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#bytes -= this.#cost(key, value)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Keys are text of one byte per character, and an entry costs about 100 bytes by itself. */
  #cost(key: string, value: Value): number {
    return key.length + this.#sizeOf(value) + 100
  }
}
