import { readFileSync } from 'node:fs'
import { collectNewest } from '../../base/workers/small-heap.ts'
import { type FromEngine, packError, type ToEngine } from '../engine/messages.ts'
import { keepObjects } from '../engine/native.ts'
import { OpenRepositories } from '../engine/open-repository.ts'
import { type Job, type Operation, operations } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import './operations.ts'
import { PieceWriter } from '../engine/pieces.ts'

/* The entry of an engine process: started by pool.ts, runs what it is asked, ends with its parent. */

/** Operations; libgit2's memory is invisible to V8, and would pile up otherwise. */
const collectEvery = 100
const measureEvery = 20
/** Of so many operations one finds libgit2's cache off, which empties it. */
const forgetEvery = 50
/** Pieces of a stream that may be on their way before the operation waits. */
const piecesAhead = 4

interface Running {
  readonly controller: AbortController
  ahead: number
  resume: (() => void) | undefined
}

const repositories = new OpenRepositories()
const pieces = new PieceWriter(4)
const running = new Map<number, Running>()
let finished = 0
let memory = 0

/** Memory of our own; what is mapped from packs is the system's to take back. */
function measureMemory(): number {
  try {
    const anonymous = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))
    if (anonymous) return Number(anonymous[1]) * 1024
  } catch {
    // Not Linux.
  }
  return process.memoryUsage.rss()
}

function send(message: FromEngine): void {
  // A server that is being killed takes nothing any more, and this process ends with it.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}

async function run(message: Extract<ToEngine, { kind: 'run' }>): Promise<void> {
  const { id } = message
  const state: Running = { controller: new AbortController(), ahead: 0, resume: undefined }
  running.set(id, state)
  const job: Job = {
    repository: repositories.get(message.path),
    signal: state.controller.signal,
    emit: (bytes) => emit(id, state, bytes),
  }
  try {
    const declared = operations.get(message.operation)
    if (!declared) throw new Error(`no operation is called ${message.operation}`)
    // The input was typed by the caller of this very operation on the other side.
    const value = await (declared as Operation<unknown, unknown>).run(job, message.input)
    // Pieces go another way than this message, which must be the last thing that arrives.
    await until(state, (ahead) => ahead === 0)
    send({ kind: 'done', id, value, memory })
  } catch (error) {
    send({ kind: 'failed', id, error: packError(error), memory })
  } finally {
    running.delete(id)
    finished += 1
    if (finished % collectEvery === 0) collectNewest()
    if (finished % forgetEvery < 2) keepObjects(finished % forgetEvery === 1)
    if (finished % measureEvery === 0) memory = measureMemory()
  }
}

async function emit(id: number, state: Running, bytes: Uint8Array): Promise<void> {
  state.ahead += 1
  pieces.write(id, bytes)
  await until(state, (ahead) => ahead < piecesAhead)
}

/** Waits until so few pieces are on their way as it takes; throws when nobody wants them any more. */
async function until(state: Running, isEnough: (ahead: number) => boolean): Promise<void> {
  const { signal } = state.controller
  while (!isEnough(state.ahead) && !signal.aborted) {
    await new Promise<void>((resolve) => {
      state.resume = resolve
    })
  }
  if (signal.aborted && state.ahead > 0) throw new GitError('timeout', 'the reader went away')
}

function more(id: number): void {
  const state = running.get(id)
  if (!state) return
  state.ahead -= 1
  state.resume?.()
}

function cancel(id: number): void {
  const state = running.get(id)
  state?.controller.abort()
  state?.resume?.()
}

process.on('message', (message: ToEngine) => {
  if (message.kind === 'run') void run(message)
  else if (message.kind === 'cancel') cancel(message.id)
  else if (message.kind === 'more') more(message.id)
  else repositories.forget(message.path)
})
process.on('disconnect', () => process.exit(0))
// The server may have ended while this was being read.
if (!process.connected) process.exit(0)
// Ctrl-C reaches the whole group; the parent decides when we end.
process.on('SIGINT', () => {})

// nodegit is loaded when the first operation needs it: it costs a tenth of a second and 35 MB.
send({ kind: 'ready' })
