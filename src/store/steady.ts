import type { Db } from './schema.ts'

/** Answers that are kept; the oldest go first. */
const kept = 1000

/** Answers of one database, valid for as long as nothing is written to it. */
class Steady {
  readonly #version: () => unknown
  readonly #answers = new Map<string, unknown>()
  #at: unknown

  constructor(version: () => unknown) {
    this.#version = version
  }

  async read<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const at = this.#version()
    if (at !== this.#at) {
      this.#answers.clear()
      this.#at = at
    }
    // Only `ask` of the same key stored here, so the type is the asker's.
    if (this.#answers.has(key)) return this.#answers.get(key) as T
    const answer = await ask()
    // What was written meanwhile may be in the answer or not.
    if (this.#at === at && this.#version() === at) this.#keep(key, answer)
    return answer
  }

  #keep(key: string, answer: unknown): void {
    this.#answers.set(key, answer)
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > kept && oldest !== undefined) this.#answers.delete(oldest)
  }
}

const known = new WeakMap<object, Steady>()

/** Lets a database keep answers. `version` gives another value after every commit of anybody. */
export function keepSteady(db: Db, version: () => unknown): void {
  known.set(db, new Steady(version))
}

/**
 * The answer of a query that nearly every request asks (who is behind a token, which project a path means), without
 * asking again as long as nothing at all was written. Inside a transaction it is always asked. The answer is shared:
 * nobody may change it.
 */
export function steadily<T>(db: Db, key: string, ask: () => Promise<T>): Promise<T> {
  return known.get(db)?.read(key, ask) ?? ask()
}
