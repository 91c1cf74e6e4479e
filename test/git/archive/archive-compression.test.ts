import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { bzip2 } from '../../../src/git/archive/bzip2.ts'
import { gzip } from '../../../src/git/archive/gzip.ts'

async function* inPieces(data: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size)
}

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

function bunzip2(file: Buffer): Buffer {
  return execFileSync('bzip2', ['-dc'], { input: file, maxBuffer: 1 << 26 })
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
  ['one byte over and over', Buffer.alloc(3_000_000, 'a')],
  ['what cannot be packed', noise(1_300_000)],
]

describe('bzip2', () => {
  test.each(samples)('of %s is what the program makes of it', async (_name, data) => {
    const file = await collect(bzip2(inPieces(data)))
    expect(bunzip2(file).equals(data)).toBe(true)
    expect(file.equals(execFileSync('bzip2', ['-c'], { input: data, maxBuffer: 1 << 26 }))).toBe(
      true,
    )
  })

  test('of a source that breaks is broken too', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield noise(900_000)
      throw new Error('no more')
    }
    await expect(collect(bzip2(broken()))).rejects.toThrow('no more')
  })

  test('ends with its reader', async () => {
    let isClosed = false
    const some = noise(64_000)
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) yield some
      } finally {
        isClosed = true
      }
    }
    const pieces: Buffer[] = []
    for await (const piece of bzip2(endless())) {
      pieces.push(piece)
      if (pieces.length === 2) break
    }
    expect(Buffer.concat(pieces).toString('latin1', 0, 4)).toBe('BZh9')
    await expect.poll(() => isClosed).toBe(true)
  })
})

test.each(samples)('gzip of %s is one ordinary member', async (_name, data) => {
  const file = await collect(gzip(inPieces(data)))
  expect(gunzipSync(file).equals(data)).toBe(true)
})
