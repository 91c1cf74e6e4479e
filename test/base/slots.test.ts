import { expect, test } from 'vitest'
import { Slots } from '../../src/base/slots.ts'
import { GitError } from '../../src/git/error.ts'

const linesUp = (limit: number, queue: number) =>
  new Slots({
    limit,
    queue,
    busy: () => new GitError('busy', 'full'),
    gone: () => new GitError('timeout', 'gone'),
  })

/** Whether a promise has settled yet. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  const soon = new Promise((resolve) => setImmediate(() => resolve(pending)))
  return (await Promise.race([promise.catch(() => undefined), soon])) !== pending
}

test('so many work at a time, and the others follow in the order in which they came', async () => {
  const line = linesUp(2, 10)
  const [first, second] = [await line.take(), await line.take()]
  const [third, fourth] = [line.take(), line.take()]
  expect(await isSettled(third)).toBe(false)
  first()
  // Leaving twice frees one place.
  first()
  expect(await isSettled(third)).toBe(true)
  expect(await isSettled(fourth)).toBe(false)
  second()
  for (const leave of [await third, await fourth]) leave()
  expect(await isSettled(line.take())).toBe(true)
})

test('whoever finds the line full is refused, and whoever goes away gives up the place', async () => {
  const line = linesUp(1, 1)
  const leave = await line.take()
  const controller = new AbortController()
  const waiting = line.take(controller.signal)
  await expect(line.take()).rejects.toMatchObject({ code: 'busy' })
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'timeout' })
  await expect(line.take(controller.signal)).rejects.toMatchObject({ code: 'timeout' })
  const next = line.take()
  leave()
  expect(await isSettled(next)).toBe(true)
})
