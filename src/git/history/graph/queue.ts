/** A queue of commits: the greatest key first, among equals the one that came first (as git's). */
export class CommitQueue {
  #positions = new Int32Array(256)
  #keys = new Float64Array(256)
  #arrivals = new Float64Array(256)
  #length = 0
  #arrived = 0

  push(position: number, key: number): void {
    if (this.#length === this.#positions.length) this.#grow()
    this.#arrived += 1
    const arrival = this.#arrived
    let at = this.#length
    this.#length += 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#comesBefore(key, arrival, above)) break
      this.#move(above, at)
      at = above
    }
    this.#put(at, position, key, arrival)
  }

  /** Takes the next commit out; −1 when there is none. */
  pop(): number {
    if (this.#length === 0) return -1
    const first = this.#positions[0] ?? -1
    this.#length -= 1
    const last = this.#length
    if (last > 0) {
      this.#sink(this.#positions[last] ?? 0, this.#keys[last] ?? 0, this.#arrivals[last] ?? 0)
    }
    return first
  }

  #sink(position: number, key: number, arrival: number): void {
    let at = 0
    for (;;) {
      let below = at * 2 + 1
      if (below >= this.#length) break
      const right = below + 1
      if (
        right < this.#length &&
        this.#comesBefore(this.#keys[right] ?? 0, this.#arrivals[right] ?? 0, below)
      ) {
        below = right
      }
      if (this.#comesBefore(key, arrival, below)) break
      this.#move(below, at)
      at = below
    }
    this.#put(at, position, key, arrival)
  }

  #comesBefore(key: number, arrival: number, at: number): boolean {
    const other = this.#keys[at] ?? 0
    return key > other || (key === other && arrival < (this.#arrivals[at] ?? 0))
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#positions[from] ?? 0, this.#keys[from] ?? 0, this.#arrivals[from] ?? 0)
  }

  #put(at: number, position: number, key: number, arrival: number): void {
    this.#positions[at] = position
    this.#keys[at] = key
    this.#arrivals[at] = arrival
  }

  #grow(): void {
    const size = this.#positions.length * 2
    this.#positions = grown(new Int32Array(size), this.#positions)
    this.#keys = grown(new Float64Array(size), this.#keys)
    this.#arrivals = grown(new Float64Array(size), this.#arrivals)
  }
}

/** A larger table with what was in the smaller one. */
export function grown<Table extends Float64Array | Int32Array>(to: Table, from: Table): Table {
  to.set(from)
  return to
}
