/** Random numbers that are the same for the same seed, so that a failure can be made again. */
export class Random {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds must not give neighbouring numbers.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    for (let i = 0; i < 4; i += 1) this.fraction()
  }

  /** From 0 up to 1, which is left out (mulberry32). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1))
  }

  /** True in so many of a hundred cases. */
  percent(chance: number): boolean {
    return this.fraction() * 100 < chance
  }

  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.fraction() * values.length)]
    if (value === undefined && values.length === 0) throw new Error('nothing to pick from')
    return value as T // the index is below the length
  }

  /** Some of the values, in their order. */
  some<T>(values: readonly T[], chance: number): T[] {
    return values.filter(() => this.percent(chance))
  }

  /** A word of lower-case letters. */
  word(length = 8): string {
    return Array.from({ length }, () => String.fromCharCode(97 + this.integer(0, 25))).join('')
  }

  bytes(length: number): Buffer {
    const made = Buffer.allocUnsafe(length)
    for (let i = 0; i < length; i += 1) made[i] = this.integer(0, 255)
    return made
  }
}

/** The numbers of one case of a round: case 17 is the same whether or not case 16 ran. */
export function randomOf(seed: number, at: number): Random {
  return new Random(Math.imul(seed, 1_000_003) + at)
}
