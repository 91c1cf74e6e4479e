import { shareOf } from '../../base/semaphore.ts'
import type { Call } from './child.ts'

interface Limits {
  /** Calls that may wait. */
  readonly waiting: number
  /** How many of them, and of those that run, may be of one caller. */
  readonly share: number
  /** Calls that one caller may have running; any number where they end by themselves. */
  runningOf(): number
}

/** The calls of one lane that wait for a process, and how many each caller has running. */
export class CallQueue {
  readonly #limits: Limits
  readonly #running = new Map<string, number>()
  #waiting: Call[] = []

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#waiting.filter(({ finished }) => !finished).length
  }

  /** Whether one more of this caller may wait. */
  hasRoom(caller: string | undefined): boolean {
    const { waiting, share } = this.#limits
    const most = caller === undefined ? waiting : shareOf(waiting, share)
    if (this.#waiting.length >= most) this.#forgetFinished()
    if (this.#waiting.length < most) return true
    if (this.#waiting.length >= waiting) return false
    return this.#waiting.filter((one) => one.caller === caller).length < most
  }

  add(call: Call): void {
    this.#waiting.push(call)
  }

  /** Before all others: a process took it, and died. */
  addFirst(call: Call): void {
    this.#waiting.unshift(call)
  }

  /** The call to run next: the first of the caller that has the fewest running, and not more than its share. */
  next(): Call | undefined {
    if (this.#waiting[0]?.finished) this.#forgetFinished()
    const most = this.#limits.runningOf()
    let next: Call | undefined
    for (const call of this.#waiting) {
      const running = this.#runningOf(call.caller)
      if (call.finished || (call.caller !== undefined && running >= most)) continue
      if (!next || running < this.#runningOf(next.caller)) next = call
      if (running === 0) break
    }
    return next
  }

  /** It runs from now on, until `ended`. */
  begin(call: Call): void {
    this.#waiting.splice(this.#waiting.indexOf(call), 1)
    if (call.caller === undefined) return
    this.#running.set(call.caller, this.#runningOf(call.caller) + 1)
  }

  ended({ caller }: Call): void {
    if (caller === undefined) return
    const left = this.#runningOf(caller) - 1
    if (left > 0) this.#running.set(caller, left)
    else this.#running.delete(caller)
  }

  /** Takes all that wait. */
  clear(): Call[] {
    return this.#waiting.splice(0)
  }

  #runningOf(caller: string | undefined): number {
    return caller === undefined ? 0 : (this.#running.get(caller) ?? 0)
  }

  #forgetFinished(): void {
    this.#waiting = this.#waiting.filter(({ finished }) => !finished)
  }
}
