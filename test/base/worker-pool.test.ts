import { expect, test } from 'vitest'
import { runInWorker, type WorkerTaskOptions } from '../../src/base/workers/worker-pool.ts'

const module = new URL('./worker-pool-tasks.mjs', import.meta.url)
const run = (name: string, input: unknown, options: Partial<WorkerTaskOptions> = {}) =>
  runInWorker<unknown, unknown>(input, {
    module,
    name,
    timeoutMs: 300,
    isLong: false,
    ...options,
  })

test('a task answers, and so does the next one after a task that was ended', async () => {
  expect(await run('double', 21)).toBe(42)
  await expect(run('forever', null)).rejects.toMatchObject({ limit: 'time' })
  expect(await run('double', 4)).toBe(8)
})

test('a task that needs too much memory is ended', async () => {
  await expect(run('fill', null, { timeoutMs: 20_000 })).rejects.toMatchObject({ limit: 'memory' })
  expect(await run('double', 5)).toBe(10)
})

test('an error of a task reaches the caller', async () => {
  await expect(run('fail', 'so it is')).rejects.toThrow('so it is')
})

test('long tasks leave a worker to short ones', async () => {
  const long = Array.from({ length: 6 }, () => run('forever', null, { isLong: true }))
  const ended: string[] = []
  const allLong = Promise.allSettled(long).then(() => ended.push('long'))
  await run('double', 1).then(() => ended.push('short'))
  await allLong
  expect(ended).toEqual(['short', 'long'])
})

test('long tasks of one caller leave a worker to those of others', async () => {
  let ended = 0
  const own = Array.from({ length: 4 }, () =>
    run('forever', null, { isLong: true, caller: 'one', timeoutMs: 1000 }).catch(() => {
      ended += 1
    }),
  )
  expect(await run('double', 2, { isLong: true, caller: 'other' })).toBe(4)
  expect(ended).toBeLessThan(2)
  await Promise.all(own)
})

test('long tasks of one caller beyond those that may wait are refused, and none of others', async () => {
  const long = { isLong: true, timeoutMs: 20_000 }
  const own = Promise.allSettled(
    Array.from({ length: 210 }, () => run('double', 1, { ...long, caller: 'one' })),
  )
  expect(await run('double', 2, { ...long, caller: 'other' })).toBe(4)
  const refused = (await own).filter((one) => one.status === 'rejected')
  expect(refused).toHaveLength(9)
  for (const one of refused) expect(one.reason).toMatchObject({ limit: 'waiting' })
})

test('tasks beyond those that may wait are refused, and the others are done', async () => {
  const results = await Promise.allSettled(Array.from({ length: 600 }, (_, i) => run('double', i)))
  const refused = results.filter((one) => one.status === 'rejected')
  expect(refused).toHaveLength(97)
  for (const one of refused) expect(one.reason).toMatchObject({ limit: 'waiting' })
})
