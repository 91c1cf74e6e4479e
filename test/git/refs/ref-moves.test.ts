import { expect, test } from 'vitest'
import { RefMoves } from '../../../src/git/ref-moves.ts'

/** Far longer than any test takes. */
const long = 60_000

test('no move begins in a pause, and all do after it', async () => {
  const moves = new RefMoves()
  const resume = await moves.pause(long)
  const moved: string[] = []
  const both = ['1', '2'].map((key) => moves.run(key, async () => void moved.push(key)))
  await new Promise((resolve) => setImmediate(resolve))
  expect(moved).toEqual([])
  resume()
  await Promise.all(both)
  expect(moved).toEqual(['1', '2'])
})

test('a pause waits for those who move refs already, who may begin no other move', async () => {
  const moves = new RefMoves()
  const end = await moves.begin('1')
  const steps: string[] = []
  const paused = moves.pause(long).then((resume) => {
    steps.push('paused')
    return resume
  })
  const later = moves.run('2', async () => void steps.push('moved'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(steps).toEqual([])
  end()
  const resume = await paused
  expect(steps).toEqual(['paused'])
  resume()
  await later
  expect(steps).toEqual(['paused', 'moved'])
})

test('a move that takes too long is not waited for', async () => {
  const moves = new RefMoves()
  const end = await moves.begin('1')
  const resume = await moves.pause(1)
  resume()
  end()
  await moves.run('1', async () => {})
})

test('a second pause waits for the first', async () => {
  const moves = new RefMoves()
  const resume = await moves.pause(long)
  const steps: string[] = []
  const second = moves.pause(long).then((resume) => {
    steps.push('second')
    resume()
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(steps).toEqual([])
  resume()
  await second
  await moves.run('1', async () => {})
})

test('a watch has the moves from then on, and of those that had begun', async () => {
  const moves = new RefMoves()
  await moves.run('before', async () => {})
  const end = await moves.begin('during')
  const watch = moves.watch()
  end()
  await moves.run('after', async () => {})
  moves.note('head')
  expect(watch.moved()).toEqual(['during', 'after', 'head'])
  watch.stop()
  await moves.run('too late', async () => {})
  expect(watch.moved()).toHaveLength(3)
})

test('a move that fails has ended', async () => {
  const moves = new RefMoves()
  const failing = moves.run('1', async () => {
    throw new Error('refused')
  })
  await expect(failing).rejects.toThrow('refused')
  const resume = await moves.pause(long)
  resume()
})
