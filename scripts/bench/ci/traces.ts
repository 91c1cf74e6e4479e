import { setTimeout as sleep } from 'node:timers/promises'
import { callApi } from '../call-api.ts'
import { percentile, type Row } from '../measure.ts'
import type { BenchServer } from '../server.ts'
import { endJob, type GivenJob, nextJob } from './protocol.ts'

const JOBS = 50
const BYTES_EACH_SECOND = 100_000
const SECONDS = 10
/** Stock runners send a chunk every three seconds at most while somebody looks; here it is every second. */
const CHUNK_MS = 1000

interface Place {
  readonly server: BenchServer
  readonly projectId: number
  readonly runner: string
}

/** Jobs that all write their logs at once, and what other requests feel of it. */
export async function* benchTraces({ server, projectId, runner }: Place): AsyncGenerator<Row> {
  await callApi(server, 'POST', `/projects/${projectId}/pipeline`, { ref: 'logs' })
  const jobs: GivenJob[] = []
  while (jobs.length < JOBS) jobs.push(await nextJob(server, runner))
  const writing = Promise.all(jobs.map((job, index) => write(server, job, index)))
  const times: number[] = []
  let isOver = false
  void writing.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const start = performance.now()
    await callApi(server, 'GET', `/projects/${projectId}/pipelines?per_page=20`)
    times.push(performance.now() - start)
    await sleep(20)
  }
  const refused = (await writing).reduce((sum, count) => sum + count, 0)
  const lost = await bytesMissing(server, projectId, jobs)
  for (const job of jobs) await endJob(server, job)
  const value = percentile(times, 0.99)
  const what = `${JOBS} jobs writing ${BYTES_EACH_SECOND / 1000} kB/s of log each`
  yield {
    what: `${what}: another request, p99`,
    ours: `${value.toFixed(0)} ms`,
    theirs: '',
    value,
    unit: 'ms',
    limit: 50,
  }
  yield {
    what: `${what}: bytes lost or refused`,
    ours: `${lost + refused}`,
    theirs: '',
    value: lost + refused,
    unit: 'count',
    limit: 0,
  }
}

/** Writes the log of a job, a chunk each second, each job at a moment of its own; how many chunks were refused. */
async function write(server: BenchServer, job: GivenJob, index: number): Promise<number> {
  await sleep((index * CHUNK_MS) / JOBS)
  const line = `${'x'.repeat(99)}\n`
  const chunk = Buffer.from(line.repeat(BYTES_EACH_SECOND / line.length))
  let refused = 0
  for (let second = 0; second < SECONDS; second += 1) {
    const due = performance.now() + CHUNK_MS
    const start = second * chunk.length
    const response = await fetch(`${server.url}/api/v4/jobs/${job.id}/trace`, {
      method: 'PATCH',
      headers: {
        'JOB-TOKEN': job.token,
        'Content-Type': 'text/plain',
        'Content-Range': `${start}-${start + chunk.length - 1}`,
      },
      body: chunk,
    })
    await response.arrayBuffer()
    if (response.status !== 202) refused += 1
    await sleep(Math.max(0, due - performance.now()))
  }
  return refused
}

async function bytesMissing(
  server: BenchServer,
  projectId: number,
  jobs: readonly GivenJob[],
): Promise<number> {
  let missing = 0
  for (const job of jobs) {
    const path = `${server.url}/api/v4/projects/${projectId}/jobs/${job.id}/trace`
    const response = await fetch(path, { headers: { 'PRIVATE-TOKEN': server.token } })
    missing += BYTES_EACH_SECOND * SECONDS - (await response.arrayBuffer()).byteLength
  }
  return missing
}
