import { type Instant, later } from '../base/clock.ts'
import type { Db } from '../store/schema.ts'
import { inTransaction } from '../store/transaction.ts'
import { findLastRun, saveLastRun } from './queries.ts'
import type { Enqueued, Work } from './queue.ts'

const dayMs = 86_400_000

/** A task that comes round by the clock. A server that was off at the time does it once when it is back. */
export interface Schedule {
  readonly name: string
  /** Enqueues the task, in the transaction that notes the run. */
  readonly enqueue: (db: Db, work: Work) => Promise<void>
  /** The latest moment, not after `now`, at which it was to run. */
  readonly dueAt: (now: Instant) => Instant
}

/** Runs every so many milliseconds, counted from midnight UTC. */
export function every<P>(milliseconds: number, task: Enqueued<P>, payload: P): Schedule {
  return scheduled(task, payload, (now) => {
    const at = Date.parse(now)
    return later(now, -(at % milliseconds))
  })
}

/** Runs once a day, at `HH:MM` UTC. */
export function daily<P>(time: `${number}:${number}`, task: Enqueued<P>, payload: P): Schedule {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return scheduled(task, payload, (now) => {
    const today = `${now.slice(0, 10)}T00:00:00.000Z`
    const due = later(today, (hours * 60 + minutes) * 60_000)
    return due <= now ? due : later(due, -dayMs)
  })
}

/** Runs at the moments that a function gives: the latest that is not after `now`. */
export function cronSchedule<P>(task: Enqueued<P>, payload: P, dueAt: Schedule['dueAt']): Schedule {
  return scheduled(task, payload, dueAt)
}

function scheduled<P>(task: Enqueued<P>, payload: P, dueAt: (now: Instant) => Instant): Schedule {
  return {
    name: task.name,
    dueAt,
    enqueue: (db, work) => work.enqueue(db, task, payload, { uniqueKey: 'scheduled' }),
  }
}

/** Enqueues what has come round since it last ran. */
export async function enqueueScheduled(
  ctx: { readonly db: Db; readonly work: Work },
  schedules: readonly Schedule[],
  now: Instant,
): Promise<void> {
  for (const one of schedules) {
    const due = one.dueAt(now)
    const last = await findLastRun(ctx.db, one.name)
    // A run that is a week ahead was noted by a clock that was wrong: it keeps nothing from running.
    if (last !== undefined && last >= due && last <= later(now, 7 * dayMs)) continue
    await inTransaction(ctx, async (inner) => {
      await saveLastRun(inner.db, one.name, due)
      await one.enqueue(inner.db, inner.work)
    })
  }
}
