import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { makeWork, type Work } from '../../src/background/queue.ts'
import { type RunnerOptions, type TaskCtx, TaskRunner } from '../../src/background/runner.ts'
import { daily, every } from '../../src/background/schedule.ts'
import { type AnyTask, type Task, task } from '../../src/background/task.ts'
import { type Instant, later } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

interface Payload {
  readonly n: number
}

let store: TestStore
let clock: Instant
let work: Work
let runner: TaskRunner<TaskCtx> | undefined
let ran: number[]

beforeAll(() => {
  store = openTestStore()
})
beforeEach(async () => {
  clock = '2026-03-01T12:00:00.000Z'
  ran = []
  work = makeWork(
    () => clock,
    () => runner?.wake(),
  )
  await store.db.deleteFrom('tasks').execute()
  await store.db.deleteFrom('schedules').execute()
})
afterEach(async () => {
  await runner?.stop(500)
  runner = undefined
})
afterAll(() => store.remove())

const payload = z.object({ n: z.number() })

function makeRunner(
  tasks: AnyTask<TaskCtx>[],
  more: Partial<RunnerOptions<TaskCtx>> = {},
): TaskRunner<TaskCtx> {
  const ctx = { db: store.db, work, log: silentLog, now: () => clock }
  runner = new TaskRunner({ tasks, makeCtx: () => ctx, ...more })
  return runner
}

/** A task that notes that it ran, and does what the test says. */
function noting(more: Partial<Task<TaskCtx, Payload>> = {}): Task<TaskCtx, Payload> {
  return task<TaskCtx, Payload>({
    name: 'test.note',
    payload,
    async handler(_ctx, { n }) {
      ran.push(n)
    },
    ...more,
  })
}

function failing(error: unknown, more: Partial<Task<TaskCtx, Payload>> = {}) {
  return noting({
    async handler(_ctx, { n }) {
      ran.push(n)
      throw error
    },
    ...more,
  })
}

const rows = () => store.db.selectFrom('tasks').selectAll().orderBy('id').execute()

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describe('the order', () => {
  test('of tasks due at the same moment is that in which they were asked for', async () => {
    const note = noting()
    for (const n of [3, 1, 2, 5, 4]) await work.enqueue(store.db, note, { n })
    await makeRunner([note], { places: { quick: 1 } }).runDue()
    expect(ran).toEqual([3, 1, 2, 5, 4])
  })

  test('is by the moment at which they are due, not by when they were asked for', async () => {
    const note = noting()
    for (const seconds of [0, -30, -10, -20]) {
      await work.enqueue(store.db, note, { n: seconds }, { runAt: later(clock, seconds * 1000) })
    }
    await makeRunner([note], { places: { quick: 1 } }).runDue()
    expect(ran).toEqual([-30, -20, -10, 0])
  })

  test('holds among more tasks than are looked at in one go', async () => {
    const note = noting()
    const many = Array.from({ length: 450 }, (_, n) => n)
    await inTransaction({ db: store.db }, async ({ db }) => {
      for (const n of many) await work.enqueue(db, note, { n })
    })
    await makeRunner([note], { places: { quick: 50 } }).runDue()
    expect(ran).toEqual(many)
    expect(await rows()).toEqual([])
  })
})

describe('the moment to run at', () => {
  test('is kept to the millisecond', async () => {
    const note = noting()
    await work.enqueue(store.db, note, { n: 1 }, { runAt: later(clock, 1000) })
    const it = makeRunner([note])
    clock = later(clock, 999)
    await it.runDue()
    expect(ran).toEqual([])
    clock = later(clock, 1)
    await it.runDue()
    expect(ran).toEqual([1])
  })

  test('may lie in the past, after days without a server', async () => {
    const note = noting()
    await work.enqueue(store.db, note, { n: 1 }, { runAt: '2020-01-01T00:00:00.000Z' })
    await makeRunner([note]).runDue()
    expect(ran).toEqual([1])
  })

  test('of what a task asks for itself is now: it runs in the same sweep', async () => {
    const note: Task<TaskCtx, Payload> = noting({
      async handler(ctx, { n }) {
        ran.push(n)
        if (n < 5) await ctx.work.enqueue(ctx.db, note, { n: n + 1 })
      },
    })
    await work.enqueue(store.db, note, { n: 1 })
    await makeRunner([note]).runDue()
    expect(ran).toEqual([1, 2, 3, 4, 5])
  })
})

describe('a key', () => {
  test('is one for each kind of task', async () => {
    const [one, other] = [noting(), noting({ name: 'test.other' })]
    for (const kind of [one, other]) {
      await work.enqueue(store.db, kind, { n: 1 }, { uniqueKey: 'same' })
    }
    expect((await rows()).map(({ name }) => name)).toEqual(['test.note', 'test.other'])
  })

  test('brings the earlier of two moments, whoever comes first', async () => {
    const note = noting()
    const at = (seconds: number) => later(clock, seconds * 1000)
    for (const [key, seconds] of [
      ['earlier last', [60, 30]],
      ['earlier first', [30, 60]],
    ] as const) {
      for (const n of seconds) {
        await work.enqueue(store.db, note, { n }, { uniqueKey: key, runAt: at(n) })
      }
    }
    expect((await rows()).map((row) => [row.unique_key, row.run_at, row.payload])).toEqual([
      ['earlier last', at(30), '{"n":30}'],
      ['earlier first', at(30), '{"n":60}'],
    ])
  })

  test('makes one of two hundred asked for at once', async () => {
    const note = noting()
    await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        work.enqueue(store.db, note, { n }, { uniqueKey: 'busy' }),
      ),
    )
    expect(await rows()).toHaveLength(1)
    await makeRunner([note]).runDue()
    expect(ran).toHaveLength(1)
  })

  test('is free again once its task has ended, well or badly', async () => {
    const dead = failing(new Error('no'), { attempts: 1 })
    const it = makeRunner([dead])
    for (const n of [1, 2]) {
      await work.enqueue(store.db, dead, { n }, { uniqueKey: 'k' })
      await it.runDue()
    }
    expect(ran).toEqual([1, 2])
    expect((await rows()).map(({ state }) => state)).toEqual(['dead', 'dead'])
  })

  test('of a task that waits to be tried again takes the newer payload, at once', async () => {
    const broken = failing(new Error('no'))
    await work.enqueue(store.db, broken, { n: 1 }, { uniqueKey: 'k' })
    const it = makeRunner([broken])
    await it.runDue()
    await work.enqueue(store.db, broken, { n: 2 }, { uniqueKey: 'k' })
    await it.runDue()
    expect(ran).toEqual([1, 2])
    expect(await rows()).toMatchObject([{ attempts: 2, payload: '{"n":2}' }])
  })

  test('that was not given makes no two tasks one', async () => {
    const note = noting()
    for (let n = 0; n < 3; n += 1) await work.enqueue(store.db, note, { n: 7 })
    await makeRunner([note]).runDue()
    expect(ran).toEqual([7, 7, 7])
  })
})

describe('the pauses of a task that fails', () => {
  test('double from ten seconds to an hour, and are as many as its attempts', async () => {
    const broken = failing(new Error('no'))
    await work.enqueue(store.db, broken, { n: 1 })
    const it = makeRunner([broken])
    const pauses: number[] = []
    for (;;) {
      await it.runDue()
      const [row] = await rows()
      if (row?.state !== 'ready') break
      pauses.push((Date.parse(row.run_at) - Date.parse(clock)) / 1000)
      clock = row.run_at
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
    expect(ran).toHaveLength(12)
  })

  test('are forgotten with the task once it goes well', async () => {
    const shaky = noting({
      async handler(_ctx, { n }) {
        ran.push(n)
        if (ran.length < 3) throw new Error('not yet')
      },
    })
    await work.enqueue(store.db, shaky, { n: 1 })
    const it = makeRunner([shaky])
    for (let time = 0; time < 3; time += 1) {
      await it.runDue()
      clock = later(clock, 60_000)
    }
    expect(ran).toHaveLength(3)
    expect(await rows()).toEqual([])
  })

  test('hold up nothing else', async () => {
    const broken = failing(new Error('no'), { name: 'test.broken' })
    const note = noting()
    await work.enqueue(store.db, broken, { n: 1 })
    await work.enqueue(store.db, note, { n: 2 })
    await makeRunner([broken, note], { places: { quick: 1 } }).runDue()
    expect(ran).toEqual([1, 2])
    expect((await rows()).map(({ name }) => name)).toEqual(['test.broken'])
  })

  test.each([
    ['an error without words', new Error(''), 'Error'],
    ['a text', 'just words', 'just words'],
    ['nothing', undefined, 'failed without a reason'],
    ['null', null, 'failed without a reason'],
    ['an object', { code: 7 }, '[object Object]'],
  ])('come after whatever it throws: %s', async (_what, thrown, said) => {
    const broken = failing(thrown)
    await work.enqueue(store.db, broken, { n: 1 })
    await makeRunner([broken]).runDue()
    const [row] = await rows()
    expect(row).toMatchObject({ state: 'ready', attempts: 1, locked_by: null, locked_at: null })
    expect(row?.last_error).toContain(said)
  })

  test('come also when it throws before it waits for anything', async () => {
    const broken = noting({
      handler() {
        throw new Error('at once')
      },
    })
    await work.enqueue(store.db, broken, { n: 1 })
    await makeRunner([broken]).runDue()
    expect((await rows())[0]?.last_error).toContain('at once')
  })
})

describe('what is given up', () => {
  const giving = (error: unknown) => {
    const shownReasons: string[] = []
    const broken = failing(error, {
      attempts: 1,
      async givenUp(_ctx, _payload, reason) {
        shownReasons.push(reason)
      },
    })
    return { shownReasons, broken }
  }

  test.each([
    ['the words of the error', new Error('upstream says no'), 'upstream says no'],
    [
      'the code alone where the system names a place',
      Object.assign(new Error("ENOENT: open '/srv/data/x'"), { syscall: 'open', code: 'ENOENT' }),
      'ENOENT',
    ],
    [
      'no password',
      new Error('GET https://me:hush@host/ failed'),
      expect.not.stringContaining('hush'),
    ],
    ['an unknown fault for what is no error', { odd: true }, 'an unknown fault'],
  ])('shows users %s', async (_what, error, reason) => {
    const { shownReasons, broken } = giving(error)
    await work.enqueue(store.db, broken, { n: 1 })
    await makeRunner([broken]).runDue()
    expect(shownReasons).toEqual([reason])
  })

  test('is noted with the moment, is not run again, and lets what it wrote stand', async () => {
    const note = noting({ name: 'test.after' })
    const broken = failing(new Error('no'), {
      attempts: 1,
      async givenUp(ctx, { n }) {
        await ctx.work.enqueue(ctx.db, note, { n: n + 100 })
      },
    })
    await work.enqueue(store.db, broken, { n: 1 })
    const it = makeRunner([broken, note])
    await it.runDue()
    expect(ran).toEqual([1, 101])
    expect(await rows()).toMatchObject([{ state: 'dead', run_at: clock, attempts: 1 }])
    clock = later(clock, 86_400_000)
    await it.runDue()
    expect(ran).toEqual([1, 101])
  })

  test('does nothing by halves: what the end wrote before it failed is undone', async () => {
    const note = noting({ name: 'test.after' })
    const broken = failing(new Error('no'), {
      attempts: 1,
      async givenUp(ctx, { n }) {
        await ctx.work.enqueue(ctx.db, note, { n })
        throw new Error('a fault in the end')
      },
    })
    await work.enqueue(store.db, broken, { n: 1 })
    await makeRunner([broken, note]).runDue()
    expect(ran).toEqual([1])
    expect(await rows()).toMatchObject([{ name: 'test.note', state: 'dead' }])
  })

  test('includes a row whose payload nobody can read any more', async () => {
    const note = noting({ attempts: 1 })
    for (const text of ['{"n":"old"}', '[]', 'null']) {
      await sql`INSERT INTO tasks (name, payload, run_at, created_at)
        VALUES ('test.note', ${text}, ${clock}, ${clock})`.execute(store.db)
    }
    await work.enqueue(store.db, note, { n: 1 })
    await makeRunner([note]).runDue()
    expect(ran).toEqual([1])
    expect((await rows()).map(({ state }) => state)).toEqual(['dead', 'dead', 'dead'])
  })
})

describe('a task that hangs', () => {
  test('is cut off after its time, and tried again like one that failed', async () => {
    const reasons: unknown[] = []
    const hanging = noting({
      timeout: 15,
      handler(_ctx, _payload, signal) {
        signal.addEventListener('abort', () => reasons.push(String(signal.reason)))
        return new Promise(() => {})
      },
    })
    await work.enqueue(store.db, hanging, { n: 1 })
    await makeRunner([hanging]).runDue()
    expect(reasons).toEqual(['Error: took longer than 15 ms'])
    const [row] = await rows()
    expect(row).toMatchObject({ state: 'ready', attempts: 1, run_at: later(clock, 10_000) })
    expect(row?.last_error).toContain('took longer than 15 ms')
  })

  test('in one lane holds up no other lane', async () => {
    const { opened, open } = gate()
    const lanes = ['slow', 'outbound', 'mirroring', 'gathering'] as const
    const hanging = lanes.map((lane) =>
      noting({ name: `test.${lane}`, lane, handler: () => opened }),
    )
    const note = noting()
    for (const kind of hanging) {
      for (let n = 0; n < 3; n += 1) await work.enqueue(store.db, kind, { n })
    }
    await work.enqueue(store.db, note, { n: 9 })
    const places = { quick: 1, slow: 1, outbound: 1, mirroring: 1, gathering: 1 }
    const it = makeRunner([...hanging, note], { places })
    await it.start()
    await expect.poll(() => ran, { interval: 2 }).toEqual([9])
    await expect.poll(() => it.running, { interval: 2 }).toBe(4)
    const states = (await rows()).map(({ state }) => state)
    expect(states.filter((state) => state === 'running')).toHaveLength(4)
    open()
    await expect.poll(rows, { interval: 2 }).toEqual([])
  })

  test('does not keep the others of its lane from ending', async () => {
    const hanging = noting({ name: 'test.hang', timeout: 30, handler: () => new Promise(() => {}) })
    const note = noting()
    await work.enqueue(store.db, hanging, { n: 0 })
    for (const n of [1, 2, 3]) await work.enqueue(store.db, note, { n })
    await makeRunner([hanging, note], { places: { quick: 1 } }).runDue()
    expect(ran).toEqual([1, 2, 3])
    expect((await rows()).map(({ name }) => name)).toEqual(['test.hang'])
  })
})

describe('a stop', () => {
  test('raises the signal of what runs on, and counts it as no attempt', async () => {
    const reasons: string[] = []
    const long = noting({
      attempts: 1,
      handler: (_ctx, _payload, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason.message)
            reject(new Error('gave way'))
          })
        }),
    })
    await work.enqueue(store.db, long, { n: 1 })
    const it = makeRunner([long])
    await it.start()
    await expect.poll(() => it.running, { interval: 2 }).toBe(1)
    await it.stop(0)
    expect(reasons).toEqual(['the server stops'])
    expect(await rows()).toMatchObject([
      { state: 'ready', attempts: 0, last_error: 'the server stopped', locked_by: null },
    ])
    const next = makeRunner([noting()])
    await next.runDue()
    expect(ran).toEqual([1])
  })

  test('leaves what is asked for afterwards to the next start', async () => {
    const note = noting()
    const it = makeRunner([note])
    await it.start()
    await it.stop(100)
    await work.enqueue(store.db, note, { n: 1 })
    it.wake()
    expect(it.running).toBe(0)
    expect(await rows()).toMatchObject([{ state: 'ready', attempts: 0 }])
  })

  test('may come before a start, and twice', async () => {
    const it = makeRunner([noting()])
    await it.stop(10)
    await it.stop(10)
    expect(it.running).toBe(0)
  })
})

describe('schedules', () => {
  test('run once for all that was missed in an outage of weeks, each kind by itself', async () => {
    const [hourly, nightly] = [noting({ name: 'test.hourly' }), noting({ name: 'test.nightly' })]
    const schedules = [every(3_600_000, hourly, { n: 1 }), daily('02:30', nightly, { n: 2 })]
    const it = makeRunner([hourly, nightly], { schedules })
    await it.runDue()
    expect(ran.sort()).toEqual([1, 2])
    clock = '2026-03-20T02:29:59.999Z'
    await it.runDue()
    expect(ran.sort()).toEqual([1, 1, 2, 2])
    clock = '2026-03-20T02:30:00.000Z'
    await it.runDue()
    expect(ran.sort()).toEqual([1, 1, 2, 2, 2])
  })

  test('go on where another process left off', async () => {
    const note = noting()
    const schedules = [daily('12:00', note, { n: 1 })]
    await makeRunner([note], { schedules }).runDue()
    await makeRunner([note], { schedules }).runDue()
    expect(ran).toEqual([1])
    const { last_at } = await store.db.selectFrom('schedules').selectAll().executeTakeFirstOrThrow()
    expect(last_at).toBe('2026-03-01T12:00:00.000Z')
  })

  test('do not pile up behind a run that fails', async () => {
    const broken = failing(new Error('no'))
    const it = makeRunner([broken], { schedules: [every(1000, broken, { n: 1 })] })
    for (let time = 0; time < 5; time += 1) {
      await it.runDue()
      clock = later(clock, 1000)
    }
    expect(await rows()).toHaveLength(1)
  })

  test('go on when the clock was years ahead for a while', async () => {
    const [hourly, nightly] = [noting({ name: 'test.hourly' }), noting({ name: 'test.nightly' })]
    const schedules = [every(3_600_000, hourly, { n: 1 }), daily('02:30', nightly, { n: 2 })]
    const it = makeRunner([hourly, nightly], { schedules })
    clock = '2099-01-01T00:00:00.000Z'
    await it.runDue()
    clock = '2026-03-01T12:00:00.000Z'
    await it.runDue()
    clock = '2026-03-02T12:00:00.000Z'
    await it.runDue()
    await it.runDue()
    expect(ran.sort()).toEqual([1, 1, 1, 2, 2, 2])
  })

  test('take no second run when the clock is set back', async () => {
    const note = noting()
    const it = makeRunner([note], { schedules: [daily('11:00', note, { n: 1 })] })
    await it.runDue()
    clock = '2026-02-27T12:00:00.000Z'
    await it.runDue()
    clock = '2026-03-02T11:00:00.000Z'
    await it.runDue()
    expect(ran).toHaveLength(2)
  })

  test.each([
    ['00:00', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['23:59', '2026-03-01T00:00:00.000Z', '2026-02-28T23:59:00.000Z'],
    ['04:05', '2026-01-01T04:04:59.999Z', '2025-12-31T04:05:00.000Z'],
    ['04:05', '2028-03-01T04:05:00.000Z', '2028-03-01T04:05:00.000Z'],
  ] as const)('at %s are due, seen from %s, at %s', (time, now, due) => {
    expect(daily(time, noting(), { n: 1 }).dueAt(now)).toBe(due)
  })
})

test('two tasks of one name are refused before anything runs', () => {
  expect(() => makeRunner([noting(), noting()])).toThrow('two tasks have the same name')
})

test('a task that a newer program added is not touched by an older one until its next start', async () => {
  await work.enqueue(store.db, noting({ name: 'test.new' }), { n: 1 })
  const it = makeRunner([noting()])
  await it.runDue()
  expect(await rows()).toMatchObject([{ name: 'test.new', state: 'ready', attempts: 0 }])
})
