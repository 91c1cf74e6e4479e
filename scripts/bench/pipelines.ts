import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { git, median, milliseconds, percentile, type Row } from './measure.ts'
import type { BenchServer } from './server.ts'

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
  const [project] = (await call(server, 'GET', '/projects?search=pipelines')).body as {
    id: number
  }[]
  const id = project?.id ?? 0
  const runner = await addRunner(server, id)
  say('pipelines: push to runner')
  yield await benchPick(server, work, runner)
  say('pipelines: many jobs')
  yield* benchMany(server, work, id)
  say('pipelines: idle runners')
  yield await benchIdle(server, id)
}

async function commit(work: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(work, name), content)
  await git(work, ['add', '.'])
  await git(work, ['commit', '--quiet', '--message', 'Change'])
}

async function call(server: BenchServer, method: string, path: string, body?: object) {
  const response = await fetch(`${server.url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': server.token, 'Content-Type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return { body: JSON.parse(text) as unknown, headers: response.headers }
}

async function addRunner(server: BenchServer, projectId: number): Promise<string> {
  const settings = { runner_type: 'project_type', project_id: projectId }
  const { body } = await call(server, 'POST', '/user/runners', settings)
  return (body as { token: string }).token
}

interface Asked {
  readonly last: string
  readonly job: { readonly id: number; readonly token: string } | undefined
}

async function ask(server: BenchServer, token: string, last: string): Promise<Asked> {
  const response = await fetch(`${server.url}/api/v4/jobs/request`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, last_update: last, info: {} }),
  })
  const text = await response.text()
  const header = response.headers.get('x-gitlab-last-update')
  return { last: header ?? last, job: response.status === 201 ? JSON.parse(text) : undefined }
}

async function benchPick(server: BenchServer, work: string, token: string): Promise<Row> {
  const times: number[] = []
  await drain(server, token)
  for (let turn = 0; turn < PUSHES; turn += 1) {
    await commit(work, { turn: String(turn) })
    const { last } = await ask(server, token, '')
    const waiting = nextJob(server, token, last)
    await git(work, ['push', '--quiet', 'origin', 'main'])
    let job: Asked['job']
    times.push(
      await milliseconds(async () => {
        job = await waiting
      }),
    )
    if (job) await endJob(server, job)
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

async function nextJob(server: BenchServer, token: string, seen: string): Promise<Asked['job']> {
  for (let last = seen; ; ) {
    const answer = await ask(server, token, last)
    if (answer.job) return answer.job
    last = answer.last
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

async function endJob(
  server: BenchServer,
  job: { readonly id: number; readonly token: string },
): Promise<void> {
  await call(server, 'PUT', `/jobs/${job.id}`, { token: job.token, state: 'success' })
}

async function* benchMany(server: BenchServer, work: string, id: number): AsyncGenerator<Row> {
  const jobs = Array.from({ length: 1000 }, (_, index) =>
    index < 10
      ? `j${index}: {script: y, stage: build}`
      : `j${index}: {script: y, needs: [j${index - 10}]}`,
  )
  await commit(work, { '.svc-ci.yml': jobs.join('\n') })
  await git(work, ['push', '--quiet', '-o', 'ci.skip', 'origin', 'main'])
  const times: number[] = []
  let pipeline = 0
  for (let turn = 0; turn < 5; turn += 1) {
    const act = () => call(server, 'POST', `/projects/${id}/pipeline`, { ref: 'main' })
    times.push(
      await milliseconds(async () => {
        pipeline = ((await act()).body as { id: number }).id
      }),
    )
  }
  const value = median(times)
  yield {
    what: 'pipeline of 1,000 jobs with needs, from request to pending',
    ours: `${value.toFixed(0)} ms`,
    theirs: '',
    value,
    unit: 'ms',
    limit: 500,
  }
  const pages: number[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    const path = `/projects/${id}/pipelines/${pipeline}/jobs?per_page=100`
    pages.push(await milliseconds(() => call(server, 'GET', path)))
  }
  const page = median(pages)
  yield {
    what: 'page of 100 jobs of a pipeline with 1,000',
    ours: `${page.toFixed(0)} ms`,
    theirs: '',
    value: page,
    unit: 'ms',
  }
  await call(server, 'POST', `/projects/${id}/pipelines/${pipeline}/cancel`)
}

/** How much of one core the main process takes while runners wait for jobs. */
async function benchIdle(server: BenchServer, id: number): Promise<Row> {
  const tokens: string[] = []
  for (let count = 0; count < IDLE_RUNNERS; count += 1) {
    const settings = {
      runner_type: 'project_type',
      project_id: id,
      tag_list: ['nothing'],
      run_untagged: false,
    }
    const { body } = await call(server, 'POST', '/user/runners', settings)
    tokens.push((body as { token: string }).token)
  }
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
  const ours = `${value.toFixed(1)} % of one core`
  return { what: '100 idle runners polling', ours, theirs: '', value, unit: 'count', limit: 3 }
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
