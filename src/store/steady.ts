import type { Changes, Moment } from './changes.ts'
import type { Recording } from './recording.ts'
import type { Db } from './schema.ts'

/** Answers that are kept; the oldest go first. */
const kept = 1000

interface Answer {
  readonly value: unknown
  readonly moment: Moment
  readonly tables: ReadonlySet<string>
}

/** Answers of one database, each valid for as long as the tables that it was read from stay as they are. */
class Steady {
  readonly #changes: Changes
  readonly #record: () => Recording
  readonly #answers = new Map<string, Answer>()

  constructor(changes: Changes, record: () => Recording) {
    this.#changes = changes
    this.#record = record
  }

  async read<T>(key: string, ask: (db: Db) => Promise<T>): Promise<T> {
    const known = this.#answers.get(key)
    if (known) {
      // Only `ask` of the same key stored here, so the type is the asker's.
      if (this.#changes.isSame(known.moment, known.tables)) return known.value as T
      this.#answers.delete(key)
    }
    const recording = this.#record()
    const moment = this.#changes.now()
    const value = await ask(recording.db)
    const tables = recording.tables()
    // What was written meanwhile may be in the answer or not.
    const isSound = tables !== undefined && tables.size > 0 && this.#changes.isSame(moment, tables)
    if (isSound) this.#keep(key, { value, moment, tables })
    return value
  }

  #keep(key: string, answer: Answer): void {
    this.#answers.set(key, answer)
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > kept && oldest !== undefined) this.#answers.delete(oldest)
  }
}

const known = new WeakMap<object, Steady>()

/** Lets a database keep answers. */
export function keepSteady(db: Db, changes: Changes, record: () => Recording): void {
  known.set(db, new Steady(changes, record))
}

/**
 * The answer of a query that nearly every request asks (who is behind a token, which project a path means), without
 * asking again as long as nothing was written to the tables that it was read from, by this process, or at all by
 * another. `ask` reads by the database that it is given, which notes the tables. Inside a transaction it is always
 * asked. The answer is shared: nobody may change it.
 */
export function steadily<T>(db: Db, key: string, ask: (db: Db) => Promise<T>): Promise<T> {
  return known.get(db)?.read(key, ask) ?? ask(db)
}
