import { shareOf } from '../../base/semaphore.ts'
import { GitError } from '../error.ts'
import { removeSoon } from '../locks/left-over.ts'
import { CallQueue } from './call-queue.ts'
import { type Call, type ChildEvents, EngineChild, type Role } from './child.ts'
import { InProcessReads } from './in-process-reads.ts'
import { type FromEngine, unpackError } from './messages.ts'
import { type Engine, type EngineLoad, type Lane, laneOf, type Operation } from './operation.ts'

export interface PoolOptions {
  readonly processes: number
  /** Bytes of memory after which an engine process is replaced. */
  readonly memory?: number | undefined
  /** Milliseconds that a call may take when its operation names no time of its own. */
  readonly timeout?: number | undefined
  /** Calls of one lane that may wait; more are refused as `busy`. */
  readonly queue?: Partial<Record<Lane, number>> | undefined
  /** The data folder: identifies whose engine a process is when its server is gone. */
  readonly folder?: string | undefined
}

/** Calls of a lane that one process runs at a time: libgit2 has ten threads in all. */
const perProcess: Readonly<Record<Lane, number>> = { light: 6, heavy: 2, stream: 8 }
const queueLimits: Readonly<Record<Lane, number>> = { light: 1000, heavy: 200, stream: 64 }
const never = new AbortController().signal
/** The part of them that one caller may have. */
const share = 0.5
const lanes: readonly Lane[] = ['light', 'heavy', 'stream']
/** How long a cancelled call may take to let go before its process is ended. */
const grace = 10_000
/** Processes that may fail to start in a row before callers get an error. */
const startsAllowed = 3

/** Two engines of this size, their shared packs and the main process stay within 600 MB. */
const defaultMemory = 180 * 1024 * 1024

/** One process does everything; of several, half are for light work. */
function rolesOf(processes: number): Role[] {
  if (processes === 1) return ['all']
  return Array.from({ length: processes }, (_, i) => (i < processes / 2 ? 'light' : 'heavy'))
}

function suits(role: Role, lane: Lane): boolean {
  return role === 'all' || (role === 'light') === (lane === 'light')
}

function hasRoom(child: EngineChild, lane: Lane): boolean {
  return child.load[lane] < perProcess[lane]
}

/** The engine processes: starts them when needed, spreads the calls, replaces what dies or grows. */
export class EnginePool implements Engine {
  readonly #options: PoolOptions
  readonly #children: EngineChild[] = []
  readonly #waiting: Readonly<Record<Lane, CallQueue>>
  readonly #events: ChildEvents
  readonly #roles: readonly Role[]
  readonly #inProcess = new InProcessReads()
  #failedStarts = 0
  #lastId = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#roles = rolesOf(options.processes)
    const queue = (lane: Lane, runningOf: () => number) =>
      new CallQueue({ waiting: options.queue?.[lane] ?? queueLimits[lane], share, runningOf })
    const unlimited = () => Number.POSITIVE_INFINITY
    const streaming = this.#roles.filter((role) => suits(role, 'stream')).length
    this.#waiting = {
      light: queue('light', unlimited),
      heavy: queue('heavy', unlimited),
      // The others end by themselves; how long these take is up to their readers.
      stream: queue('stream', () => shareOf(perProcess.stream * streaming, share)),
    }
    this.#events = {
      answered: (child, call, message) => this.#answered(child, call, message),
      died: (child, calls) => this.#died(child, calls),
    }
  }

  /** Process ids of the running engines, for diagnosis. */
  get pids(): readonly number[] {
    return this.#children.flatMap((child) => (child.pid === undefined ? [] : [child.pid]))
  }

  run<Input, Output>(
    operation: Operation<Input, Output>,
    path: string,
    input: Input,
    signal?: AbortSignal,
    onChunk?: (bytes: Uint8Array) => Promise<void>,
  ): Promise<Output> {
    return this.#run(undefined, operation, path, input, signal, onChunk)
  }

  of(caller: string): Engine {
    return {
      run: (...asked) => this.#run(caller, ...asked),
      of: (other) => this.of(other),
      forget: (path) => this.forget(path),
      load: () => this.load(),
      close: () => this.close(),
    }
  }

  #run<Input, Output>(
    caller: string | undefined,
    operation: Operation<Input, Output>,
    path: string,
    input: Input,
    signal?: AbortSignal,
    onChunk?: (bytes: Uint8Array) => Promise<void>,
  ): Promise<Output> {
    if (this.#closed || !operation.inProcess?.(input))
      return this.#ask(caller, operation, path, input, signal, onChunk)
    const found = this.#inProcess.read(operation, path, input, signal ?? never)
    return found.then((read) =>
      read ? read.value : this.#ask(caller, operation, path, input, signal),
    )
  }

  #ask<Input, Output>(
    caller: string | undefined,
    operation: Operation<Input, Output>,
    path: string,
    input: Input,
    signal?: AbortSignal,
    onChunk?: (bytes: Uint8Array) => Promise<void>,
  ): Promise<Output> {
    if (this.#closed) return Promise.reject(new GitError('failed', 'the engine is closed'))
    if (signal?.aborted) return Promise.reject(new GitError('timeout', 'the caller went away'))
    const lane = laneOf(operation, input)
    if (!this.#waiting[lane].hasRoom(caller)) {
      return Promise.reject(new GitError('busy', 'too many repository requests are waiting'))
    }
    return new Promise<Output>((resolve, reject) => {
      this.#lastId += 1
      const give = (reason: string) => this.#giveUp(call, new GitError('timeout', reason))
      const onAbort = () => give('the caller went away')
      const usual = this.#options.timeout ?? 60_000
      const time = operation.seconds === undefined ? usual : operation.seconds * 1000
      const timer = setTimeout(() => give(`${operation.name} took too long`), time)
      const call: Call = {
        id: this.#lastId,
        operation: operation.name,
        lane,
        path,
        input,
        caller,
        onChunk,
        retries: operation.writes ? 0 : 1,
        finished: false,
        finish(error, value) {
          if (call.finished) return
          call.finished = true
          clearTimeout(timer)
          signal?.removeEventListener('abort', onAbort)
          if (error) reject(error)
          // The operation's own code made this value on the other side.
          else resolve(value as Output)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting[lane].add(call)
      this.#dispatch()
    })
  }

  forget(path: string): void {
    this.#inProcess.forget(path)
    for (const child of this.#children) child.post({ kind: 'forget', path })
  }

  load(): EngineLoad {
    const waiting = (lane: Lane) => this.#waiting[lane].size
    return {
      processes: this.#children.length,
      running: this.#children.reduce((sum, child) => sum + child.calls.size, 0),
      waiting: { light: waiting('light'), heavy: waiting('heavy'), stream: waiting('stream') },
      memory: this.#children.reduce((sum, child) => sum + child.memory, 0),
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const unanswered = [
      ...lanes.flatMap((lane) => this.#waiting[lane].clear()),
      ...this.#children.flatMap((child) => [...child.calls.values()]),
    ]
    for (const call of unanswered) call.finish(new GitError('failed', 'the engine is closed'))
    for (const child of this.#children.splice(0)) child.kill()
  }

  #dispatch(): void {
    for (const lane of lanes) {
      const queue = this.#waiting[lane]
      for (let next = queue.next(); next; next = queue.next()) {
        const child = this.#choose(next)
        if (!child) break
        queue.begin(next)
        child.send(next)
      }
    }
  }

  /**
   * The process for a call: of the ones for its kind of work the repository's usual one, whose caches
   * are warm, or another when that has its hands full.
   */
  #choose(call: Call): EngineChild | undefined {
    const roles = this.#roles.flatMap((role, slot) => (suits(role, call.lane) ? [slot] : []))
    const usual = roles[hash(call.path) % roles.length] ?? 0
    const home = this.#childAt(usual)
    if (!home) return this.#start(usual)
    if (hasRoom(home, call.lane)) return home
    const idle = roles.find((slot) => slot !== usual && !this.#childAt(slot))
    if (idle !== undefined) return this.#start(idle)
    return this.#children
      .filter((child) => this.#mayHelp(child, call.lane) && hasRoom(child, call.lane))
      .sort((a, b) => a.calls.size - b.calls.size)[0]
  }

  /** Light work may use a process for heavy work as long as that has none. */
  #mayHelp(child: EngineChild, lane: Lane): boolean {
    if (child.draining) return false
    if (suits(child.role, lane)) return true
    return lane === 'light' && child.load.heavy === 0 && child.load.stream === 0
  }

  #childAt(slot: number): EngineChild | undefined {
    return this.#children.find((child) => child.slot === slot && !child.draining)
  }

  #start(slot: number): EngineChild {
    const child = new EngineChild(
      slot,
      this.#roles[slot] ?? 'all',
      this.#events,
      this.#options.folder,
    )
    this.#children.push(child)
    return child
  }

  #answered(child: EngineChild, call: Call, message: FromEngine): void {
    this.#failedStarts = 0
    this.#waiting[call.lane].ended(call)
    if (message.kind === 'done') call.finish(undefined, message.value)
    else if (message.kind === 'failed') call.finish(unpackError(message.error))
    if (child.memory > (this.#options.memory ?? defaultMemory)) child.draining = true
    if (child.draining && child.calls.size === 0) {
      this.#remove(child)
      child.disconnect()
    }
    this.#dispatch()
  }

  #remove(child: EngineChild): void {
    const at = this.#children.indexOf(child)
    if (at >= 0) this.#children.splice(at, 1)
  }

  #died(child: EngineChild, calls: readonly Call[]): void {
    this.#remove(child)
    for (const call of calls) this.#waiting[call.lane].ended(call)
    if (this.#closed) return
    if (!child.started) this.#failedStarts += 1
    const hopeless = this.#failedStarts >= startsAllowed
    for (const call of calls.filter(({ finished }) => !finished)) {
      // A process that never started did not touch the call, so even a write may go elsewhere.
      if ((call.retries > 0 || !child.started) && !hopeless) {
        if (child.started) call.retries -= 1
        this.#waiting[call.lane].addFirst(call)
      } else {
        call.finish(new GitError('failed', 'the engine process died'))
      }
    }
    if (hopeless) this.#failedStarts = 0
    for (const path of new Set(calls.map((call) => call.path))) void removeSoon(path)
    this.#dispatch()
  }

  /** Answers the caller now, and sees to it that the process lets go of the work. */
  #giveUp(call: Call, error: GitError): void {
    call.finish(error)
    const child = this.#children.find((each) => each.calls.has(call.id))
    if (!child) {
      this.#dispatch()
      return
    }
    child.post({ kind: 'cancel', id: call.id })
    setTimeout(() => {
      if (child.calls.has(call.id)) child.kill()
    }, grace).unref()
  }
}

function hash(text: string): number {
  let value = 0
  for (let i = 0; i < text.length; i += 1) value = (value * 31 + text.charCodeAt(i)) >>> 0
  return value
}
