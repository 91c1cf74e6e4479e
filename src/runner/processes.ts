import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** By this variable of their environment the processes of a job are found, whatever group they moved to. */
export const MARK = 'GITSTEAD_RUNNER_JOB'

const LOOK_EVERY_MS = 500
const KILLED = 137

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Undefined where a program leaves something behind that is not the job's own. */
  readonly mark: string | undefined
  readonly limits: Limits
  readonly signal: AbortSignal
  readonly output: (piece: Buffer) => void
  /** Waits until earlier output is put away. */
  readonly drained: () => Promise<void>
  readonly input?: string | undefined
}

/** Runs a program in a process group of its own; of a marked one nothing is left behind, however it ends. */
export async function runProcess(command: Command): Promise<Ended> {
  if (command.signal.aborted) return { code: KILLED, exceeded: undefined }
  const child = spawn(command.program, [...command.args], {
    cwd: command.cwd,
    env: command.mark === undefined ? command.env : { ...command.env, [MARK]: command.mark },
    detached: true,
    stdio: [command.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(command.input)
  let exceeded: Ended['exceeded']
  const stop = () => killGroup(child)
  command.signal.addEventListener('abort', stop)
  const watch = watchLimits(command, (what) => {
    exceeded = what
    stop()
  })
  try {
    const reading = Promise.all(
      [child.stdout, child.stderr].map(async (stream) => {
        for await (const piece of stream ?? []) {
          command.output(piece as Buffer) // without an encoding, pieces are bytes
          await command.drained()
        }
      }),
    )
    // It may fail before anybody waits for it.
    reading.catch(() => {})
    const code = await exitOf(child)
    // Something that went on in the background may hold the pipes open for ever.
    if (command.mark !== undefined) await killMarked(command.mark)
    await reading
    return { code, exceeded }
  } finally {
    clearInterval(watch)
    command.signal.removeEventListener('abort', stop)
    if (command.mark !== undefined) await killMarked(command.mark)
  }
}

async function exitOf(child: ChildProcess): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : KILLED))
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
  { mark, limits }: Pick<Command, 'mark' | 'limits'>,
  exceeded: (what: 'memory' | 'processes') => void,
): NodeJS.Timeout | undefined {
  if (mark === undefined || (limits.memory === 0 && limits.processes === 0)) return undefined
  let busy = false
  const timer = setInterval(async () => {
    if (busy) return
    busy = true
    const found = await markedProcesses(mark)
    if (limits.processes > 0 && found.length > limits.processes) exceeded('processes')
    else if (limits.memory > 0 && (await memoryOf(found)) > limits.memory) exceeded('memory')
    busy = false
  }, LOOK_EVERY_MS)
  timer.unref()
  return timer
}

/** Kills every process of a job, also those that left its group, until there is none. */
export async function killMarked(mark: string): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) {
    const found = await markedProcesses(mark)
    if (found.length === 0) return
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It is gone already.
      }
    }
    await sleep(turn < 5 ? 5 : 50)
  }
}

async function markedProcesses(mark: string): Promise<number[]> {
  const wanted = `${MARK}=${mark}\0`
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
      return text.includes(wanted) ? [Number(name)] : []
    }),
  )
  return found.flat()
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
