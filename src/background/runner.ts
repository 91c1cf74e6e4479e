import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Instant, later } from '../base/clock.ts'
import { isDiskFull } from '../base/full-disk.ts'
import type { Log } from '../base/log.ts'
import { redactText } from '../base/redact.ts'
import type { Db } from '../store/schema.ts'
import { flushLater, inTransaction } from '../store/transaction.ts'
import { Postponed } from './postponed.ts'
import {
  buryTask,
  claimTasks,
  deleteTask,
  isAnyTaskDue,
  listRunningTasks,
  listStrangeTasks,
  retryTask,
  type TaskRow,
} from './queries.ts'
import type { Work } from './queue.ts'
import { enqueueScheduled, type Schedule } from './schedule.ts'
import type { AnyTask, Lane } from './task.ts'

/** The least that the runner must find in what it hands to tasks. */
export interface TaskCtx {
  readonly db: Db
  readonly work: Work
  readonly log: Log
  now(): Instant
}

export interface RunnerOptions<C extends TaskCtx> {
  readonly tasks: readonly AnyTask<C>[]
  readonly schedules?: readonly Schedule[]
  /** What a task holds in its hands, acting for the system. */
  readonly makeCtx: () => C
  readonly places?: Readonly<Partial<Record<Lane, number>>>
  /** How often the table is looked at without being woken, for rows that another process has added. */
  readonly lookMs?: number
}

const restMs = 10
const firstPauseMs = 10_000
const longestPauseMs = 3_600_000
/**
 * A process mostly ends for reasons that are not the task's: that is no attempt. From then on the task may be the
 * reason, and waits longer each time, so that the server is there in between; the last of the pauses are hours.
 */
const freeCutOffs = 3
const mostCutOffs = 20
/** How long a task waits that found no room on the disk. */
const fullDiskPauseMs = 10_000

/** How long after the nth failure a task is tried again: 10 s, 20 s, 40 s … at most an hour. */
function pauseAfter(attempts: number): number {
  return Math.min(firstPauseMs * 2 ** (attempts - 1), longestPauseMs)
}

const lanes: readonly Lane[] = ['quick', 'slow', 'outbound', 'mirroring', 'gathering']

interface Running {
  readonly row: TaskRow
  readonly abort: AbortController
  readonly done: Promise<void>
}

/** Runs the tasks that are rows in the database. One process has one, since the data folder has one server. */
export class TaskRunner<C extends TaskCtx> {
  readonly #options: RunnerOptions<C>
  readonly #tasks: ReadonlyMap<string, AnyTask<C>>
  readonly #places: Readonly<Record<Lane, number>>
  /** The names of the tasks of each lane. */
  readonly #names: Readonly<Record<Lane, ReadonlySet<string>>>
  readonly #by = `${process.pid}-${randomUUID()}`
  readonly #running = new Map<number, Running>()
  #state: 'new' | 'started' | 'stopped' = 'new'
  #timer: NodeJS.Timeout | undefined
  #look: Promise<void> | undefined
  #claim: Promise<unknown> = Promise.resolve()
  #lookAgain = false
  #recovered = false
  /** How tasks ended whose row could not be changed; until then it stays marked as running. */
  readonly #unsaved = new Map<number, () => Promise<void>>()

  constructor(options: RunnerOptions<C>) {
    this.#options = options
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]))
    if (this.#tasks.size < options.tasks.length) throw new Error('two tasks have the same name')
    this.#places = { quick: 4, slow: 2, outbound: 8, mirroring: 3, gathering: 4, ...options.places }
    const namesIn = (lane: Lane) =>
      new Set(options.tasks.filter((one) => one.lane === lane).map((one) => one.name))
    this.#names = {
      quick: namesIn('quick'),
      slow: namesIn('slow'),
      outbound: namesIn('outbound'),
      mirroring: namesIn('mirroring'),
      gathering: namesIn('gathering'),
    }
  }

  get running(): number {
    return this.#running.size
  }

  /** Takes back what a dead process left, then runs whatever is due. */
  async start(): Promise<void> {
    await this.#begin().catch((error: unknown) => {
      if (!isDiskFull(error)) throw error
      this.#options.makeCtx().log.error('background work waits for room on the disk', { error })
    })
    this.#state = 'started'
    this.#timer = setInterval(() => this.wake('tick'), this.#options.lookMs ?? 5000)
    this.#timer.unref()
    this.wake()
  }

  /** Looks for due tasks soon. Inside a transaction that means: after it, since a claim waits until it may write. */
  wake(why: 'enqueued' | 'tick' = 'enqueued'): void {
    if (this.#state !== 'started') return
    if (this.#look) {
      this.#lookAgain = true
      return
    }
    const look: Promise<unknown> = why === 'tick' ? this.#tick() : this.#claimDue()
    this.#look = look
      .catch((error) => this.#options.makeCtx().log.error('tasks cannot be claimed', { error }))
      // Where many tasks begin and end, one look does for all that did in the meantime.
      .then(() => sleep(restMs))
      .finally(() => {
        this.#look = undefined
        if (!this.#lookAgain) return
        this.#lookAgain = false
        this.wake()
      })
  }

  /** Runs everything that is due, and what that makes due, to its end. For tests and commands. */
  async runDue(): Promise<void> {
    await this.#enqueueScheduled()
    for (;;) {
      const isNothingDue = await this.#claimDue()
      if (isNothingDue && this.#running.size === 0) return
      await Promise.all([...this.#running.values()].map((one) => one.done))
    }
  }

  /** Waits for running tasks; those that last beyond the grace are aborted, and will run again at the next start. */
  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped'
    clearInterval(this.#timer)
    await this.#look
    const all = Promise.all([...this.#running.values()].map((one) => one.done))
    if (await endsWithin(all, graceMs)) return
    for (const { abort } of this.#running.values()) abort.abort(new Error('the server stops'))
    await all
  }

  /** Tasks that are marked as running although nobody runs them: their process has died. */
  async recover(): Promise<void> {
    const { db, log, now } = this.#options.makeCtx()
    for (const row of await listRunningTasks(db)) {
      if (this.#running.has(row.id) || this.#unsaved.has(row.id)) continue
      log.warn('task was cut off', { task: row.name, id: row.id, attempts: row.attempts })
      await this.#giveBack(row, 'the process ended during the task')
    }
    for (const row of await listStrangeTasks(db, [...this.#tasks.keys()])) {
      log.error('no such task', { task: row.name, id: row.id })
      const error = 'no part of this program knows the task'
      await buryTask(db, row.id, { error, at: now() })
    }
  }

  async #giveBack(row: TaskRow, why: string): Promise<void> {
    const ctx = this.#options.makeCtx()
    const { db, now } = ctx
    const cutOffs = row.cut_offs + 1
    // A task that takes the process down with it must not do so for ever.
    if (cutOffs >= mostCutOffs) return await this.#giveUp(ctx, row, { reason: why, text: why })
    const pause = cutOffs > freeCutOffs ? pauseAfter(cutOffs - freeCutOffs) : 0
    const counts = { attempts: row.attempts - 1, cut_offs: cutOffs }
    await retryTask(db, row, { runAt: later(now(), pause), error: why, counts })
  }

  /** Keeps a task as dead, and lets whoever waits for it know. */
  async #giveUp(ctx: C, row: TaskRow, why: { reason: string; text: string }): Promise<void> {
    const dead = { error: why.text, at: ctx.now() }
    const task = this.#tasks.get(row.name)
    try {
      await inTransaction(ctx, async (inner) => {
        await task?.givenUp?.(inner, task.payload.parse(JSON.parse(row.payload)), why.reason)
        await buryTask(inner.db, row.id, dead)
      })
    } catch (error) {
      if (isDiskFull(error)) throw error
      // A fault in there must neither bring the task back nor keep the server from starting.
      ctx.log.error('the end of a task cannot be recorded', { task: row.name, id: row.id, error })
      await buryTask(ctx.db, row.id, dead)
    }
  }

  async #enqueueScheduled(): Promise<void> {
    const ctx = this.#options.makeCtx()
    await enqueueScheduled(ctx, this.#options.schedules ?? [], ctx.now())
  }

  async #begin(): Promise<void> {
    await this.recover()
    this.#recovered = true
    await this.#enqueueScheduled()
  }

  /** What could not be written when it was due, on a full disk for example. */
  async #catchUp(): Promise<void> {
    if (!this.#recovered) await this.#begin()
    for (const [id, save] of this.#unsaved) {
      await save()
      this.#unsaved.delete(id)
    }
  }

  async #tick(): Promise<void> {
    await this.#catchUp()
    await this.#enqueueScheduled()
    const { db, now } = this.#options.makeCtx()
    if (await isAnyTaskDue(db, now())) await this.#claimDue()
  }

  /** One claim at a time: each must know what the one before it has begun. */
  #claimDue(): Promise<boolean> {
    const claim = this.#claim.catch(() => {}).then(() => this.#claimNow())
    this.#claim = claim
    return claim
  }

  /** Whether nothing is due: where a lane has no room nobody knows. */
  async #claimNow(): Promise<boolean> {
    const ctx = this.#options.makeCtx()
    const rooms = lanes.map((lane) => {
      const limit = Math.max(0, this.#places[lane] - this.#runningIn(lane))
      return { limit, names: this.#names[lane] }
    })
    if (rooms.every(({ limit }) => limit === 0)) return false
    const claimed = await withoutWaiting(ctx, (db) =>
      claimTasks(db, { now: ctx.now(), by: this.#by, rooms }),
    )
    for (const row of claimed) this.#run(row)
    const isFull = lanes.some((lane, at) => this.#places[lane] > 0 && rooms[at]?.limit === 0)
    return claimed.length === 0 && !isFull
  }

  #runningIn(lane: Lane): number {
    const all = [...this.#running.values()]
    return all.filter((one) => this.#tasks.get(one.row.name)?.lane === lane).length
  }

  #run(row: TaskRow): void {
    const task = this.#tasks.get(row.name)
    if (!task) return
    const abort = new AbortController()
    const done = this.#finish(row, task, abort).finally(() => {
      this.#running.delete(row.id)
      this.wake()
    })
    this.#running.set(row.id, { row, abort, done })
  }

  async #finish(row: TaskRow, task: AnyTask<C>, abort: AbortController): Promise<void> {
    const ctx = this.#options.makeCtx()
    const error = await this.#attempt(ctx, row, task, abort)
    const cutOff = this.#state === 'stopped' && abort.signal.aborted
    const save = () => this.#save(ctx, row, task, error, cutOff)
    try {
      await save()
    } catch (failure) {
      // The next tick tries again; after a crash the next start takes the row back.
      this.#unsaved.set(row.id, save)
      const about = { task: row.name, id: row.id, error: failure }
      ctx.log.error('the end of a task cannot be saved', about)
    }
  }

  async #save(
    ctx: C,
    row: TaskRow,
    task: AnyTask<C>,
    error: unknown,
    cutOff: boolean,
  ): Promise<void> {
    if (error === undefined) await withoutWaiting(ctx, (db) => deleteTask(db, row.id))
    else if (cutOff) {
      const counts = { attempts: row.attempts - 1, cut_offs: row.cut_offs }
      await retryTask(ctx.db, row, { runAt: ctx.now(), error: 'the server stopped', counts })
    } else await this.#fail(ctx, row, task, error)
  }

  async #attempt(ctx: C, row: TaskRow, task: AnyTask<C>, abort: AbortController): Promise<unknown> {
    const tooLong = new Error(`took longer than ${task.timeout} ms`)
    const timer = setTimeout(() => abort.abort(tooLong), task.timeout)
    try {
      const payload: unknown = task.payload.parse(JSON.parse(row.payload))
      await Promise.race([task.handler(ctx, payload, abort.signal), rejectionOf(abort.signal)])
      return undefined
    } catch (error) {
      return error ?? new Error('failed without a reason')
    } finally {
      clearTimeout(timer)
    }
  }

  async #fail(ctx: C, row: TaskRow, task: AnyTask<C>, error: unknown): Promise<void> {
    const text = redactText(error instanceof Error ? (error.stack ?? error.message) : String(error))
    const about = { task: row.name, id: row.id, attempts: row.attempts, error }
    if (error instanceof Postponed) {
      const counts = { attempts: row.attempts - 1, cut_offs: row.cut_offs }
      const runAt = later(ctx.now(), error.milliseconds)
      return await retryTask(ctx.db, row, { runAt, error: text, counts })
    }
    if (isDiskFull(error)) {
      // No fault of the task's, and it may last for days.
      const counts = { attempts: row.attempts - 1, cut_offs: row.cut_offs }
      const runAt = later(ctx.now(), fullDiskPauseMs)
      return await retryTask(ctx.db, row, { runAt, error: text, counts })
    }
    if (row.attempts >= task.attempts) {
      ctx.log.error('task failed for good', about)
      return await this.#giveUp(ctx, row, { reason: reasonOf(error), text })
    }
    ctx.log.warn('task failed', about)
    const runAt = later(ctx.now(), pauseAfter(row.attempts))
    await retryTask(ctx.db, row, { runAt, error: text })
  }
}

/** Why a task failed, as users may read it: what the system says of a file names places on this machine. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown fault'
  return 'syscall' in error && 'code' in error ? String(error.code) : redactText(error.message)
}

/** Fails when the signal is raised: a handler that ignores it must not keep its place. */
function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** For what a power cut may take back: a task that was not claimed, or did not end, runs again. */
function withoutWaiting<T>(ctx: TaskCtx, act: (db: Db) => Promise<T>): Promise<T> {
  return inTransaction(ctx, async ({ db }) => {
    await flushLater(db)
    return await act(db)
  })
}

async function endsWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds)
  })
  const inTime = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
