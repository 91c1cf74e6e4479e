import type { Instant } from '../base/clock.ts'
import { throttled } from '../base/problem.ts'

interface Misses {
  since: number
  count: number
}

const PERIOD_MS = 10 * 60_000
const ALLOWED = 30
const MOST_ADDRESSES = 20_000

/**
 * Counts wrong passwords by address, in memory and bounded: an address that guesses is told to come later, whoever it
 * guesses for. Nobody is locked out of their account, and tokens are not guesses (FAULTS 53).
 */
export class GuessLimit {
  readonly #misses = new Map<string, Misses>()

  /** 429 while the address has too many wrong tries behind it. */
  assertMayTry(ip: string, now: Instant): void {
    const known = this.#misses.get(ip)
    if (!known) return
    const left = known.since + PERIOD_MS - Date.parse(now)
    if (left <= 0) this.#misses.delete(ip)
    else if (known.count >= ALLOWED) {
      throw throttled({ 'Retry-After': String(Math.ceil(left / 1000)) })
    }
  }

  missed(ip: string, now: Instant): void {
    const at = Date.parse(now)
    const known = this.#misses.get(ip)
    const misses = known && at - known.since < PERIOD_MS ? known : { since: at, count: 0 }
    misses.count += 1
    this.#misses.delete(ip)
    this.#misses.set(ip, misses)
    if (this.#misses.size <= MOST_ADDRESSES) return
    const oldest = this.#misses.keys().next().value
    if (oldest !== undefined) this.#misses.delete(oldest)
  }
}
