import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ByteRange, readRange } from '../../src/http/byte-range.ts'
import { answerDownload, isKnown } from '../../src/http/conditional-file.ts'
import { runs } from '../support/runs.ts'

const TAG = '"abc"'
const bytes = Buffer.from(Array.from({ length: 64 }, (_, i) => i))

/** A download of the first `size` bytes, and the bytes of what it answers. */
async function download(size: number, headers: Readonly<Record<string, string>>, method = 'GET') {
  const whole = bytes.subarray(0, size)
  const opened: (ByteRange | undefined)[] = []
  const answer = await answerDownload(
    { method, headers },
    {
      size,
      etag: TAG,
      type: 'text/plain',
      headers: { 'Content-Disposition': 'attachment' },
      open: async (range) => {
        opened.push(range)
        const part = range ? whole.subarray(range.start, range.end + 1) : whole
        return Readable.from([part])
      },
    },
  )
  const chunks: Buffer[] = []
  if (answer.body instanceof Readable) {
    for await (const chunk of answer.body) chunks.push(chunk as Buffer)
  }
  return { ...answer, opened, bytes: Buffer.concat(chunks) }
}

describe('a range of a file', () => {
  test('from one byte to another is those bytes, and says where they are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 64 }),
        fc.nat(80),
        fc.nat(80),
        async (size, first, length) => {
          const last = first + length
          const found = await download(size, { range: `bytes=${first}-${last}` })
          if (first >= size) {
            expect(found.status).toBe(416)
            expect(found.headers?.['Content-Range']).toBe(`bytes */${size}`)
            expect([found.bytes.length, found.opened]).toEqual([0, []])
            return
          }
          const part = bytes.subarray(0, size).subarray(first, last + 1)
          expect([found.status, found.bytes]).toEqual([206, part])
          expect(found.headers).toMatchObject({
            'Content-Length': String(part.length),
            'Content-Range': `bytes ${first}-${first + part.length - 1}/${size}`,
            'Accept-Ranges': 'bytes',
            ETag: TAG,
          })
        },
      ),
    )
  })

  test('from a byte on, or of the last bytes, ends with the file', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 1, max: 80 }),
        async (size, n) => {
          const whole = bytes.subarray(0, size)
          const tail = await download(size, { range: `bytes=-${n}` })
          expect([tail.status, tail.bytes]).toEqual([206, whole.subarray(-n)])
          const from = n - 1
          const rest = await download(size, { range: `bytes=${from}-` })
          if (from < size) expect([rest.status, rest.bytes]).toEqual([206, whole.subarray(from)])
          else expect(rest.status).toBe(416)
        },
      ),
    )
  })

  test.each([
    ['bytes=0-1,3-4', 'several at once'],
    ['bytes=5-2', 'backwards'],
    ['bytes=-', 'of nothing'],
    ['bytes=a-b', 'of letters'],
    ['bytes=--5', 'of a sign'],
    ['bytes = 0-1', 'with blanks'],
    ['items=0-1', 'of another unit'],
    ['bytes=0-99999999999999999999', 'beyond any number'],
    ['0-1', 'without a unit'],
    ['', 'empty'],
  ])('%j (%s) is none: the file comes whole', async (range) => {
    const found = await download(10, { range })
    expect([found.status, found.bytes]).toEqual([undefined, bytes.subarray(0, 10)])
    expect(found.headers?.['Content-Length']).toBe('10')
  })

  test('counts only for the version that the client has a part of', async () => {
    const part = { range: 'bytes=2-3' }
    expect((await download(10, { ...part, 'if-range': TAG })).status).toBe(206)
    for (const other of ['"abd"', 'W/"abc"', 'Mon, 04 May 2026 10:00:00 GMT']) {
      const found = await download(10, { ...part, 'if-range': other })
      expect([found.status, found.bytes.length]).toEqual([undefined, 10])
    }
  })

  test('of an empty file cannot be had, and the file itself can', async () => {
    expect((await download(0, { range: 'bytes=0-' })).status).toBe(416)
    expect((await download(0, { range: 'bytes=-5' })).status).toBe(416)
    const whole = await download(0, {})
    expect([whole.status, whole.headers?.['Content-Length']]).toEqual([undefined, '0'])
  })

  test('whatever the header says lies within the file, or is none', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'bytes=0123456789-, '), maxLength: 24 }),
        fc.nat(100),
        (range, size) => {
          const found = readRange({ range }, size, TAG)
          if (typeof found === 'string') return
          expect(found.start >= 0 && found.start <= found.end && found.end < size).toBe(true)
        },
      ),
      runs(100, 82),
    )
  })
})

describe('a version that the client has already', () => {
  test.each([
    [TAG, true],
    ['W/"abc"', true],
    ['"x", "abc"', true],
    ['"x",W/"abc" , "y"', true],
    ['*', true],
    [' * ', true],
    ['"abd"', false],
    ['abc', false],
    ['"ab', false],
    ['', false],
  ])('is known by %j: %s', async (given, known) => {
    expect(isKnown({ 'if-none-match': given }, TAG)).toBe(known)
    const found = await download(10, { 'if-none-match': given })
    expect(found.status).toBe(known ? 304 : undefined)
    expect(found.opened.length).toBe(known ? 0 : 1)
    expect(found.headers?.ETag).toBe(TAG)
  })

  test('is not sent for a range of it either', async () => {
    const found = await download(10, { 'if-none-match': TAG, range: 'bytes=0-1' })
    expect([found.status, found.bytes.length]).toEqual([304, 0])
  })
})

test('HEAD tells of the whole file, and opens nothing', async () => {
  for (const headers of [{}, { range: 'bytes=0-1' }]) {
    const found = await download(10, headers, 'HEAD')
    expect([found.status, found.opened, found.bytes.length]).toEqual([undefined, [], 0])
    expect(found.headers).toMatchObject({ 'Content-Length': '10', ETag: TAG })
  }
})
