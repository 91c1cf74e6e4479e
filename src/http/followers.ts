import { callerKey } from '../access/caller-key.ts'
import { tooManyAtOnce, unavailable } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'

const AGAIN_SECONDS = 5

/** Connections that stay open to be sent what happens: so many in all, and of them so many of one user or address. */
export class Followers {
  readonly #most: number
  readonly #mostOfCaller: number
  /** What is followed, in the refusal: `logs`. */
  readonly #things: string
  #open = 0
  readonly #byCaller = new Map<string, number>()

  constructor(limits: {
    readonly most: number
    readonly ofCaller: number
    readonly things: string
  }) {
    this.#most = limits.most
    this.#mostOfCaller = limits.ofCaller
    this.#things = limits.things
  }

  /** Counts a follower until the function that it gives is called. */
  enter(ctx: Pick<Ctx, 'actor' | 'ip'>): () => void {
    const caller = callerKey(ctx) ?? ''
    const own = this.#byCaller.get(caller) ?? 0
    if (own >= this.#mostOfCaller) {
      const text = `No more than ${this.#mostOfCaller} ${this.#things} can be followed at a time. Try again later.`
      throw tooManyAtOnce(text, AGAIN_SECONDS)
    }
    if (this.#open >= this.#most) throw unavailable(undefined, AGAIN_SECONDS)
    this.#open += 1
    this.#byCaller.set(caller, own + 1)
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      this.#open -= 1
      const left = (this.#byCaller.get(caller) ?? 1) - 1
      if (left > 0) this.#byCaller.set(caller, left)
      else this.#byCaller.delete(caller)
    }
  }
}

/** Server-sent events as an answer. A proxy that gathers what it passes on would hold them back. */
export const eventStreamHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
}
