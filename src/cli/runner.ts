import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { productVersion } from '../base/version.ts'
import { containerExecutor } from '../runner/container-executor.ts'
import type { Executor } from '../runner/executor.ts'
import { shellExecutor } from '../runner/shell-executor.ts'
import { usualUnpackLimits } from '../runner/unpack-room.ts'
import { runWorker } from '../runner/worker.ts'
import { command, UsageError } from './command.ts'

const PROGRAMS = ['podman', 'docker']
const MIB = 1024 * 1024

export const runner = command({
  name: 'runner',
  summary: 'Run the jobs of pipelines that a server gives, on this machine',
  args: [],
  options: {
    url: { type: 'string', value: '<address>', doc: 'The server, such as https://git.example.com' },
    token: {
      type: 'string',
      value: '<token>',
      doc: 'The token of a runner; better in GITSTEAD_RUNNER_TOKEN, where no list of processes shows it',
    },
    executor: {
      type: 'string',
      value: '<shell|container>',
      doc: 'By the shell of this machine (default; only for projects that you trust), or in containers of podman or docker',
    },
    image: { type: 'string', value: '<name>', doc: 'Image of jobs that name none' },
    concurrent: { type: 'string', value: '<number>', doc: 'Jobs at a time; 1 by default' },
    folder: {
      type: 'string',
      value: '<path>',
      doc: 'Where projects are checked out and caches are kept; ~/.gitstead-runner by default',
    },
    memory: {
      type: 'string',
      value: '<megabytes>',
      doc: 'Most memory of one job; no limit by default',
    },
    processes: {
      type: 'string',
      value: '<number>',
      doc: 'Most processes of one job; 1000 by default',
    },
    unpacked: {
      type: 'string',
      value: '<megabytes>',
      doc: 'Most that the artifacts of a job, or its caches, unpack to; 10240 by default',
    },
    'unpacked-files': {
      type: 'string',
      value: '<number>',
      doc: 'Most files and folders in them; 500000 by default',
    },
    jobs: { type: 'string', value: '<number>', doc: 'End after so many jobs' },
  },
  async run({ options, signal }) {
    const url = options.url ?? process.env.GITSTEAD_RUNNER_URL
    const token = options.token ?? process.env.GITSTEAD_RUNNER_TOKEN
    if (!url) throw new UsageError('--url is missing (gitstead runner --help)')
    if (!token) throw new UsageError('--token is missing (gitstead runner --help)')
    // Jobs must not find it.
    delete process.env.GITSTEAD_RUNNER_TOKEN
    const executor = executorOf(options.executor ?? 'shell', options.image)
    const kill = killOnSecondSignal(signal)
    const jobs = await runWorker({
      url,
      token,
      executor,
      folder: resolve(options.folder ?? join(homedir(), '.gitstead-runner')),
      concurrent: numberOf('concurrent', options.concurrent, 1, 1),
      limits: {
        memory: numberOf('memory', options.memory, 0, 0) * MIB,
        processes: numberOf('processes', options.processes, 1000, 0),
      },
      unpack: {
        bytes: numberOf('unpacked', options.unpacked, usualUnpackLimits.bytes / MIB, 1) * MIB,
        entries: numberOf(
          'unpacked-files',
          options['unpacked-files'],
          usualUnpackLimits.entries,
          1,
        ),
      },
      jobs: numberOf('jobs', options.jobs, 0, 0),
      version: productVersion,
      stop: signal,
      kill,
      say: (line) => process.stderr.write(`${line}\n`),
    })
    return { lines: [`${jobs} jobs were run`], data: { jobs } }
  },
})

function executorOf(name: string, image: string | undefined): Executor {
  if (name === 'shell') return shellExecutor
  if (name !== 'container') throw new UsageError(`no executor '${name}': shell or container`)
  const folders = (process.env.PATH ?? '').split(':')
  const program = PROGRAMS.find((one) => folders.some((folder) => existsSync(join(folder, one))))
  if (!program) throw new UsageError('the container executor needs podman or docker')
  return containerExecutor(program, image)
}

function numberOf(name: string, text: string | undefined, fallback: number, least: number): number {
  if (text === undefined) return fallback
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new UsageError(`--${name} must be a whole number from ${least}`)
}

/** Terminals, npm and supervisors each pass on the same signal. */
const SAME_SIGNAL_MS = 1000

/** The first signal lets jobs end; another, once those are being waited for, ends them. */
function killOnSecondSignal(first: AbortSignal): AbortSignal {
  const kill = new AbortController()
  first.addEventListener('abort', () => {
    const since = performance.now()
    const again = () => {
      if (performance.now() - since > SAME_SIGNAL_MS) kill.abort()
    }
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, again)
  })
  return kill.signal
}
