import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GitError } from '../../src/git/error.ts'
import { protocolVersion, readFetchRequest } from '../../src/transport/fetch-request.ts'
import {
  bandPackets,
  flushPacket,
  PacketReader,
  packet,
  parsePackets,
} from '../../src/transport/pkt-line.ts'
import { readPushRequest } from '../../src/transport/push-request.ts'
import { PushOutput, parseReport, wholeAnswer } from '../../src/transport/report.ts'
import { runs } from '../support/runs.ts'

const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((array) => Buffer.from(array))

/** The value, or the error that the rest of the server knows how to answer. */
function typed<T>(act: () => T): T | GitError {
  try {
    return act()
  } catch (error) {
    if (error instanceof GitError) return error
    throw error
  }
}

function inPieces(message: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < message.length; at += size) pieces.push(message.subarray(at, at + size))
  return pieces
}

const zero = '0'.repeat(40)
const one = '1'.repeat(40)

describe('pkt-lines', () => {
  test('what is written is read back, however it is cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(bytes), fc.integer({ min: 1, max: 50 }), (contents, size) => {
        const message = Buffer.concat([...contents.map(packet), flushPacket])
        const reader = new PacketReader()
        const found: Buffer[] = []
        for (const piece of inPieces(message, size)) {
          reader.push(piece)
          for (let next = reader.next(); next; next = reader.next()) {
            if (next.kind === 'data') found.push(next.bytes)
          }
        }
        expect(found).toEqual(contents)
        expect(reader.rest()).toHaveLength(0)
      }),
    )
  })

  test('any bytes at all are packets or a typed error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (array) => {
        typed(() => parsePackets(Buffer.from(array)))
      }),
      runs(100, 85, 10_000),
    )
  })

  test.each(['0003', 'fff1', 'ffff', 'zzzz', '-001', '+010', ' 004', '0x10', '00', '0010abc'])(
    '%j is refused',
    (text) => {
      const found = typed(() => parsePackets(Buffer.from(text)))
      expect(found).toBeInstanceOf(GitError)
    },
  )

  test('long texts are cut into side-band packets of the size that was agreed', () => {
    for (const [size, most] of [
      ['side-band', 1000],
      ['side-band-64k', 65_520],
    ] as const) {
      const content = Buffer.alloc(200_000, 'x')
      const packets = parsePackets(bandPackets(1, content, size))
      const data = packets.flatMap((one) => (one.kind === 'data' ? [one.bytes] : []))
      expect(Math.max(...data.map((one) => one.length + 4))).toBe(most)
      expect(Buffer.concat(data.map((one) => one.subarray(1))).equals(content)).toBe(true)
    }
  })
})

describe('push requests', () => {
  const head = Buffer.concat([
    packet(`${zero} ${one} refs/heads/ünï\0report-status push-options side-band-64k\n`),
    packet(`${one} ${zero} refs/tags/v1\n`),
    flushPacket,
    packet('ci.skip'),
    flushPacket,
  ])

  test('commands, capabilities and options are read, and the pack is left in the stream', async () => {
    for (const size of [1, 3, 7, 64, 1000]) {
      const input = Readable.from(inPieces(Buffer.concat([head, Buffer.from('PACK…')]), size), {
        objectMode: false,
      })
      const request = await readPushRequest(input)
      expect(request.commands).toEqual([
        { name: 'refs/heads/ünï', oldId: zero, newId: one },
        { name: 'refs/tags/v1', oldId: one, newId: zero },
      ])
      expect([...request.capabilities]).toEqual(['report-status', 'push-options', 'side-band-64k'])
      expect(request.options).toEqual(['ci.skip'])
      expect(request.head).toEqual(head)
      const rest: Buffer[] = []
      for await (const chunk of input) rest.push(chunk)
      expect(Buffer.concat(rest).toString()).toBe('PACK…')
    }
  })

  test('a lone flush is a push of nothing', async () => {
    const request = await readPushRequest(Readable.from([flushPacket], { objectMode: false }))
    expect(request.commands).toEqual([])
  })

  test.each([
    ['nothing', ''],
    ['half a packet', '00a0'],
    ['no flush', packet(`${zero} ${one} refs/heads/a\0\n`).toString()],
    ['a short id', `${packet('000 111 refs/heads/a\0').toString()}0000`],
    ['the same ref twice', `${packet(`${zero} ${one} r\0`).toString().repeat(2)}0000`],
    ['a delimiter', '0001'],
    ['a push certificate', `${packet('push-cert\0report-status').toString()}0000`],
  ])('%s is refused with a typed error', async (_, text) => {
    const input = Readable.from([Buffer.from(text)], { objectMode: false })
    await expect(readPushRequest(input)).rejects.toBeInstanceOf(GitError)
  })

  test('names that are not UTF-8 are refused rather than changed', async () => {
    const line = Buffer.concat([Buffer.from(`${zero} ${one} refs/heads/`), Buffer.from([0xff])])
    const input = Readable.from([Buffer.concat([packet(line), flushPacket])], { objectMode: false })
    await expect(readPushRequest(input)).rejects.toThrow('UTF-8')
  })

  test('any bytes at all are a request or a typed error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), async (array) => {
        const input = Readable.from([Buffer.from(array)], { objectMode: false })
        const error = await readPushRequest(input).catch((reason: unknown) => reason)
        expect(error === undefined || error instanceof GitError || typeof error === 'object').toBe(
          true,
        )
      }),
      runs(100, 86),
    )
  })
})

describe('fetch requests', () => {
  const ask = (...lines: string[]) =>
    Buffer.concat([
      packet('command=fetch'),
      packet('agent=git/2.39.5'),
      Buffer.from('0001'),
      ...lines.map((line) => packet(line)),
      flushPacket,
    ])

  test('the same request of two clients has one cache key', () => {
    const first = readFetchRequest(ask(`want ${one}`, 'deepen 1', 'done'), 'version=2')
    const other = Buffer.from(
      ask(`want ${one}`, 'deepen 1', 'done').toString().replace('git/2.39.5', 'JGit/6.1.0'),
    )
    expect(readFetchRequest(other, 'version=2').cacheKey).toEqual(first.cacheKey)
    expect(first).toMatchObject({ kind: 'fetch', fresh: true, partial: true })
  })

  test('whoever has something, or still talks, is not given a kept pack', () => {
    expect(readFetchRequest(ask(`want ${one}`, `have ${zero}`, 'done'), '').fresh).toBe(false)
    expect(readFetchRequest(ask(`want ${one}`), '').fresh).toBe(false)
  })

  test.each([
    [undefined, 0],
    ['version=1', 1],
    ['version=2', 2],
    ['version=2:version=99', 2],
    ['version=99:version=1', 1],
    ['version=99', 0],
    ['garbage:::', 0],
  ])('the header %j means version %i', (header, version) => {
    expect(protocolVersion(header)).toBe(version)
  })
})

describe('reports', () => {
  test('a refusal says so for each ref, with the reason on the side band', () => {
    const answer = wholeAnswer(
      new Set(['report-status', 'side-band-64k']),
      ['SVC: No.'],
      [{ name: 'refs/heads/main', refusal: 'pre-receive hook declined' }],
    )
    const [message, report, end] = parsePackets(answer)
    expect(message).toMatchObject({ bytes: Buffer.from('\u0002SVC: No.\n') })
    expect(end).toEqual({ kind: 'flush' })
    const inner = report?.kind === 'data' ? report.bytes.subarray(1) : Buffer.alloc(0)
    expect(parseReport(inner)).toEqual([
      { name: 'refs/heads/main', refusal: 'pre-receive hook declined' },
    ])
  })

  test('git’s report is kept back until the end, its progress is not', () => {
    const output = new PushOutput(new Set(['report-status', 'side-band-64k']))
    const report = Buffer.concat([packet('unpack ok\n'), packet('ok refs/heads/a\n'), flushPacket])
    const progress = output.take(bandPackets(2, Buffer.from('Resolving'), 'side-band-64k'))
    expect(progress.toString()).toContain('Resolving')
    expect(output.take(bandPackets(1, report, 'side-band-64k'))).toHaveLength(0)
    expect(output.take(flushPacket)).toHaveLength(0)
    expect(output.outcomes()).toEqual([{ name: 'refs/heads/a', refusal: null }])
    expect(output.finish(['hello']).toString()).toMatch(/hello.*unpack ok.*0000$/s)
  })
})
