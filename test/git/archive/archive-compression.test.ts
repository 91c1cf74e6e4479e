import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bzip2 } from '../../../src/git/archive/bzip2.ts'
import { gzip } from '../../../src/git/archive/gzip.ts'
import { runs } from '../../support/runs.ts'

async function* inPieces(data: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size)
}

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

/** As strict as can be: one stream, its checks right, nothing after it. */
const strictly = `
import bz2, sys
whole = bz2.BZ2Decompressor()
data = whole.decompress(sys.stdin.buffer.read())
assert whole.eof and not whole.unused_data
sys.stdout.buffer.write(data)
`

function bunzip2(file: Buffer): Buffer {
  const maxBuffer = 1 << 26
  const there = execFileSync('bzip2', ['-dc'], { input: file, maxBuffer })
  expect(execFileSync('python3', ['-c', strictly], { input: file, maxBuffer }).equals(there)).toBe(
    true,
  )
  return there
}

function noise(size: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(size / 64) }, (_, i) =>
    createHash('sha512').update(`${i}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, size)
}

const samples: readonly (readonly [string, Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from('x')],
  ['just one block', noise(48_000)],
  ['a block and a byte', noise(48_001)],
  ['two whole blocks', noise(748_000)],
  ['one byte over and over', Buffer.alloc(3_000_000, 'a')],
  // Four of a kind each time: run lengths make five bytes of them.
  ['short runs', Buffer.from(Array.from({ length: 2_000_000 }, (_, i) => (i >> 2) & 255))],
  ['what cannot be packed', noise(2_300_000)],
]

describe('bzip2', () => {
  test.each(samples)('of %s is one ordinary file', async (_name, data) => {
    const file = await collect(bzip2(inPieces(data)))
    expect(bunzip2(file).equals(data)).toBe(true)
    const alone = execFileSync('bzip2', ['-c'], { input: data, maxBuffer: 1 << 26 })
    expect(file.length).toBeLessThan(alone.length * 1.1 + 3000)
  })

  test('depends on the bytes alone, not on how they come', async () => {
    const data = noise(900_000)
    const one = await collect(bzip2(inPieces(data)))
    const other = await collect(bzip2(inPieces(data, 9_999)))
    expect(one.equals(other)).toBe(true)
  })

  test('of anything gives it back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 4000 }),
        async (bytes, times) => {
          const data = Buffer.concat(Array.from({ length: times }, () => bytes))
          const file = await collect(bzip2(inPieces(data)))
          expect(bunzip2(file).equals(data)).toBe(true)
        },
      ),
      runs(6, 17),
    )
  })

  test('of a source that breaks is broken too', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield noise(900_000)
      throw new Error('no more')
    }
    await expect(collect(bzip2(broken()))).rejects.toThrow('no more')
  })
})

test.each(samples)('gzip of %s is one ordinary member', async (_name, data) => {
  const file = await collect(gzip(inPieces(data)))
  expect(gunzipSync(file).equals(data)).toBe(true)
})
