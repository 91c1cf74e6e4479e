import type { Instant } from '../base/clock.ts'
import type { Db } from '../store/schema.ts'
import { insertTask } from './queries.ts'

/** What `enqueue` needs to know of a task. */
export interface Enqueued<P> {
  readonly name: string
  readonly payload: { parse(value: unknown): P }
}

export interface EnqueueOptions {
  /** Not before this moment; at once without it. */
  readonly runAt?: Instant | undefined
  /** While one with this key waits, a second is not added. One that runs already does not count. */
  readonly uniqueKey?: string | undefined
}

/** Enqueues background work. */
export interface Work {
  /** Adds the task inside the caller's transaction: it exists if and only if the change that needs it does. */
  enqueue<P>(db: Db, task: Enqueued<P>, payload: P, options?: EnqueueOptions): Promise<void>
}

/** Work whose tasks are rows in the database; `wake` makes the runner of this process look. */
export function makeWork(now: () => Instant, wake: () => void = () => {}): Work {
  return {
    async enqueue(db, task, payload, options = {}) {
      const at = now()
      await insertTask(db, {
        name: task.name,
        payload: JSON.stringify(task.payload.parse(payload) ?? null),
        run_at: options.runAt ?? at,
        unique_key: options.uniqueKey ?? null,
        created_at: at,
      })
      wake()
    },
  }
}
