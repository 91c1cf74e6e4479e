import { expect, test } from 'vitest'
import { MoveGate } from '../../../src/git/move-gate.ts'

/** Far longer than any test takes. */
const long = 60_000

test('a closed gate lets nobody in, and everybody once it is open again', async () => {
  const gate = new MoveGate()
  const open = await gate.close(long)
  const moved: string[] = []
  const moves = ['1', '2'].map((key) => gate.run(key, async () => void moved.push(key)))
  await new Promise((resolve) => setImmediate(resolve))
  expect(moved).toEqual([])
  open()
  await Promise.all(moves)
  expect(moved).toEqual(['1', '2'])
})

test('closing waits for those who move refs already, who may begin no other move', async () => {
  const gate = new MoveGate()
  const leave = await gate.enter('1')
  const steps: string[] = []
  const closed = gate.close(long).then((open) => {
    steps.push('closed')
    return open
  })
  const later = gate.run('2', async () => void steps.push('moved'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(steps).toEqual([])
  leave()
  const open = await closed
  expect(steps).toEqual(['closed'])
  open()
  await later
  expect(steps).toEqual(['closed', 'moved'])
})

test('a move that takes too long is not waited for', async () => {
  const gate = new MoveGate()
  const leave = await gate.enter('1')
  const open = await gate.close(1)
  open()
  leave()
  await gate.run('1', async () => {})
})

test('a second who closes it waits for the first', async () => {
  const gate = new MoveGate()
  const open = await gate.close(long)
  const steps: string[] = []
  const second = gate.close(long).then((open) => {
    steps.push('second')
    open()
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(steps).toEqual([])
  open()
  await second
  await gate.run('1', async () => {})
})

test('whoever watches hears of the moves from then on, and of those that had begun', async () => {
  const gate = new MoveGate()
  await gate.run('before', async () => {})
  const leave = await gate.enter('during')
  const watch = gate.watch()
  leave()
  await gate.run('after', async () => {})
  gate.note('head')
  expect(watch.moved()).toEqual(['during', 'after', 'head'])
  watch.stop()
  await gate.run('too late', async () => {})
  expect(watch.moved()).toHaveLength(3)
})

test('a move that fails leaves the gate', async () => {
  const gate = new MoveGate()
  const failing = gate.run('1', async () => {
    throw new Error('refused')
  })
  await expect(failing).rejects.toThrow('refused')
  const open = await gate.close(long)
  open()
})
