import { statfs } from 'node:fs/promises'
import { metric } from '../../base/metrics.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { backupLines } from '../backups/metrics.ts'
import { healthLines } from '../health/metrics.ts'
import { onThisMachine } from './access.ts'
import { readTaskCounts } from './queries.ts'

export const getMetrics = endpoint({
  method: 'GET',
  path: '/-/metrics',
  host: true,
  summary: 'Figures of the process for Prometheus: requests, tasks, engines, memory',
  access: onThisMachine(),
  response: bytes('text/plain'),
  async handler({ ctx }) {
    const lines = [
      ...ctx.metrics.lines(),
      ...(await taskLines(ctx)),
      ...engineLines(ctx),
      ...processLines(),
      ...(await diskLines(ctx)),
      ...(await backupLines(ctx.db)),
      ...(await healthLines(ctx.db)),
    ]
    return { type: 'text/plain; version=0.0.4; charset=utf-8', body: `${lines.join('\n')}\n` }
  },
})

/** A figure by itself. */
function gauge(name: string, help: string, value: number): string[] {
  return metric(name, 'gauge', help, { '': value })
}

function counter(name: string, help: string, value: number): string[] {
  return metric(name, 'counter', help, { '': value })
}

/** Writes answer 507 when it is 0. */
async function diskLines(ctx: Ctx): Promise<string[]> {
  const { bavail, bsize } = await statfs(ctx.config.data)
  return gauge('gitstead_data_free_bytes', 'Room on the disk of the data folder', bavail * bsize)
}

async function taskLines(ctx: Ctx): Promise<string[]> {
  const counts = await readTaskCounts(ctx.db, ctx.now())
  const { ready, running, dead } = counts
  const states = { 'state="ready"': ready, 'state="running"': running, 'state="dead"': dead }
  const waits =
    counts.oldest === null ? 0 : (Date.parse(ctx.now()) - Date.parse(counts.oldest)) / 1000
  return [
    ...metric('gitstead_tasks', 'gauge', 'Background tasks by state', states),
    ...counter('gitstead_tasks_added_total', 'Tasks ever added', counts.added),
    ...gauge(
      'gitstead_tasks_oldest_seconds',
      'How long the oldest due task waits',
      Math.max(0, waits),
    ),
  ]
}

function engineLines(ctx: Ctx): string[] {
  const load = ctx.git.engine.load()
  const waiting = Object.fromEntries(
    Object.entries(load.waiting).map(([lane, count]) => [`lane="${lane}"`, count]),
  )
  return [
    ...gauge('gitstead_engine_processes', 'Engine processes', load.processes),
    ...gauge('gitstead_engine_calls_running', 'Calls that engines work on', load.running),
    ...metric('gitstead_engine_calls_waiting', 'gauge', 'Calls that wait for an engine', waiting),
    ...gauge('gitstead_engine_memory_bytes', 'Memory of all engine processes', load.memory),
  ]
}

function processLines(): string[] {
  const { rss, heapUsed } = process.memoryUsage()
  const cpu = process.cpuUsage()
  const seconds = (cpu.user + cpu.system) / 1e6
  return [
    ...gauge('process_resident_memory_bytes', 'Memory of the main process', rss),
    ...gauge('nodejs_heap_size_used_bytes', 'Used heap of the main process', heapUsed),
    ...counter('process_cpu_seconds_total', 'Processor time of the main process', seconds),
    ...gauge('process_uptime_seconds', 'How long the process runs', Math.round(process.uptime())),
  ]
}
