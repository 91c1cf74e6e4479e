/** Somebody who changes one thing again and again, and knows what must be true of it. */
export interface Writer {
  /** `push to push-0`. */
  readonly name: string
  /** Makes one change; gives whether the server has acknowledged it. */
  write(): Promise<Outcome>
  /** What is not as it was acknowledged, one sentence each; takes over what is there. */
  check(): Promise<string[]>
}

/** `refused` and its reason: the server answered that it did not do it. `lost`: there was no answer. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused' | 'lost'; readonly reason: string }

export const done: Outcome = { kind: 'done' }

/** What an answer says about a change. */
export function outcomeOf(reply: { readonly status: number; readonly body: unknown }): Outcome {
  if (reply.status < 300) return done
  return { kind: 'refused', reason: `${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}` }
}

/** An answer that did not come is no answer, whatever was done. */
export async function orLost(act: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await act()
  } catch (error) {
    return { kind: 'lost', reason: String(error) }
  }
}

/** A value of which the last acknowledged is known, and those that may have been written since. */
export class Known<T> {
  #acknowledged: T
  #possible: T[] = []

  constructor(value: T) {
    this.#acknowledged = value
  }

  get value(): T {
    return this.#acknowledged
  }

  /** Before it is written: from now on it may be there. */
  try(value: T): void {
    this.#possible.push(value)
  }

  /** The outcome of what was tried last. */
  answer(outcome: Outcome): void {
    const last = this.#possible.at(-1)
    if (outcome.kind !== 'done' || last === undefined) return
    this.#acknowledged = last
    this.#possible = []
  }

  /** Whether a value may be there; it is the known one from then on. */
  accept(value: T): boolean {
    const fine = value === this.#acknowledged || this.#possible.includes(value)
    this.#acknowledged = value
    this.#possible = []
    return fine
  }
}
