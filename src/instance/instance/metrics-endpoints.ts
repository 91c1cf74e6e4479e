import { statfs } from 'node:fs/promises'
import { metric } from '../../base/metrics.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
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
    ]
    return { type: 'text/plain; version=0.0.4; charset=utf-8', body: `${lines.join('\n')}\n` }
  },
})

/** Writes answer 507 when it is 0. */
async function diskLines(ctx: Ctx): Promise<string[]> {
  const { bavail, bsize } = await statfs(ctx.config.data)
  const what = 'Room on the disk of the data folder'
  return metric('gitstead_data_free_bytes', 'gauge', what, { '': bavail * bsize })
}

async function taskLines(ctx: Ctx): Promise<string[]> {
  const counts = await readTaskCounts(ctx.db, ctx.now())
  const { ready, running, dead } = counts
  const states = { 'state="ready"': ready, 'state="running"': running, 'state="dead"': dead }
  const waits =
    counts.oldest === null ? 0 : (Date.parse(ctx.now()) - Date.parse(counts.oldest)) / 1000
  return [
    ...metric('gitstead_tasks', 'gauge', 'Background tasks by state', states),
    ...metric('gitstead_tasks_added_total', 'counter', 'Tasks ever added', { '': counts.added }),
    ...metric('gitstead_tasks_oldest_seconds', 'gauge', 'How long the oldest due task waits', {
      '': Math.max(0, waits),
    }),
  ]
}

function engineLines(ctx: Ctx): string[] {
  const load = ctx.git.engine.load()
  const waiting = Object.fromEntries(
    Object.entries(load.waiting).map(([lane, count]) => [`lane="${lane}"`, count]),
  )
  return [
    ...metric('gitstead_engine_processes', 'gauge', 'Engine processes', { '': load.processes }),
    ...metric('gitstead_engine_calls_running', 'gauge', 'Calls that engines work on', {
      '': load.running,
    }),
    ...metric('gitstead_engine_calls_waiting', 'gauge', 'Calls that wait for an engine', waiting),
    ...metric('gitstead_engine_memory_bytes', 'gauge', 'Memory of all engine processes', {
      '': load.memory,
    }),
  ]
}

function processLines(): string[] {
  const memory = process.memoryUsage()
  const cpu = process.cpuUsage()
  return [
    ...metric('process_resident_memory_bytes', 'gauge', 'Memory of the main process', {
      '': memory.rss,
    }),
    ...metric('nodejs_heap_size_used_bytes', 'gauge', 'Used heap of the main process', {
      '': memory.heapUsed,
    }),
    ...metric('process_cpu_seconds_total', 'counter', 'Processor time of the main process', {
      '': (cpu.user + cpu.system) / 1e6,
    }),
    ...metric('process_uptime_seconds', 'gauge', 'How long the process runs', {
      '': Math.round(process.uptime()),
    }),
  ]
}
