import { countedCache } from '../../base/byte-cache.ts'
import type { Instant } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { sharingAddress } from '../../base/outbound/address.ts'
import { throttled } from '../../base/problem.ts'
import { KeyedSemaphore } from '../../base/semaphore.ts'

interface Misses {
  since: number
  count: number
}

/** Somebody at an address who says to be somebody. */
export interface Guess {
  readonly ip: string
  /** The name or e-mail that was given. Both of one user count apart: else the limit would reveal that they are of one. */
  readonly account: string
  /** The user who has it. */
  readonly userId: number | undefined
  readonly log: Log
  now(): Instant
}

const PERIOD_MS = 10 * 60_000
/** Wrong passwords of one address for one account. */
const ALLOWED = 30
/** The same for all accounts together. */
const ALLOWED_OF_ADDRESS = 300
const MOST_COUNTED = 50_000
/** Passwords of one address that are compared at the same time, and that wait for it; half of both for one account. */
const AT_ONCE = 4
const MOST_WAITING = 200

/**
 * Counts wrong passwords by address and account, in memory and bounded: who guesses is refused for a while, and others
 * behind the same address are not. An address that guesses for many accounts is refused as a whole, but for those who have
 * signed in from there. Nobody is locked out of their account elsewhere, and tokens are not guesses (docs/faults 53).
 */
export class GuessLimit {
  readonly #misses = countedCache<Misses>(MOST_COUNTED)
  readonly #atHome = countedCache<true>(MOST_COUNTED)
  readonly #compared = new KeyedSemaphore({
    limit: AT_ONCE,
    maxWaiting: MOST_WAITING,
    share: 0.5,
    busy: () => throttled({ 'Retry-After': '10' }),
  })

  /**
   * Compares a password, unless it was guessed too often: a few of one address at a time, so that many guesses sent at once
   * are counted like those sent one after the other.
   */
  async compare(guess: Guess, isRight: () => Promise<boolean>): Promise<boolean> {
    this.assertMayTry(guess)
    const { address, account } = keysOf(guess)
    const compare = async () => {
      this.assertMayTry(guess)
      const right = await isRight()
      if (right) this.#atHome.set(account, true)
      else this.missed(guess)
      return right
    }
    return await this.#compared.run(address, compare, account)
  }

  /** 429 while there are too many wrong tries. */
  assertMayTry(guess: Guess): void {
    const { address, account } = keysOf(guess)
    const now = Date.parse(guess.now())
    const ofAddress = this.#atHome.has(account) ? 0 : this.#left(address, ALLOWED_OF_ADDRESS, now)
    const left = Math.max(this.#left(account, ALLOWED, now), ofAddress)
    if (left > 0) throw throttled({ 'Retry-After': String(Math.ceil(left / 1000)) })
  }

  missed(guess: Guess): void {
    const { address, account } = keysOf(guess)
    const now = Date.parse(guess.now())
    const about = {
      ip: guess.ip,
      // What was given for a name may be a password.
      ...(guess.userId === undefined ? {} : { user_id: guess.userId }),
    }
    const minutes = PERIOD_MS / 60_000
    if (this.#count(account, now) === ALLOWED) {
      guess.log.warn(
        `too many wrong passwords for an account, refused for ${minutes} minutes`,
        about,
      )
    }
    if (this.#count(address, now) === ALLOWED_OF_ADDRESS) {
      const text = `too many wrong passwords from an address, refused for ${minutes} minutes`
      guess.log.warn(text, { ip: guess.ip })
    }
  }

  #count(key: string, now: number): number {
    const known = this.#misses.get(key)
    const misses = known && now - known.since < PERIOD_MS ? known : { since: now, count: 0 }
    misses.count += 1
    this.#misses.set(key, misses)
    return misses.count
  }

  /** Milliseconds for which tries are refused. */
  #left(key: string, allowed: number, now: number): number {
    const known = this.#misses.get(key)
    if (!known) return 0
    const left = known.since + PERIOD_MS - now
    if (left <= 0) this.#misses.delete(key)
    return known.count < allowed ? 0 : left
  }
}

function keysOf({ ip, account }: Guess) {
  const address = sharingAddress(ip)
  return { address, account: `${address} ${account.toLowerCase().slice(0, 255)}` }
}
