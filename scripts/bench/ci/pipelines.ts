import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { callApi } from '../call-api.ts'
import { git, median, milliseconds, percentile, type Row } from '../measure.ts'
import { type BenchServer, memoryOfAll } from '../server.ts'
import { benchArtifacts } from './artifacts.ts'
import { benchLists } from './lists.ts'
import { addRunner, ask, endJob, nextJob } from './protocol.ts'
import { benchTraces } from './traces.ts'

const PUSHES = 20
const IDLE_RUNNERS = 100
const IDLE_MS = 10_000

interface Place {
  readonly server: BenchServer
  readonly folder: string
  readonly say: (line: string) => void
}

/** From a push to a runner, a pipeline of many jobs, and what runners cost that find nothing. */
export async function* benchPipelines({ server, folder, say }: Place): AsyncGenerator<Row> {
  const work = join(folder, 'pipelines')
  await mkdir(work, { recursive: true })
  await git(work, ['init', '--quiet', '--initial-branch=main'])
  await git(work, ['remote', 'add', 'origin', server.remote('pipelines')])
  await commit(work, { '.svc-ci.yml': 'x: {script: [y]}\n' })
  await git(work, ['push', '--quiet', 'origin', 'main'])
  const [project] = (await callApi(server, 'GET', '/projects?search=pipelines')).body as {
    id: number
  }[]
  const id = project?.id ?? 0
  const runner = await addRunner(server, id)
  say('pipelines: push to runner')
  yield await benchPick(server, work, runner)
  say('pipelines: many jobs')
  const { row, pipelineId } = await benchMany(server, work, id)
  yield row
  say('pipelines: logs')
  await branch(work, 'logs', Array.from({ length: 50 }, (_, n) => `j${n}: {script: y}`).join('\n'))
  yield* benchTraces({ server, projectId: id, runner })
  say('pipelines: artifacts')
  await branch(work, 'one', 'x: {script: y}')
  const place = { server, projectId: id, runner, folder }
  await callApi(server, 'PUT', `/projects/${id}`, { max_artifacts_size: 2000 })
  yield* benchArtifacts(place)
  say('pipelines: idle runners')
  yield* benchIdle(server, id)
  say('pipelines: lists')
  yield* benchLists({ server, projectId: id, pipelineId })
}

/** Pushes a branch with a configuration of its own; its pipelines are made by request. */
async function branch(work: string, name: string, config: string): Promise<void> {
  await git(work, ['checkout', '--quiet', '-b', name])
  await commit(work, { '.svc-ci.yml': config })
  await git(work, ['push', '--quiet', '-o', 'ci.skip', 'origin', name])
}

async function commit(work: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(work, name), content)
  await git(work, ['add', '.'])
  await git(work, ['commit', '--quiet', '--message', 'Change'])
}

async function benchPick(server: BenchServer, work: string, token: string): Promise<Row> {
  const times: number[] = []
  await drain(server, token)
  for (let turn = 0; turn < PUSHES; turn += 1) {
    await commit(work, { turn: String(turn) })
    const { last } = await ask(server, token, '')
    const start = performance.now()
    const waiting = nextJob(server, token, last).then((job) => {
      times.push(performance.now() - start)
      return job
    })
    await git(work, ['push', '--quiet', 'origin', 'main'])
    await endJob(server, await waiting)
  }
  const value = percentile(times, 0.95)
  const ours = `${value.toFixed(0)} ms (median ${median(times).toFixed(0)})`
  return {
    what: 'push to the first job being picked, p95',
    ours,
    theirs: '',
    value,
    unit: 'ms',
    limit: 1000,
  }
}

async function drain(server: BenchServer, token: string): Promise<void> {
  await sleep(2000)
  for (;;) {
    const { job } = await ask(server, token, '')
    if (!job) return
    await endJob(server, job)
  }
}

async function benchMany(
  server: BenchServer,
  work: string,
  id: number,
): Promise<{ readonly row: Row; readonly pipelineId: number }> {
  const jobs = Array.from({ length: 1000 }, (_, index) =>
    index < 10
      ? `j${index}: {script: y, stage: build}`
      : `j${index}: {script: y, needs: [j${index - 10}]}`,
  )
  await commit(work, { '.svc-ci.yml': jobs.join('\n') })
  await git(work, ['push', '--quiet', '-o', 'ci.skip', 'origin', 'main'])
  const times: number[] = []
  let pipelineId = 0
  for (let turn = 0; turn < 7; turn += 1) {
    times.push(
      await milliseconds(async () => {
        const made = await callApi(server, 'POST', `/projects/${id}/pipeline`, { ref: 'main' })
        pipelineId = (made.body as { id: number }).id
      }),
    )
    await callApi(server, 'POST', `/projects/${id}/pipelines/${pipelineId}/cancel`)
  }
  const value = median(times)
  const what = 'pipeline of 1,000 jobs with needs, from request to pending'
  const ours = `${value.toFixed(0)} ms (first ${(times[0] ?? 0).toFixed(0)})`
  return { row: { what, ours, theirs: '', value, unit: 'ms', limit: 500 }, pipelineId }
}

/** How much of one core the main process takes while runners wait for jobs, and how much memory more. */
async function* benchIdle(server: BenchServer, id: number): AsyncGenerator<Row> {
  const tokens: string[] = []
  for (let count = 0; count < IDLE_RUNNERS; count += 1) {
    tokens.push(await addRunner(server, id, { tag_list: ['nothing'], run_untagged: false }))
  }
  await sleep(2000)
  const memoryBefore = memoryOfAll(server.pid)
  let isOver = false
  const polling = tokens.map(async (token) => {
    for (let last = ''; !isOver; ) {
      last = (await ask(server, token, last).catch(() => ({ last }))).last
    }
  })
  await sleep(3000)
  const before = ticksOf(server.pid)
  await sleep(IDLE_MS)
  // A hundred ticks make a second.
  const value = ((ticksOf(server.pid) - before) * 10 * 100) / IDLE_MS
  isOver = true
  void Promise.allSettled(polling)
  const memory = Math.max(0, memoryOfAll(server.pid) - memoryBefore) / 1024 / 1024
  const what = '100 idle runners polling'
  const ours = `${value.toFixed(1)} % of one core`
  yield { what, ours, theirs: '', value, unit: 'count', limit: 3 }
  yield {
    what: `${what}: memory`,
    ours: `${memory.toFixed(0)} MB`,
    theirs: '',
    value: memory,
    unit: 'MB',
    limit: 20,
  }
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
