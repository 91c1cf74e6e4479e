import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { productVersion } from '../base/version.ts'
import { ownRunnerToken } from '../ci/runners/own-runner.ts'
import { localUrl } from '../http/listener/local-url.ts'
import { BESIDE, besideNotice } from '../runner/beside.ts'
import { containerExecutor } from '../runner/containers/container-executor.ts'
import type { Executor } from '../runner/executor.ts'
import { shellExecutor } from '../runner/shell-executor.ts'
import { usualUnpackLimits } from '../runner/unpack-room.ts'
import { runWorker } from '../runner/worker.ts'
import { type Call, command, UsageError } from './command.ts'
import { withData } from './open.ts'

const PROGRAMS = ['podman', 'docker']
const MIB = 1024 * 1024

export const runner = command({
  name: 'runner',
  summary: 'Run the jobs of pipelines that a server gives, on this machine',
  args: [],
  options: {
    url: {
      type: 'string',
      value: '<address>',
      doc: 'The server, such as https://git.example.com; without it and a token, the one of the data folder',
    },
    token: {
      type: 'string',
      value: '<token>',
      doc: 'The token of a runner; better in GITSTEAD_RUNNER_TOKEN, where no list of processes shows it',
    },
    'clone-url': {
      type: 'string',
      value: '<address>',
      doc: 'Where jobs clone from, when this machine reaches the server otherwise than it calls itself',
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
      doc: 'Where projects are checked out and caches are kept; ~/.gitstead-runner by default, and runner/ of the data folder',
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
  async run(call) {
    const { options, signal } = call
    const executor = executorOf(options.executor ?? 'shell', options.image)
    const gone = goneParent()
    const { url, token, cloneUrl, folder, alone } = await serverOf(call)
    // Jobs must not find it.
    delete process.env.GITSTEAD_RUNNER_TOKEN
    const jobs = await runWorker({
      url,
      token,
      cloneUrl,
      executor,
      folder: resolve(options.folder ?? folder),
      alone,
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
      stop: AbortSignal.any([signal, gone]),
      kill: AbortSignal.any([killOnSecondSignal(signal), gone]),
      say: (line) => process.stderr.write(`${line}\n`),
    })
    return { lines: [`${jobs} jobs were run`], data: { jobs } }
  },
})

interface GivenServer {
  readonly url: string
  readonly token: string
  readonly cloneUrl: string | undefined
  /** Where jobs run unless another is named. */
  readonly folder: string
  /** Whether no other runner may use it. */
  readonly alone: boolean
}

/** The server that is named, or else that of the data folder, beside which this runner then works. */
async function serverOf(call: Call): Promise<GivenServer> {
  const url = call.options.url ?? process.env.GITSTEAD_RUNNER_URL
  const token = call.options.token ?? process.env.GITSTEAD_RUNNER_TOKEN
  if (!url && !token) return await ownServer(call)
  if (!url) throw new UsageError('--url is missing (gitstead runner --help)')
  if (!token) throw new UsageError('--token is missing (gitstead runner --help)')
  const cloneUrl = call.options['clone-url']
  return {
    url: addressOf('url', url),
    token,
    cloneUrl: cloneUrl === undefined ? undefined : addressOf('clone-url', cloneUrl),
    folder: join(homedir(), '.gitstead-runner'),
    alone: process.env[BESIDE] !== undefined,
  }
}

async function ownServer(call: Call): Promise<GivenServer> {
  const config = call.config()
  const { host, port, data } = config
  if (port === 0) throw new UsageError('--url is missing: the server takes any free port')
  const url = localUrl(config, { address: host, port })
  const token = await withData(call, ownRunnerToken)
  process.stderr.write(besideNotice('gitstead runner'))
  return { url, token, cloneUrl: url, folder: join(data, 'runner'), alone: true }
}

function addressOf(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text
  throw new UsageError(
    `--${name} is wrong: '${text}' is no address such as https://git.example.com`,
  )
}

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

/** How long a runner may take to report its jobs once the process that started it is gone. */
const LAST_MS = 2000

/** Aborts when the server that has started this runner beside it stops, or is killed. */
function goneParent(): AbortSignal {
  const gone = new AbortController()
  if (process.env[BESIDE] === undefined) return gone.signal
  const end = () => {
    gone.abort()
    setTimeout(() => process.exit(1), LAST_MS).unref()
  }
  process.once('disconnect', end)
  if (!process.connected) end()
  // It may end by itself, too.
  process.channel?.unref()
  return gone.signal
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
