import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startRunnerBeside } from '../../src/runner/beside.ts'

const node = process.execPath
/** The pause before a runner is started again. */
const LATER_MS = 5000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => {
  vi.useRealTimers()
  process.execPath = node
})

function start() {
  const said: string[] = []
  const given = { url: 'http://127.0.0.1:9', token: 'none', folder: tmpdir(), concurrent: 1 }
  return { said, runner: startRunnerBeside({ ...given, say: (text) => void said.push(text) }) }
}

test('a runner whose program cannot be started is tried again, and so is one that ends', async () => {
  process.execPath = '/nowhere/node'
  const { said, runner } = start()
  await expect.poll(() => said).toEqual([expect.stringMatching(/cannot start: .*ENOENT/)])
  process.execPath = '/bin/false'
  vi.advanceTimersByTime(LATER_MS)
  await expect.poll(() => said).toHaveLength(2)
  expect(said[1]).toContain('ended with code 1')
  vi.advanceTimersByTime(LATER_MS)
  await expect.poll(() => said).toHaveLength(3)
  await runner.stop()
})

test('a runner for which the system has no room at once is tried again, and not after the stop', async () => {
  // Too long for an argument: the program is refused before there is a process.
  process.execPath = `/${'n'.repeat(200_000)}`
  const { said, runner } = start()
  await expect.poll(() => said).toHaveLength(1)
  vi.advanceTimersByTime(LATER_MS)
  await expect.poll(() => said).toHaveLength(2)
  await runner.stop()
  vi.advanceTimersByTime(LATER_MS)
  process.execPath = node
  expect(said).toHaveLength(2)
})
