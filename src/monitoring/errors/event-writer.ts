import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { ReportedEvent } from './event.ts'
import { recordBatch } from './record.ts'

interface Waiting {
  readonly event: ReportedEvent
  resolve(): void
  reject(error: unknown): void
}

/** Events of one transaction: a storm is written in few, and nobody else waits long to write. */
const BATCH = 64

/**
 * Writes reported events: those that come while a transaction runs share the next one. Of each project the oldest come
 * first, and projects take turns, so that a noisy one keeps no other waiting.
 */
class EventWriter {
  readonly #ctx: Ctx
  readonly #queues = new Map<number, Waiting[]>()
  #isRunning = false

  constructor(ctx: Ctx) {
    this.#ctx = ctx
  }

  /** Resolves when the event is on the disk. */
  add(projectId: number, event: ReportedEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(projectId) ?? []
      queue.push({ event, resolve, reject })
      this.#queues.set(projectId, queue)
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // Requests that were read together are written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#queues.size > 0) await this.#write(this.#take())
    this.#isRunning = false
  }

  /** One event of each project, round and round, until the batch is full. */
  #take(): Map<number, Waiting[]> {
    const taken = new Map<number, Waiting[]>()
    for (let left = BATCH; left > 0 && this.#queues.size > 0; ) {
      for (const [projectId, queue] of [...this.#queues]) {
        const first = queue.shift()
        if (queue.length === 0) this.#queues.delete(projectId)
        if (!first) continue
        taken.set(projectId, [...(taken.get(projectId) ?? []), first])
        left -= 1
        if (left === 0) break
      }
    }
    return taken
  }

  async #write(taken: ReadonlyMap<number, readonly Waiting[]>): Promise<void> {
    const all = [...taken.values()].flat()
    try {
      await inTransaction(this.#ctx, async (ctx) => {
        for (const [projectId, waiting] of taken) {
          await recordBatch(
            ctx,
            projectId,
            waiting.map((one) => one.event),
          )
        }
      })
      for (const one of all) one.resolve()
    } catch (error) {
      // A project that was just deleted must not cost another its events.
      if (taken.size > 1) {
        for (const [projectId, waiting] of taken) await this.#write(new Map([[projectId, waiting]]))
      } else for (const one of all) one.reject(error)
    }
  }
}

const writers = new WeakMap<object, EventWriter>()

/** Counts an event and keeps it where it is one to keep; resolves when that is on the disk. */
export function recordEvent(ctx: Ctx, projectId: number, event: ReportedEvent): Promise<void> {
  const writer = writers.get(ctx.db) ?? new EventWriter(ctx)
  writers.set(ctx.db, writer)
  return writer.add(projectId, event)
}
