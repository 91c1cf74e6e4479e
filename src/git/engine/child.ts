import { type ChildProcess, fork } from 'node:child_process'
import { Socket } from 'node:net'
import { lowerPriority } from '../../base/programs/priority.ts'
import { compiledFile } from '../../base/workers/compiled-file.ts'
import { gitEnvironment } from '../command.ts'
import { engineMark } from './budget.ts'
import type { FromEngine, ToEngine } from './messages.ts'
import type { Lane } from './operation.ts'
import { PieceReader } from './pieces.ts'

/** A call on its way: what was asked, and who waits for the answer. */
export interface Call {
  readonly id: number
  readonly operation: string
  readonly lane: Lane
  readonly path: string
  readonly input: unknown
  /** Whose share it takes; undefined for the server itself. */
  readonly caller: string | undefined
  readonly onChunk: ((bytes: Uint8Array) => Promise<void>) | undefined
  /** How often it may still be sent to another process when this one dies. */
  retries: number
  /** Set once the caller was answered; what arrives later is dropped. */
  finished: boolean
  finish(error: Error | undefined, value?: unknown): void
}

export interface ChildEvents {
  answered(child: EngineChild, call: Call, message: FromEngine): void
  /** The process is gone; these calls got no answer. */
  died(child: EngineChild, calls: readonly Call[]): void
}

/** What a process is for: heavy work must not hold up light work, so each has its own. */
export type Role = 'light' | 'heavy' | 'all'

/** One engine process as the main process sees it. */
export class EngineChild {
  readonly calls = new Map<number, Call>()
  readonly load: Record<Lane, number> = { light: 0, heavy: 0, stream: 0 }
  /** Was ready once, so that its death is not a failure to start. */
  started = false
  /** Takes no new calls and ends when the last one is answered. */
  draining = false
  /** Bytes that the process said it holds. */
  memory = 0
  /** Its place in the pool; a successor takes the same one. */
  readonly slot: number
  readonly role: Role
  readonly #process: ChildProcess
  readonly #pieces = new PieceReader((id, bytes, isLast) => this.#take(id, bytes, isLast))
  readonly #events: ChildEvents

  constructor(slot: number, role: Role, events: ChildEvents, folder = '') {
    this.slot = slot
    this.role = role
    this.#events = events
    this.#process = fork(
      compiledFile(new URL('../service/process.ts', import.meta.url)),
      [folder],
      {
        serialization: 'advanced',
        execArgv: heapLimits,
        env: gitEnvironment({
          ...allocation,
          ...threads,
          [engineMark]: '1',
        }),
        stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
      },
    )
    // Without room for its pipes it has none, and says so a moment later.
    this.#process.on('error', () => this.#gone())
    const ends: ChildProcess['stdio'] | undefined = this.#process.stdio
    const pipe = ends?.[4]
    if (pipe instanceof Socket) {
      pipe.on('data', (bytes: Buffer) => this.#pieces.read(bytes))
      // It breaks when the process dies, whose exit is handled below.
      pipe.on('error', () => {})
      // The process is held by its calls; the pipe must not hold ours.
      pipe.unref()
    }
    this.#process.on('message', (message: FromEngine) => this.#receive(message))
    this.#process.on('exit', () => this.#gone())
    lowerPriority(this.#process.pid, role === 'heavy' ? lower : 0)
    this.#idle()
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  send(call: Call): void {
    this.calls.set(call.id, call)
    this.load[call.lane] += 1
    this.#process.ref()
    this.#process.channel?.ref()
    const { id, operation, path, input } = call
    this.post({ kind: 'run', id, operation, path, input })
  }

  post(message: ToEngine): void {
    // A process that is gone answers through its exit event.
    if (this.#process.connected) this.#process.send(message, () => {})
  }

  /** Ends the process at once; its calls are reported as unanswered. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Lets the process end by itself. */
  disconnect(): void {
    if (this.#process.connected) this.#process.disconnect()
  }

  #receive(message: FromEngine): void {
    if (message.kind === 'ready') {
      this.started = true
      return
    }
    const call = this.calls.get(message.id)
    if (!call) return
    this.memory = message.memory
    this.calls.delete(call.id)
    this.load[call.lane] -= 1
    if (this.calls.size === 0) this.#idle()
    this.#events.answered(this, call, message)
  }

  #take(id: number, bytes: Buffer, isLast: boolean): void {
    const call = this.calls.get(id)
    if (call) void this.#pass(call, bytes, isLast)
  }

  async #pass(call: Call, bytes: Buffer, isLast: boolean): Promise<void> {
    // What was streamed cannot be taken back, so the call is not tried again.
    call.retries = 0
    try {
      if (!call.finished) await call.onChunk?.(bytes)
      if (isLast) this.post({ kind: 'more', id: call.id })
    } catch {
      this.post({ kind: 'cancel', id: call.id })
    }
  }

  #gone(): void {
    const calls = [...this.calls.values()]
    this.calls.clear()
    this.#events.died(this, calls)
  }

  /** An idle engine must not keep the main process (or a script) alive. */
  #idle(): void {
    this.#process.unref()
    this.#process.channel?.unref()
  }
}

/** libgit2's threads would each keep memory of their own, given back and taken again. */
const allocation = { MALLOC_ARENA_MAX: '2' }
/** Most of these wait for the disk: a commit has some ten files and folders to bring there, all at once. */
const threads = { UV_THREADPOOL_SIZE: '16' }

/** One that would take more ends, and not the machine's other programs. */
const heapLimits = ['--max-old-space-size=512']

/** Long work gives way to short work: about half the share of the others where cores are few, all of an idle core. */
const lower = 4
