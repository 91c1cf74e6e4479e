import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import type { Db } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { ReportedEvent } from './event.ts'
import { packPayload } from './payload.ts'
import { type Arrival, keyOf, recordBatch } from './record.ts'
import {
  countReports,
  deleteOldEventIds,
  deleteReports,
  insertEventIds,
  listReportPayloads,
  listReports,
} from './report-queries.ts'

/** Reports of one transaction, and transactions of one run of the task: then other projects have their turn. */
const BATCH = 160
const BATCHES = 20
/** From so many reports at once on it is a storm, and waiting a moment makes larger batches of it. */
const STORM = 10
const GATHER_MS = 500
/** Payloads that are packed side by side, on other threads: each takes a quarter of a megabyte meanwhile. */
const PACKED_TOGETHER = 8
/** What is packed before its transaction; beyond it each payload is packed when it is stored, and let go of. */
const AHEAD_BYTES = 16 * 1024 * 1024
/** Latest events of a project whose ids are remembered: programs send again within minutes. */
const MOST_IDS = 5000

/** Projects whose reports are being recorded in this process. */
const running = new WeakMap<object, Set<number>>()

function recordedNow(ctx: Ctx): Set<number> {
  const known = running.get(ctx.work) ?? new Set()
  running.set(ctx.work, known)
  return known
}

/** Lets the reports of a project be recorded, in the transaction that appends them. */
export async function recordSoon(ctx: Ctx, projectId: number): Promise<void> {
  // The run that goes on looks once more at its end.
  if (!recordedNow(ctx).has(projectId)) await enqueue(ctx, projectId)
}

async function enqueue(ctx: Ctx, projectId: number): Promise<void> {
  const payload = { project_id: projectId }
  await ctx.work.enqueue(ctx.db, recordReports, payload, { uniqueKey: String(projectId) })
}

/** Counts the reports of a project in the order in which they came, and keeps a sample of them. */
export const recordReports = task({
  name: 'monitoring.record_reports',
  payload: z.object({ project_id: z.int() }),
  lane: 'gathering',
  async handler(ctx: Ctx, { project_id: projectId }, signal) {
    const recorded = recordedNow(ctx)
    if (recorded.has(projectId)) return
    recorded.add(projectId)
    try {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        signal.throwIfAborted()
        const taken = await recordOldest(ctx, projectId)
        if (taken < STORM) break
        if (taken < BATCH) await sleep(GATHER_MS, undefined, { signal })
      }
    } finally {
      recorded.delete(projectId)
    }
    await inTransaction(ctx, async (ctx) => {
      if ((await countReports(ctx.db, projectId, 1)) > 0) await enqueue(ctx, projectId)
    })
  },
})

/** Records the oldest reports of a project, and gives how many there were. */
async function recordOldest(ctx: Ctx, projectId: number): Promise<number> {
  const rows = await listReports(ctx.db, projectId, BATCH)
  const last = rows.at(-1)
  if (!last) return 0
  // Events were written by us in this shape.
  const reports = rows.map((row) => ({ ...row, event: JSON.parse(row.event) as ReportedEvent }))
  const latest = new Map(reports.map(({ id, event }) => [keyOf(event), id]))
  // The last event of each error is kept in any case: they are packed before the transaction, while others write.
  const packed = await packReports(ctx.db, [...latest.values()])
  return await inTransaction(ctx, async (ctx) => {
    // Nobody else removes them, unless their project is deleted.
    if ((await countReports(ctx.db, projectId, 1)) === 0) return 0
    const arrivals = reports.map(({ id, received_at, event }): Arrival => {
      const payload = async () => packed.get(id) ?? (await packReport(ctx.db, id))
      return { event, receivedAt: received_at, payload }
    })
    await recordBatch(ctx, projectId, await onlyOnce(ctx, projectId, arrivals))
    await deleteReports(ctx.db, projectId, last.id)
    return reports.length
  })
}

/** The packed payloads of the first of these reports, as many as may be held at once. */
async function packReports(db: Db, ids: readonly number[]): Promise<Map<number, Buffer>> {
  const packed = new Map<number, Buffer>()
  let bytes = 0
  for (let at = 0; at < ids.length && bytes < AHEAD_BYTES; at += PACKED_TOGETHER) {
    const reports = await listReportPayloads(db, ids.slice(at, at + PACKED_TOGETHER))
    const pack = async (report: (typeof reports)[number]) => {
      const payload = await packPayload(report.payload)
      packed.set(report.id, payload)
      bytes += payload.length
    }
    await Promise.all(reports.map(pack))
  }
  return packed
}

async function packReport(db: Db, id: number): Promise<Buffer> {
  const packed = (await packReports(db, [id])).get(id)
  if (!packed) throw new Error(`report ${id} is gone`)
  return packed
}

/** Leaves out what was sent before under the same id. */
async function onlyOnce(
  ctx: Ctx,
  projectId: number,
  arrivals: readonly Arrival[],
): Promise<Arrival[]> {
  const ids = arrivals.map(({ event }) => event.eventId)
  const fresh = await insertEventIds(ctx.db, projectId, ids)
  await deleteOldEventIds(ctx.db, projectId, MOST_IDS)
  return arrivals.filter(({ event }) => fresh.delete(event.eventId))
}
