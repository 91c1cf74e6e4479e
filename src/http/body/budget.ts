import { throttled, unavailable } from '../../base/problem.ts'

export interface BudgetLimits {
  /** Bytes that all callers together may hold. */
  readonly inAll: number
  /** Bytes that one address may hold. */
  readonly each: number
}

const RETRY_SECONDS = 5

/** Bytes of bodies that are held at a time, in all and for each address. When none is left, a request is refused and may try again later. */
export class ByteBudget {
  readonly #limits: BudgetLimits
  readonly #held = new Map<string, number>()
  #inAll = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#inAll
  }

  /** An account of one request at an address. */
  open(address: string): Charge {
    return new Charge((bytes) => this.#add(address, bytes))
  }

  #add(address: string, bytes: number): void {
    const held = (this.#held.get(address) ?? 0) + bytes
    if (bytes > 0 && held > this.#limits.each) {
      throw throttled({ 'Retry-After': String(RETRY_SECONDS) })
    }
    if (bytes > 0 && this.#inAll + bytes > this.#limits.inAll) {
      throw unavailable(undefined, RETRY_SECONDS)
    }
    this.#inAll += bytes
    if (held === 0) this.#held.delete(address)
    else this.#held.set(address, held)
  }
}

/** What one request holds of a budget. */
export class Charge {
  readonly #add: (bytes: number) => void
  #bytes = 0

  constructor(add: (bytes: number) => void) {
    this.#add = add
  }

  /** Throws 429 or 503 when the budget is spent. */
  take(bytes: number): void {
    this.#add(bytes)
    this.#bytes += bytes
  }

  /** Gives everything back. */
  release(): void {
    this.#add(-this.#bytes)
    this.#bytes = 0
  }
}
