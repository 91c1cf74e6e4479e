import { hostname } from 'node:os'
import { z } from 'zod'
import { onInstance } from '../../access/subjects.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { readTaskCounts, type TaskCounts } from './queries.ts'

// The names are those of the reference's queue, which scripts of operators know; the numbers are of our own.
const queues = z.record(z.string(), z.strictObject({ backlog: z.int(), latency: z.int() }))
const processes = z.array(
  z.strictObject({
    hostname: z.string(),
    pid: z.int(),
    tag: z.string(),
    started_at: z.string(),
    queues: z.array(z.string()),
    labels: z.array(z.string()),
    concurrency: z.int(),
    busy: z.int(),
  }),
)
const jobs = z.strictObject({
  processed: z.int(),
  failed: z.int(),
  enqueued: z.int(),
  dead: z.int(),
})

/** Places of the runner in both lanes. */
const CONCURRENCY = 6

function presentQueues(counts: TaskCounts, ctx: Ctx): z.input<typeof queues> {
  const waited = counts.oldest === null ? 0 : Date.parse(ctx.now()) - Date.parse(counts.oldest)
  return { default: { backlog: counts.ready, latency: Math.max(0, Math.round(waited / 1000)) } }
}

function presentProcesses(counts: TaskCounts, ctx: Ctx): z.input<typeof processes> {
  return [
    {
      hostname: hostname(),
      pid: process.pid,
      tag: 'gitstead',
      started_at: later(ctx.now(), -Math.round(process.uptime() * 1000)),
      queues: ['default'],
      labels: [],
      concurrency: CONCURRENCY,
      busy: counts.running,
    },
  ]
}

/** A task that is done leaves the table, so what was added and is not there any more was processed. */
function presentJobs(counts: TaskCounts): z.input<typeof jobs> {
  return {
    processed: Math.max(0, counts.added - counts.ready - counts.running - counts.dead),
    failed: counts.failing + counts.dead,
    enqueued: counts.ready,
    dead: counts.dead,
  }
}

export const getQueueMetrics = endpoint({
  method: 'GET',
  path: '/sidekiq/queue_metrics',
  summary: 'Count the background tasks that wait, and how long they do',
  access: onInstance(),
  response: z.strictObject({ queues }),
  handler: async ({ ctx }) => ({
    queues: presentQueues(await readTaskCounts(ctx.db, ctx.now()), ctx),
  }),
})

export const getProcessMetrics = endpoint({
  method: 'GET',
  path: '/sidekiq/process_metrics',
  summary: 'List the processes that run background tasks',
  access: onInstance(),
  response: z.strictObject({ processes }),
  handler: async ({ ctx }) => ({
    processes: presentProcesses(await readTaskCounts(ctx.db, ctx.now()), ctx),
  }),
})

export const getJobStats = endpoint({
  method: 'GET',
  path: '/sidekiq/job_stats',
  summary: 'Count background tasks by what became of them',
  access: onInstance(),
  response: z.strictObject({ jobs }),
  handler: async ({ ctx }) => ({ jobs: presentJobs(await readTaskCounts(ctx.db, ctx.now())) }),
})

export const getCompoundMetrics = endpoint({
  method: 'GET',
  path: '/sidekiq/compound_metrics',
  summary: 'Get all three of the queue',
  access: onInstance(),
  response: z.strictObject({ queues, processes, jobs }),
  async handler({ ctx }) {
    const counts = await readTaskCounts(ctx.db, ctx.now())
    return {
      queues: presentQueues(counts, ctx),
      processes: presentProcesses(counts, ctx),
      jobs: presentJobs(counts),
    }
  },
})
