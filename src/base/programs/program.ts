import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { PassThrough, type Readable, type Writable } from 'node:stream'

export interface ProgramCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env: NodeJS.ProcessEnv
  /** Whether it has two more ends. */
  readonly extra?: boolean
  /** Whether it begins a session of its own. */
  readonly detached?: boolean
}

export interface ProgramEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** File descriptors 3 and 4 of a program: from one we read, to the other we write. */
export interface ExtraEnds {
  readonly from: Readable
  readonly to: Writable
}

/** A program that runs. What goes wrong at an end is not reported there: how the program ended says more. */
export interface Program {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Of one that was asked for with them. */
  readonly extra?: ExtraEnds | undefined
  /** Its number. */
  readonly pid: Promise<number>
  /** Resolves when it has ended and nobody else holds what we read of it; rejects when it could not be started. */
  readonly closed: Promise<ProgramEnd>
  /** Sends a signal, to the group of which it is the head if need be; nothing once it has ended. */
  kill(signal: NodeJS.Signals, group?: 'group'): void
}

/** Starts a program. */
export function startProgram(
  command: ProgramCommand & { readonly extra: true },
): Program & { readonly extra: ExtraEnds }
export function startProgram(command: ProgramCommand): Program
export function startProgram(command: ProgramCommand): Program {
  const { program, args, cwd, env, extra = false, detached = false } = command
  const stdio: StdioOptions = [
    'pipe',
    'pipe',
    'pipe',
    ...(extra ? (['pipe', 'pipe'] as const) : []),
  ]
  const child = orFailure(() => spawn(program, [...args], { cwd, env, detached, stdio }))
  const [stdin, stdout, stderr, from, to] = endsOf(child, stdio.length)
  const pid = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    if (child.pid !== undefined) resolve(child.pid)
  })
  pid.catch(() => {})
  const read = [stdout, stderr, ...(from ? [from] : [])]
  return {
    stdin,
    stdout,
    stderr,
    ...(from && to ? { extra: { from, to } } : {}),
    pid,
    closed: closing(child, read),
    kill(signal, group) {
      if (child.pid === undefined || hasEnded(child)) return
      if (group) killGroup(child.pid, signal)
      else child.kill?.(signal)
    },
  }
}

/** Node throws some failures at once, such as that of too many arguments: they come like the others. */
function orFailure(start: () => ChildProcess): Started {
  try {
    return start()
  } catch (error) {
    const failed = new EventEmitter() as Started // as good as one that has no pid
    process.nextTick(() => failed.emit('error', error))
    return failed
  }
}

/** A process, of which nothing but its events is certain. */
type Started = EventEmitter &
  Partial<Pick<ChildProcess, 'pid' | 'stdio' | 'kill'>> &
  Partial<Pick<ChildProcess, 'exitCode' | 'signalCode'>>

type End = Readable & Writable

/** Without room for its pipes a program that could not be started has none. */
function endsOf({ stdio }: Started, count: number): [End, End, End, End?, End?] {
  const ends = Array.from({ length: count }, (_, at) => {
    const end = (stdio?.[at] as Socket | null | undefined) ?? new PassThrough().end() // all are pipes
    return end.on('error', () => {})
  })
  return ends as unknown as [End, End, End, End?, End?] // as many as were asked for
}

function closing(child: Started, read: readonly Readable[]): Promise<ProgramEnd> {
  const closed = new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
    // Nobody may be reading what is left: an end closes only when it was read.
    child.once('exit', () => {
      for (const end of read) if (end.listenerCount('readable') === 0) end.resume()
    })
  })
  closed.catch(() => {})
  return closed
}

function hasEnded({ exitCode, signalCode }: Started): boolean {
  return typeof exitCode === 'number' || typeof signalCode === 'string'
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // It is gone, or not yet the head of its group: what it has started finds its pipes broken.
  }
}
