import { countedCache } from '../../base/byte-cache.ts'
import type { Instant } from '../../base/clock.ts'
import { throttled } from '../../base/problem.ts'
import { KeyedSemaphore } from '../../base/semaphore.ts'

interface Misses {
  since: number
  count: number
}

const PERIOD_MS = 10 * 60_000
const ALLOWED = 30
const MOST_ADDRESSES = 20_000
/** Passwords of one address that are compared at the same time, and that wait for it. */
const AT_ONCE = 4
const MOST_WAITING = 200

/**
 * Counts wrong passwords by address, in memory and bounded: an address that guesses is refused for a while, whoever it
 * guesses for. Nobody is locked out of their account, and tokens are not guesses (docs/faults 53).
 */
export class GuessLimit {
  readonly #misses = countedCache<Misses>(MOST_ADDRESSES)
  readonly #compared = new KeyedSemaphore({
    limit: AT_ONCE,
    maxWaiting: MOST_WAITING,
    busy: () => throttled({ 'Retry-After': '10' }),
  })

  /**
   * Compares a password, unless its address has guessed too often: a few of one address at a time, so that many guesses
   * sent at once are counted like those sent one after the other.
   */
  compare(ip: string, now: () => Instant, isRight: () => Promise<boolean>): Promise<boolean> {
    return this.#compared.run(ip, async () => {
      this.assertMayTry(ip, now())
      const right = await isRight()
      if (!right) this.missed(ip, now())
      return right
    })
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
