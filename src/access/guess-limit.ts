import { LRUCache } from 'lru-cache'
import type { Instant } from '../base/clock.ts'
import { throttled } from '../base/problem.ts'

interface Misses {
  since: number
  count: number
}

/** What waits for its turn to be compared, by address. */
interface Line {
  running: number
  readonly waiting: (() => void)[]
}

const PERIOD_MS = 10 * 60_000
const ALLOWED = 30
const MOST_ADDRESSES = 20_000
/** Passwords of one address that are compared at the same time, and that wait for it. */
const AT_ONCE = 4
const MOST_WAITING = 200

/**
 * Counts wrong passwords by address, in memory and bounded: an address that guesses is told to come later, whoever it
 * guesses for. Nobody is locked out of their account, and tokens are not guesses (FAULTS 53).
 */
export class GuessLimit {
  readonly #misses = new LRUCache<string, Misses>({ max: MOST_ADDRESSES })
  readonly #lines = new Map<string, Line>()

  /**
   * Compares a password, unless its address has guessed too often: a few of one address at a time, so that many guesses
   * sent at once are counted like those sent one after the other.
   */
  async compare(ip: string, now: () => Instant, isRight: () => Promise<boolean>): Promise<boolean> {
    const leave = await this.#enter(ip)
    try {
      this.assertMayTry(ip, now())
      const right = await isRight()
      if (!right) this.missed(ip, now())
      return right
    } finally {
      leave()
    }
  }

  async #enter(ip: string): Promise<() => void> {
    const line = this.#lines.get(ip) ?? { running: 0, waiting: [] }
    this.#lines.set(ip, line)
    if (line.waiting.length >= MOST_WAITING) throw throttled({ 'Retry-After': '10' })
    if (line.running < AT_ONCE) line.running += 1
    else await new Promise<void>((resolve) => line.waiting.push(resolve))
    return () => {
      const next = line.waiting.shift()
      if (next) next()
      else line.running -= 1
      if (line.running === 0) this.#lines.delete(ip)
    }
  }

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
    this.#misses.set(ip, misses)
  }
}
