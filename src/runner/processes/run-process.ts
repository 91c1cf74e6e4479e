import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobProcesses, StartedCommand } from './job-processes.ts'

/** What a job may take of the machine. */
export interface Limits {
  /** Bytes of memory for all processes of a job together; 0 for no limit. */
  readonly memory: number
  /** Processes of a job at one time; 0 for no limit. */
  readonly processes: number
}

/** How a process ended. */
export interface Ended {
  readonly code: number
  /** What the job took too much of. */
  readonly exceeded: 'memory' | 'processes' | undefined
}

const LOOK_EVERY_MS = 500
const KILLED = 137
/** How long what has ended is read: somebody who cannot be killed may hold its pipes for ever. */
const REST_MS = 3000

export interface Command extends StartedCommand {
  /** Of which job it is. Undefined where a program leaves something behind that is not the job's own. */
  readonly processes: JobProcesses | undefined
  readonly limits: Limits
  readonly signal: AbortSignal
  readonly output: (piece: Buffer) => void
  /** Waits until earlier output is put away. */
  readonly drained: () => Promise<void>
  readonly input?: string | undefined
}

/** Runs a program; of one that belongs to a job nothing is left behind, however it ends. */
export async function runProcess(command: Command): Promise<Ended> {
  const { processes, signal } = command
  if (signal.aborted) return { code: KILLED, exceeded: undefined }
  const child = processes?.start(command) ?? startAlone(command)
  let exceeded: Ended['exceeded']
  const stop = () => (processes ? processes.stop(child) : killGroup(child))
  signal.addEventListener('abort', stop)
  const watch = watchLimits(command, (what) => {
    exceeded = what
    stop()
  })
  const streams = [child.stdout, child.stderr].flatMap((stream) => stream ?? [])
  try {
    const reading = Promise.all(streams.map((stream) => readAll(stream, command)))
    // It may fail before anybody waits for it.
    reading.catch(() => {})
    const { code, isKilled } = await endOf(child)
    // Then nobody has ended what the program started.
    if (isKilled) await processes?.kill()
    await atMost(REST_MS, reading)
    return { code, exceeded }
  } finally {
    clearInterval(watch)
    signal.removeEventListener('abort', stop)
    for (const stream of streams) stream.destroy()
  }
}

/** In a process group of its own. */
function startAlone({ program, args, cwd, env, input }: Command): ChildProcess {
  const child = spawn(program, [...args], {
    cwd,
    env,
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  return child
}

async function readAll(stream: Readable, command: Command): Promise<void> {
  for await (const piece of stream) {
    command.output(piece as Buffer) // without an encoding, pieces are bytes
    await command.drained()
  }
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  const late = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)
  try {
    await Promise.race([work, late])
  } finally {
    timer.abort()
  }
}

async function endOf(child: ChildProcess): Promise<{ code: number; isKilled: boolean }> {
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve({ code: code ?? KILLED, isKilled: code === null }))
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}

/** Looks now and then at what the processes of a job take together. */
function watchLimits(
  { processes, limits }: Pick<Command, 'processes' | 'limits'>,
  exceeded: (what: 'memory' | 'processes') => void,
): NodeJS.Timeout | undefined {
  if (!processes || (limits.memory === 0 && limits.processes === 0)) return undefined
  let busy = false
  const timer = setInterval(async () => {
    if (busy) return
    busy = true
    const found = await processes.list()
    if (limits.processes > 0 && found.length > limits.processes) exceeded('processes')
    else if (limits.memory > 0 && (await memoryOf(found)) > limits.memory) exceeded('memory')
    busy = false
  }, LOOK_EVERY_MS)
  timer.unref()
  return timer
}

const PAGE = 4096

async function memoryOf(pids: readonly number[]): Promise<number> {
  const pages = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => '')
      return Number(text.split(' ')[1] ?? 0) || 0
    }),
  )
  return pages.reduce((sum, one) => sum + one, 0) * PAGE
}
