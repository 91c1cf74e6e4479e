import { expect, test } from 'vitest'
import { KeyedSemaphore, Semaphore } from '../../src/base/semaphore.ts'
import { GitError } from '../../src/git/error.ts'

const semaphore = (limit: number, maxWaiting: number) =>
  new Semaphore({
    limit,
    maxWaiting,
    busy: () => new GitError('busy', 'full'),
    aborted: () => new GitError('timeout', 'gone'),
  })

/** Whether a promise has settled yet. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  const soon = new Promise((resolve) => setImmediate(() => resolve(pending)))
  return (await Promise.race([promise.catch(() => undefined), soon])) !== pending
}

test('so many work at a time, and the others follow in the order in which they came', async () => {
  const line = semaphore(2, 10)
  const [first, second] = [await line.acquire(), await line.acquire()]
  const [third, fourth] = [line.acquire(), line.acquire()]
  expect(await isSettled(third)).toBe(false)
  first()
  // Leaving twice frees one place.
  first()
  expect(await isSettled(third)).toBe(true)
  expect(await isSettled(fourth)).toBe(false)
  second()
  for (const leave of [await third, await fourth]) leave()
  expect(await isSettled(line.acquire())).toBe(true)
})

test('whoever finds the line full is refused, and whoever goes away gives up the place', async () => {
  const line = semaphore(1, 1)
  const leave = await line.acquire()
  const controller = new AbortController()
  const waiting = line.acquire(controller.signal)
  await expect(line.acquire()).rejects.toMatchObject({ code: 'busy' })
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'timeout' })
  await expect(line.acquire(controller.signal)).rejects.toMatchObject({ code: 'timeout' })
  const next = line.acquire()
  leave()
  expect(await isSettled(next)).toBe(true)
})

test('each key has a queue of its own, and a failure holds up nobody', async () => {
  const keyed = new KeyedSemaphore({ limit: 1 })
  const order: string[] = []
  const work = (name: string, until: Promise<void>) => async () => {
    order.push(name)
    await until
    if (name === 'a1') throw new Error('a1 fails')
    return name
  }
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const first = keyed.run('a', work('a1', ended))
  const second = keyed.run('a', work('a2', Promise.resolve()))
  expect(await keyed.run('b', work('b1', Promise.resolve()))).toBe('b1')
  expect(order).toEqual(['a1', 'b1'])
  end()
  await expect(first).rejects.toThrow('a1 fails')
  expect(await second).toBe('a2')
})

test('a write to a key is refused when too many wait for it, and again allowed when they are done', async () => {
  const keyed = new KeyedSemaphore({ limit: 1, maxWaiting: 1, busy: () => new Error('busy') })
  const all = await Promise.allSettled([1, 2, 3].map((n) => keyed.run('a', async () => n)))
  expect(all.map((one) => one.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(await keyed.run('a', async () => 4)).toBe(4)
})

test('one caller has no more than its share, and others go before those who have more', async () => {
  const shared = new Semaphore({
    limit: 4,
    maxWaiting: 4,
    share: 0.5,
    busy: () => new GitError('busy', 'full'),
  })
  const held = [await shared.acquire(undefined, 'a'), await shared.acquire(undefined, 'a')]
  const third = shared.acquire(undefined, 'a')
  const fourth = shared.acquire(undefined, 'a')
  expect(await isSettled(third)).toBe(false)
  // Nor more than its share of the queue.
  await expect(shared.acquire(undefined, 'a')).rejects.toMatchObject({ code: 'busy' })
  const others = [await shared.acquire(undefined, 'b'), await shared.acquire(undefined, 'b')]
  const late = shared.acquire(undefined, 'c')
  for (const leave of others.splice(0, 1)) leave()
  expect(await isSettled(late)).toBe(true)
  expect(await isSettled(third)).toBe(false)
  for (const leave of held) leave()
  expect(await isSettled(third)).toBe(true)
  expect(await isSettled(fourth)).toBe(true)
})
