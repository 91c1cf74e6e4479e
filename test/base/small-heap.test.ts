import { expect, test } from 'vitest'
import { buffersPassed } from '../../src/base/workers/small-heap.ts'

const piece = 64 * 1024
const mebibyte = 1024 * 1024

/** How far the memory in buffers rises while 128 MB go through buffers of 64 KB, each used once. */
function highest(): number {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let n = 0; n < 2048; n += 1) {
    const buffer = new Uint8Array(piece)
    buffersPassed(buffer.byteLength)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  return most / mebibyte
}

test('buffers that went through are let go of before many have come together', () => {
  // V8 by itself lets 32 MB come together.
  expect(highest()).toBeLessThan(24)
})
