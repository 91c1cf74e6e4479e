import { LRUCache } from 'lru-cache'
import type { Instant } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { ReportedEvent } from './event.ts'
import { overQuota } from './over-quota.ts'
import { packPayload } from './payload.ts'
import { recordSoon } from './record-reports.ts'
import { insertReports } from './report-queries.ts'
import { countWaiting, ERROR_BYTES, readKeptBytes } from './size-queries.ts'

/** An event that a program sent, and its JSON, which waits packed. */
export interface Report {
  readonly event: ReportedEvent
  readonly payload: Buffer
  /** When it was taken in: it may wait for its turn to be written. */
  readonly receivedAt: Instant
}

interface Waiting {
  readonly reports: readonly Report[]
  resolve(): void
  reject(error: unknown): void
}

/** Requests of one transaction: nobody else waits long to write. */
const BATCH = 64
/** Reports of a project that may wait to be counted: they are on the disk as they came. */
const MOST_WAITING = 10_000
/** Seconds until a project that keeps as much as it may has forgotten some of it. */
const UNTIL_FORGOTTEN = 3600

/** What a project may take in. */
interface Room {
  readonly reports: number
  readonly bytes: number
}

/**
 * Appends reports to the queue of their project. Those that come while a transaction runs share the next one; projects
 * take turns, so that a noisy one keeps no other waiting.
 */
class ReportWriter {
  readonly #ctx: Ctx
  readonly #queues = new Map<number, Waiting[]>()
  /** What there is room for in a project at least, since it was counted last. */
  readonly #room = new LRUCache<number, Room>({ max: 10_000 })
  #isRunning = false

  constructor(ctx: Ctx) {
    this.#ctx = ctx
  }

  add(projectId: number, reports: readonly Report[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(projectId) ?? []
      queue.push({ reports, resolve, reject })
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

  /** One request of each project, round and round, until the batch is full. */
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
          const reports = waiting.flatMap((one) => one.reports)
          await this.#assertRoom(ctx, projectId, reports)
          await append(ctx, projectId, reports)
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

  /** Nobody else adds reports, so that what was counted is looked at again only when it may be used up. */
  async #assertRoom(ctx: Ctx, projectId: number, reports: readonly Report[]): Promise<void> {
    const bytes = reports.reduce((sum, { payload }) => sum + payload.length + ERROR_BYTES, 0)
    let room = this.#room.get(projectId) ?? { reports: 0, bytes: 0 }
    if (room.reports < reports.length || room.bytes < bytes) {
      room = await roomIn(ctx, projectId)
      if (room.reports <= 0) throw overQuota(10)
      if (room.bytes < bytes) throw overQuota(UNTIL_FORGOTTEN)
    }
    const left = Math.max(0, room.reports - reports.length)
    this.#room.set(projectId, { reports: left, bytes: room.bytes - bytes })
  }
}

async function roomIn({ db, config }: Ctx, projectId: number): Promise<Room> {
  const waiting = await countWaiting(db, projectId, MOST_WAITING)
  const most = config.maxProjectErrors
  // Each may be of an error that is not known.
  const coming = waiting.bytes + waiting.reports * ERROR_BYTES
  const taken = coming + (await readKeptBytes(db, projectId))
  return {
    reports: MOST_WAITING - waiting.reports,
    bytes: most === 0 ? Number.POSITIVE_INFINITY : most - taken,
  }
}

async function append(ctx: Ctx, projectId: number, reports: readonly Report[]): Promise<void> {
  const rows = reports.map(({ event, payload, receivedAt }) => ({
    project_id: projectId,
    received_at: receivedAt,
    event: JSON.stringify(event),
    payload,
  }))
  // One envelope may hold more events than a statement has places.
  for (let at = 0; at < rows.length; at += BATCH) {
    await insertReports(ctx.db, rows.slice(at, at + BATCH))
  }
  await recordSoon(ctx, projectId)
}

const writers = new WeakMap<object, ReportWriter>()

/** Appends the reports of one request; resolves when they are on the disk. What counts them runs behind it. */
export async function appendReports(
  ctx: Ctx,
  projectId: number,
  reports: readonly Report[],
): Promise<void> {
  const writer = writers.get(ctx.db) ?? new ReportWriter(ctx)
  writers.set(ctx.db, writer)
  const packed: Report[] = []
  for (const report of reports) {
    packed.push({ ...report, payload: await packPayload(report.payload) })
  }
  await writer.add(projectId, packed)
}
