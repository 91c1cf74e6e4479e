import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { ReportedEvent } from './event.ts'
import { type Arrival, recordBatch } from './record.ts'
import {
  countReports,
  deleteOldEventIds,
  deleteReports,
  insertEventIds,
  listReports,
  readReportPayload,
} from './report-queries.ts'

/** Reports of one transaction, and transactions of one run of the task: then other projects have their turn. */
const BATCH = 160
const BATCHES = 20
/** From so many reports at once on it is a storm, and waiting a moment makes larger batches of it. */
const STORM = 10
const GATHER_MS = 500
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
  return await inTransaction(ctx, async (ctx) => {
    // Nobody else removes them, unless their project is deleted.
    if ((await countReports(ctx.db, projectId, 1)) === 0) return 0
    const arrivals = reports.map(({ id, received_at, event }): Arrival => {
      return { event, receivedAt: received_at, payload: () => readReportPayload(ctx.db, id) }
    })
    await recordBatch(ctx, projectId, await onlyOnce(ctx, projectId, arrivals))
    await deleteReports(ctx.db, projectId, last.id)
    return reports.length
  })
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
