import { Piscina } from 'piscina'
import { KeyedSemaphore, Semaphore } from '../semaphore.ts'
import { compiledFile } from './compiled-file.ts'
import type { WorkerInput } from './worker-task.ts'

/** Why a task of the pool has no result: a limit, not an error of its own. */
export class WorkerLimitError extends Error {
  readonly limit: 'time' | 'memory' | 'waiting'
  constructor(limit: 'time' | 'memory' | 'waiting') {
    super(`a task of the worker pool reached its limit: ${limit}`)
    this.limit = limit
  }
}

const threads = 3
const memoryMb = 128
/** A worker without tasks ends after so long. */
const idleMs = 60_000
/** Tasks that wait for a worker; more are refused. The pool's own `maxQueue` lets many more through. */
const maxWaiting = 500
/** Of them long ones of one caller. */
const maxWaitingOfOne = 200

const pool = new Piscina({
  minThreads: 0,
  maxThreads: threads,
  idleTimeout: idleMs,
  env: {},
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  recordTiming: false,
})

let lastId = 0
const onStarted = new Map<number, () => void>()
pool.on('message', ({ started }: { readonly started: number }) => onStarted.get(started)?.())

// A worker may run out of memory when its task has ended already. Nobody waits for it then, and another takes its place;
// an error that nobody listens to would end the process.
pool.on('error', () => {})

const busy = () => new WorkerLimitError('waiting')
const allTasks = new Semaphore({ limit: threads, maxWaiting, busy })
/** Leaves one worker to short tasks, however many long ones there are. */
const longTasks = new Semaphore({ limit: threads - 1 })
/** Leaves one worker of these to others, however many long tasks somebody has. */
const longTasksOfOne = new KeyedSemaphore({ limit: 1, maxWaiting: maxWaitingOfOne, busy })
/** Long tasks that run or wait, in whichever of these queues. */
const admitted = new Semaphore({ limit: threads - 1 + maxWaiting, maxWaiting: 0, busy })

export interface WorkerTaskOptions {
  /** Where the function is declared with `workerTask`, beside the caller: `new URL('./x.ts', import.meta.url)`. */
  readonly module: URL
  readonly name: string
  /** The worker is ended when the task takes longer. */
  readonly timeoutMs: number
  readonly isLong: boolean
  /** Whose share of the long tasks this one takes; undefined for the server's own. */
  readonly caller?: string | undefined
}

/**
 * Runs work on a user's text in a worker thread, with a limit of time and one of memory, so that requests go on meanwhile.
 * Fails with `WorkerLimitError` at a limit.
 */
export async function runInWorker<Input, Output>(
  input: Input,
  options: WorkerTaskOptions,
): Promise<Output> {
  if (!options.isLong) return await runAmongAll(input, options)
  const leave = await admitted.acquire()
  try {
    const { caller } = options
    const run = () => runAmongLong<Input, Output>(input, options)
    return await (caller === undefined ? run() : longTasksOfOne.run(caller, run))
  } finally {
    leave()
  }
}

async function runAmongLong<Input, Output>(
  input: Input,
  options: WorkerTaskOptions,
): Promise<Output> {
  const release = await longTasks.acquire()
  try {
    return await runAmongAll(input, options)
  } finally {
    release()
  }
}

async function runAmongAll<Input, Output>(
  input: Input,
  options: WorkerTaskOptions,
): Promise<Output> {
  const release = await allTasks.acquire()
  try {
    return await runTask(input, options)
  } finally {
    release()
  }
}

async function runTask<Input, Output>(input: Input, options: WorkerTaskOptions): Promise<Output> {
  lastId += 1
  const id = lastId
  const timeout = new AbortController()
  let timer: NodeJS.Timeout | undefined
  onStarted.set(id, () => {
    timer = setTimeout(() => timeout.abort(), options.timeoutMs)
  })
  const task: WorkerInput<Input> = { id, input }
  const { name } = options
  try {
    const filename = compiledFile(options.module)
    // The module that is named declares this function with these types.
    return (await pool.run(task, { filename, name, signal: timeout.signal })) as Output
  } catch (error) {
    throw limitOf(error, timeout.signal) ?? error
  } finally {
    clearTimeout(timer)
    onStarted.delete(id)
  }
}

function limitOf(error: unknown, timeout: AbortSignal): WorkerLimitError | undefined {
  if (timeout.aborted) return new WorkerLimitError('time')
  if (!(error instanceof Error)) return undefined
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? new WorkerLimitError('memory') : undefined
}
