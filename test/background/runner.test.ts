import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { forgetDeadTasks } from '../../src/background/forget.ts'
import { postponeWhileHeld } from '../../src/background/postponed.ts'
import { claimTasks } from '../../src/background/queries.ts'
import { makeWork, type Work } from '../../src/background/queue.ts'
import { type TaskCtx, TaskRunner } from '../../src/background/runner.ts'
import { daily, every, type Schedule } from '../../src/background/schedule.ts'
import { type AnyTask, task } from '../../src/background/task.ts'
import { type Instant, later } from '../../src/base/clock.ts'
import { Hold } from '../../src/base/hold.ts'
import { silentLog } from '../../src/base/log.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { startChild } from '../support/child.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

let store: TestStore
let clock: Instant
let work: Work
let runner: TaskRunner<TaskCtx> | undefined

beforeEach(() => {
  store = openTestStore()
  clock = '2026-01-02T03:04:05.000Z'
  work = makeWork(
    () => clock,
    () => runner?.wake(),
  )
})
afterEach(async () => {
  await runner?.stop(1000)
  runner = undefined
  await store.remove()
})

const payload = z.object({ n: z.number() })

/** Nothing is found by a look at the table that nobody asked for. */
const never = 3_600_000

function makeRunner(
  tasks: AnyTask<TaskCtx>[],
  more: {
    places?: { quick: number; slow: number }
    schedules?: Schedule[]
    lookMs?: number
  } = {},
) {
  const ctx = { db: store.db, work, log: silentLog, now: () => clock }
  runner = new TaskRunner({ tasks, makeCtx: () => ctx, ...more })
  return runner
}

function noting(ran: number[], more: { attempts?: number; lane?: 'quick' | 'slow' } = {}) {
  return task<TaskCtx, { n: number }>({
    name: 'test.note',
    payload,
    async handler(_ctx, { n }) {
      ran.push(n)
    },
    ...more,
  })
}

function rows() {
  return store.db.selectFrom('tasks').selectAll().orderBy('id').execute()
}

describe('a task', () => {
  test('runs once, in the order of its time, and then leaves the table', async () => {
    const ran: number[] = []
    const note = noting(ran)
    await work.enqueue(store.db, note, { n: 2 }, { runAt: later(clock, -1000) })
    await work.enqueue(store.db, note, { n: 3 })
    await work.enqueue(store.db, note, { n: 1 }, { runAt: later(clock, -2000) })
    await makeRunner([note]).runDue()
    expect(ran).toEqual([1, 2, 3])
    expect(await rows()).toEqual([])
  })

  test('of a transaction that is undone does not exist', async () => {
    const ran: number[] = []
    const note = noting(ran)
    const undone = inTransaction({ db: store.db }, async (ctx) => {
      await work.enqueue(ctx.db, note, { n: 1 })
      throw new Error('no')
    })
    await expect(undone).rejects.toThrow('no')
    await makeRunner([note]).runDue()
    expect(ran).toEqual([])
  })

  test('that is enqueued inside a transaction runs right after it', async () => {
    const ran: number[] = []
    const note = noting(ran)
    await makeRunner([note], { lookMs: never }).start()
    await inTransaction({ db: store.db }, async (ctx) => {
      await work.enqueue(ctx.db, note, { n: 1 })
      await pause(10)
      expect(ran).toEqual([])
    })
    await expect.poll(() => ran, { interval: 5 }).toEqual([1])
  })

  test('waits for its time', async () => {
    const ran: number[] = []
    const note = noting(ran)
    await work.enqueue(store.db, note, { n: 1 }, { runAt: later(clock, 60_000) })
    const it = makeRunner([note])
    await it.runDue()
    expect(ran).toEqual([])
    clock = later(clock, 60_000)
    await it.runDue()
    expect(ran).toEqual([1])
  })

  test('with a key waits once, with the payload of the last who asked', async () => {
    const ran: number[] = []
    const note = noting(ran)
    const wait = { uniqueKey: 'k', runAt: later(clock, 1000) }
    await work.enqueue(store.db, note, { n: 1 }, wait)
    await work.enqueue(store.db, note, { n: 2 }, { uniqueKey: 'k' })
    await work.enqueue(store.db, note, { n: 3 }, { ...wait, uniqueKey: 'other' })
    expect(await rows()).toHaveLength(2)
    await makeRunner([note]).runDue()
    expect(ran).toEqual([2])
  })

  test('with a key is added again while one with it runs', async () => {
    const ran: number[] = []
    const again = task<TaskCtx, { n: number }>({
      name: 'test.again',
      payload,
      async handler(ctx, { n }) {
        ran.push(n)
        if (n < 3) await ctx.work.enqueue(ctx.db, again, { n: n + 1 }, { uniqueKey: 'k' })
      },
    })
    await work.enqueue(store.db, again, { n: 1 }, { uniqueKey: 'k' })
    await makeRunner([again]).runDue()
    expect(ran).toEqual([1, 2, 3])
  })

  test('with a payload of the wrong shape is refused by the one who asks', async () => {
    const wrong = work.enqueue(store.db, noting([]), { n: 'x' } as unknown as { n: number })
    await expect(wrong).rejects.toThrow('expected number')
    expect(await rows()).toEqual([])
  })
})

describe('a task that fails', () => {
  test('is tried again after longer and longer pauses, then kept with its error', async () => {
    const tried: Instant[] = []
    const broken = task<TaskCtx, { n: number }>({
      name: 'test.broken',
      payload,
      attempts: 3,
      async handler() {
        tried.push(clock)
        throw new Error('upstream https://me:hush@example.com/ is down')
      },
    })
    await work.enqueue(store.db, broken, { n: 1 })
    const it = makeRunner([broken])
    for (const seconds of [0, 10, 20, 3600]) {
      clock = later(clock, seconds * 1000)
      await it.runDue()
    }
    expect(tried).toHaveLength(3)
    const [row] = await rows()
    expect(row).toMatchObject({ state: 'dead', attempts: 3, locked_by: null })
    expect(row?.last_error).toContain('is down')
    expect(row?.last_error).not.toContain('hush')
  })

  test('for good is reported once, with the reason, and is forgotten after a month', async () => {
    const failures: unknown[] = []
    const broken = task<TaskCtx, { n: number }>({
      name: 'test.broken',
      payload,
      attempts: 2,
      async handler() {
        throw new Error('no luck')
      },
      async givenUp(ctx, { n }, reason) {
        failures.push([ctx.db.isTransaction, n, reason])
        if (n === 2) throw new Error('a fault in the end')
      },
    })
    for (const n of [1, 2]) await work.enqueue(store.db, broken, { n })
    const it = makeRunner([broken, forgetDeadTasks])
    await it.runDue()
    expect(failures).toEqual([])
    clock = later(clock, 3_600_000)
    await it.runDue()
    expect(failures).toEqual([
      [true, 1, 'no luck'],
      [true, 2, 'no luck'],
    ])
    expect((await rows()).map(({ state }) => state)).toEqual(['dead', 'dead'])
    const day = 86_400_000
    for (const [days, left] of [
      [29, 2],
      [2, 0],
    ] as const) {
      clock = later(clock, days * day)
      await work.enqueue(store.db, forgetDeadTasks, {})
      await it.runDue()
      expect(await rows()).toHaveLength(left)
    }
    expect(failures).toHaveLength(2)
  })

  test('is not tried again before its pause is over', async () => {
    let tries = 0
    const broken = task<TaskCtx, { n: number }>({
      name: 'test.broken',
      payload,
      async handler() {
        tries++
        throw new Error('no')
      },
    })
    await work.enqueue(store.db, broken, { n: 1 })
    const it = makeRunner([broken])
    await it.runDue()
    clock = later(clock, 9999)
    await it.runDue()
    expect(tries).toBe(1)
  })

  test('makes way for a newer one with its key', async () => {
    const tried: number[] = []
    const broken = task<TaskCtx, { n: number }>({
      name: 'test.broken',
      payload,
      async handler(ctx, { n }) {
        tried.push(n)
        if (n === 1) {
          await ctx.work.enqueue(ctx.db, broken, { n: 2 }, { uniqueKey: 'k' })
          throw new Error('no')
        }
      },
    })
    await work.enqueue(store.db, broken, { n: 1 }, { uniqueKey: 'k' })
    await makeRunner([broken]).runDue()
    expect(tried).toEqual([1, 2])
    expect(await rows()).toEqual([])
  })

  test('by taking too long loses its place', async () => {
    let signalled = false
    const endless = task<TaskCtx, { n: number }>({
      name: 'test.endless',
      payload,
      attempts: 1,
      timeout: 20,
      async handler(_ctx, _payload, signal) {
        signal.addEventListener('abort', () => {
          signalled = true
        })
        await new Promise(() => {})
      },
    })
    await work.enqueue(store.db, endless, { n: 1 })
    await makeRunner([endless]).runDue()
    expect(signalled).toBe(true)
    expect((await rows())[0]).toMatchObject({ state: 'dead' })
  })

  test('because nobody knows it is kept as dead at the next start', async () => {
    await work.enqueue(store.db, noting([]), { n: 1 })
    await makeRunner([]).recover()
    expect((await rows())[0]).toMatchObject({
      state: 'dead',
      last_error: 'no part of this program knows the task',
    })
  })
})

describe('a full disk', () => {
  test('is no attempt of the task that finds no room', async () => {
    const filling = task<TaskCtx, { n: number }>({
      name: 'test.filling',
      payload,
      attempts: 1,
      async handler() {
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      },
    })
    await work.enqueue(store.db, filling, { n: 1 })
    const it = makeRunner([filling])
    for (let time = 0; time < 3; time++) {
      await it.runDue()
      clock = later(clock, 10_000)
    }
    expect(await rows()).toEqual([expect.objectContaining({ state: 'ready', attempts: 0 })])
  })

  test('keeps no task from ending once there is room, without another start', async () => {
    const ran: number[] = []
    const note = noting(ran)
    await work.enqueue(store.db, note, { n: 1 })
    // As SQLite says it; a trigger refuses to take the row away.
    await sql`CREATE TRIGGER full BEFORE DELETE ON tasks BEGIN
      SELECT RAISE(ABORT, 'database or disk is full'); END`.execute(store.db)
    const it = makeRunner([note], { lookMs: 20 })
    await it.start()
    await expect.poll(() => ran).toEqual([1])
    await expect.poll(() => it.running).toBe(0)
    expect(await rows()).toHaveLength(1)
    await sql`DROP TRIGGER full`.execute(store.db)
    await expect.poll(rows).toEqual([])
    expect(ran).toEqual([1])
  })
})

describe('places', () => {
  test('no more tasks run at once than there are places, and slow ones do not take those of quick ones', async () => {
    const now = { quick: 0, slow: 0 }
    const most = { quick: 0, slow: 0 }
    const order: string[] = []
    const make = (lane: 'quick' | 'slow', name: string, milliseconds: number) =>
      task<TaskCtx, { n: number }>({
        name,
        payload,
        lane,
        async handler() {
          now[lane]++
          most[lane] = Math.max(most[lane], now[lane])
          await pause(milliseconds)
          now[lane]--
          order.push(lane)
        },
      })
    const quick = make('quick', 'test.quick', 1)
    const slow = make('slow', 'test.slow', 200)
    for (let n = 0; n < 3; n++) await work.enqueue(store.db, slow, { n })
    for (let n = 0; n < 9; n++) await work.enqueue(store.db, quick, { n })
    await makeRunner([slow, quick], { places: { quick: 3, slow: 1 } }).start()
    await expect.poll(() => order.length).toBe(12)
    expect(most).toEqual({ quick: 3, slow: 1 })
    expect(order.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 'quick'))
  })

  test('are not given twice by looks at the same moment, and each waits for what the others began', async () => {
    let [running, most, ended] = [0, 0, 0]
    const it = task<TaskCtx, { n: number }>({
      name: 'test.some',
      payload,
      async handler() {
        running += 1
        most = Math.max(most, running)
        await pause(5)
        running -= 1
        ended += 1
      },
    })
    for (let n = 0; n < 12; n++) await work.enqueue(store.db, it, { n })
    const one = makeRunner([it], { places: { quick: 2, slow: 1 } })
    await one.start()
    const endedAfter = await Promise.all(
      [1, 2, 3].map(async () => {
        await one.runDue()
        return ended
      }),
    )
    expect(most).toBe(2)
    expect(endedAfter).toEqual([12, 12, 12])
  })

  test('are found for a quick task behind hundreds of slow ones that were due before it', async () => {
    const ran: number[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const slow = task<TaskCtx, { n: number }>({
      name: 'test.slow',
      payload,
      lane: 'slow',
      handler: () => gate,
    })
    const quick = noting(ran)
    await inTransaction({ db: store.db }, async ({ db }) => {
      for (let n = 0; n < 300; n++) await work.enqueue(db, slow, { n })
      await work.enqueue(db, quick, { n: 1 })
    })
    await makeRunner([slow, quick], { places: { quick: 1, slow: 1 }, lookMs: never }).start()
    await expect.poll(() => ran, { interval: 5 }).toEqual([1])
    expect((await rows()).filter(({ state }) => state === 'running')).toHaveLength(1)
    open()
  })
})

describe('a stop', () => {
  test('waits for what runs, and starts nothing more', async () => {
    const ended: number[] = []
    const it = task<TaskCtx, { n: number }>({
      name: 'test.some',
      payload,
      async handler(_ctx, { n }) {
        await pause(30)
        ended.push(n)
      },
    })
    for (let n = 1; n <= 3; n++) await work.enqueue(store.db, it, { n })
    const one = makeRunner([it], { places: { quick: 1, slow: 1 } })
    await one.start()
    await expect.poll(() => one.running, { interval: 2 }).toBe(1)
    const before = ended.length
    await one.stop(1000)
    expect(ended).toHaveLength(before + 1)
    const left = Array.from({ length: 2 - before }, () => 'ready')
    expect((await rows()).map((row) => row.state)).toEqual(left)
  })

  test('cuts off after the grace, and what was cut off is ready to run again', async () => {
    const it = task<TaskCtx, { n: number }>({
      name: 'test.long',
      payload,
      handler: () => new Promise(() => {}),
    })
    await work.enqueue(store.db, it, { n: 1 })
    const one = makeRunner([it])
    await one.start()
    await expect.poll(() => one.running).toBe(1)
    await one.stop(10)
    expect((await rows())[0]).toMatchObject({ state: 'ready', attempts: 0, locked_by: null })
  })
})

describe('schedules', () => {
  test('a daily task runs once a day, and once for days that the server was off', async () => {
    const ran: number[] = []
    const note = noting(ran)
    const it = makeRunner([note], { schedules: [daily('04:00', note, { n: 1 })] })
    await it.runDue()
    await it.runDue()
    expect(ran).toHaveLength(1)
    clock = '2026-01-02T04:00:00.000Z'
    await it.runDue()
    expect(ran).toHaveLength(2)
    clock = '2026-01-09T12:00:00.000Z'
    await it.runDue()
    expect(ran).toHaveLength(3)
  })

  test('a periodic task runs in each of its periods', async () => {
    const ran: number[] = []
    const note = noting(ran)
    const it = makeRunner([note], { schedules: [every(600_000, note, { n: 1 })] })
    for (const time of ['03:04:05', '03:09:59', '03:10:00', '03:25:00']) {
      clock = `2026-01-02T${time}.000Z`
      await it.runDue()
    }
    expect(ran).toHaveLength(3)
  })
})

describe('a process that is killed', () => {
  test('has each of its tasks done by the next one, and no task is lost', async () => {
    const note = task<TaskCtx, { n: number }>({
      name: 'test.note',
      payload,
      async handler() {},
    })
    const all = Array.from({ length: 30 }, (_, n) => n)
    for (const n of all) await work.enqueue(store.db, note, { n })
    const script = new URL('./worker.mjs', import.meta.url)
    for (const turn of [1, 2]) {
      const child = startChild(script, store.folder)
      for (let seen = 0; seen < 6; seen++) await child.lines.next()
      await child.kill()
      expect((await rows()).length, `after kill ${turn}`).toBeGreaterThan(0)
    }
    const last = startChild(script, store.folder)
    await expect.poll(async () => (await rows()).length, { timeout: 60_000, interval: 50 }).toBe(0)
    await last.kill()
    const ended = new Set(readFileSync(`${store.folder}/ended`, 'utf8').trim().split('\n'))
    expect(ended.size).toBe(all.length)
  }, 90_000)

  test('again and again uses up no attempt of what it ran', async () => {
    const innocent = noting([], { attempts: 2 })
    for (let n = 1; n <= 20; n++) await work.enqueue(store.db, innocent, { n })
    for (let time = 1; time <= 3; time++) await endWhileRunning(innocent)
    const unharmed = { state: 'ready', attempts: 0, cut_offs: 3, run_at: clock }
    expect(await rows()).toEqual(Array(20).fill(expect.objectContaining(unharmed)))
  })

  test('by its own task over and over keeps the task as dead in the end, after longer and longer pauses', async () => {
    const deadly = noting([], { attempts: 2 })
    await work.enqueue(store.db, deadly, { n: 1 })
    const pauses: number[] = []
    for (let time = 1; time < 20; time++) {
      await endWhileRunning(deadly)
      const [row] = await rows()
      expect(row).toMatchObject({ state: 'ready', attempts: 0, cut_offs: time })
      pauses.push((Date.parse(row?.run_at ?? '') - Date.parse(clock)) / 1000)
      clock = row?.run_at ?? clock
    }
    expect(pauses.slice(0, 6)).toEqual([0, 0, 0, 10, 20, 40])
    expect(pauses.at(-1)).toBe(3600)
    await endWhileRunning(deadly)
    expect((await rows())[0]).toMatchObject({ state: 'dead', locked_by: null })
  })
})

/** What the table says after a process that had claimed whatever is due was killed, and the next one has begun. */
async function endWhileRunning(known: AnyTask<TaskCtx>): Promise<void> {
  const names = new Set([known.name])
  await claimTasks(store.db, { now: clock, by: 'gone', rooms: [{ limit: 100, names }] })
  await makeRunner([known]).recover()
}

test('a task that is put off runs later, however often, and that is no attempt', async () => {
  const deletions = new Hold()
  let ran = 0
  const tidy = task<TaskCtx, { n: number }>({
    name: 'test.tidy',
    payload,
    attempts: 1,
    async handler() {
      postponeWhileHeld(deletions)
      ran += 1
    },
  })
  const running = makeRunner([tidy])
  await work.enqueue(store.db, tidy, { n: 1 })
  const release = deletions.take()
  for (let time = 0; time < 3; time += 1) {
    await running.runDue()
    const [row] = await store.db.selectFrom('tasks').selectAll().execute()
    expect(row).toMatchObject({ state: 'ready', attempts: 0 })
    clock = later(clock, 5 * 60_000)
  }
  expect(ran).toBe(0)
  release()
  await running.runDue()
  expect(ran).toBe(1)
})
