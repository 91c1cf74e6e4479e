import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { shellExecutor } from '../../../src/runner/shell-executor.ts'
import { usualUnpackLimits } from '../../../src/runner/unpack-room.ts'
import { runWorker } from '../../../src/runner/worker.ts'
import { leftoversAfter } from '../place/folder.ts'
import { listDeadTasks } from '../place/inspect.ts'
import { startServer, type TortureServer } from '../place/server.ts'
import { type Random, randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { checkPipelines, listUnfinished } from './check.ts'
import { openProject, type Pipelines } from './project.ts'

/** How soon a server that was killed answers again. */
const START_MS = 120_000
/** How soon all jobs have ended: a job that was being given away when the server died is given again after minutes. */
const END_MS = 300_000
const CLEAN_MS = 10_000
/** Pipelines that go on at a time. */
const MOST_OPEN = 5

/** SIGKILL of the server at random moments while a runner runs pipelines: each job must reach its right end, once. */
export const pipelinesRound: Round = {
  name: 'pipelines',
  summary: 'SIGKILL of the server while pipelines run: every job reaches its right end',
  unit: 'kills',
  usual: { count: 50, seconds: 0 },
  async run(options, report) {
    const server = await startServer(options.folder, { restart: true })
    const stop = new AbortController()
    try {
      const pipelines = await openProject(server, options.folder)
      const working = runWorker({
        url: server.url,
        token: pipelines.runnerToken,
        executor: shellExecutor,
        folder: join(options.folder, 'runner'),
        concurrent: 3,
        limits: { memory: 0, processes: 0 },
        unpack: usualUnpackLimits,
        version: '1',
        jobs: 0,
        stop: stop.signal,
        kill: stop.signal,
        say: () => undefined,
      })
      await killAll(server, pipelines, options, report)
      stop.abort()
      await working
    } finally {
      stop.abort()
      await server.stop()
    }
  },
}

async function killAll(
  server: TortureServer,
  pipelines: Pipelines,
  options: RoundOptions,
  report: Report,
): Promise<void> {
  const again = `--round pipelines --seed ${options.seed} --count ${options.count}`
  const fail = (what: string) => report.fail({ what, again })
  const end = options.from + options.count
  for (let at = options.from; at < end; at += 1) {
    await killOnce(server, pipelines, at, randomOf(options.seed, at))
    if (!(await server.answers(START_MS))) return fail('the server does not start again')
    await untilAtMost(pipelines, MOST_OPEN)
    if ((at + 1 - options.from) % 10 === 0) report.say(`${at + 1 - options.from} kills`)
  }
  const left = await untilAtMost(pipelines, 0)
  for (const one of left.slice(0, 3)) fail(`not ended after ${END_MS / 1000} s: ${one}`)
  const { faults, jobs } = await checkPipelines(pipelines)
  for (const fault of faults) fail(fault)
  report.figure({ name: 'killed', value: server.deaths(), unit: 'times', atLeast: options.count })
  report.figure({ name: 'pipelines', value: pipelines.count(), unit: 'acknowledged', atLeast: 1 })
  report.figure({ name: 'jobs that ended right', value: jobs, unit: '', atLeast: 1 })
  const dead = listDeadTasks(server.data)
  if (dead.length > 0) fail(`dead tasks: ${dead.join(', ')}`)
  for (const name of await leftoversAfter(server.data, CLEAN_MS)) fail(`left over: ${name}`)
}

/** Begins a pipeline, and kills the server somewhere between the request and minutes of its work. */
async function killOnce(
  server: TortureServer,
  pipelines: Pipelines,
  at: number,
  random: Random,
): Promise<void> {
  const begun = pipelines.begin(at)
  // At least one must have been answered: on a slow machine a few kills may come before every answer.
  if (random.percent(60) || pipelines.count() === 0) await begun
  await sleep(random.percent(50) ? random.integer(0, 400) : random.integer(400, 4000))
  if (random.percent(20)) void pipelines.cancelNewest()
  await sleep(random.integer(0, 30))
  const pid = server.mainPid()
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
  await begun
}

/** Waits until no more than so many pipelines go on; what still goes on when the time is over. */
async function untilAtMost(pipelines: Pipelines, most: number): Promise<string[]> {
  const end = Date.now() + END_MS
  for (;;) {
    const open = await listUnfinished(pipelines)
    if (open.length <= most) return []
    if (Date.now() > end) return open
    await sleep(500)
  }
}
