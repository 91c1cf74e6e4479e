import { expect, test } from 'vitest'
import { Line } from '../../src/git/line.ts'

/** Whether a promise has settled yet. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  const soon = new Promise((resolve) => setImmediate(() => resolve(pending)))
  return (await Promise.race([promise.catch(() => undefined), soon])) !== pending
}

test('so many work at a time, and the others follow in the order in which they came', async () => {
  const line = new Line(2, 10)
  const [first, second] = [await line.enter(), await line.enter()]
  const [third, fourth] = [line.enter(), line.enter()]
  expect(await isSettled(third)).toBe(false)
  first()
  // Leaving twice frees one place.
  first()
  expect(await isSettled(third)).toBe(true)
  expect(await isSettled(fourth)).toBe(false)
  second()
  for (const leave of [await third, await fourth]) leave()
  expect(await isSettled(line.enter())).toBe(true)
})

test('whoever finds the line full is refused, and whoever goes away gives up the place', async () => {
  const line = new Line(1, 1)
  const leave = await line.enter()
  const controller = new AbortController()
  const waiting = line.enter(controller.signal)
  await expect(line.enter()).rejects.toMatchObject({ code: 'busy' })
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'timeout' })
  await expect(line.enter(controller.signal)).rejects.toMatchObject({ code: 'timeout' })
  const next = line.enter()
  leave()
  expect(await isSettled(next)).toBe(true)
})
