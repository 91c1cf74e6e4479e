import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BytesBody } from '../../src/base/streams/bytes-body.ts'
import { FileBody } from '../../src/base/streams/file-body.ts'
import type { SendableBody } from '../../src/base/streams/sendable.ts'
import { type FileStore, openFileStore } from '../../src/store/files.ts'
import { newFolder } from '../support/database.ts'
import { watchSyncs } from '../support/watch-syncs.ts'

let folder: string
let files: FileStore
beforeEach(async () => {
  folder = newFolder()
  files = await openFileStore(folder)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const hash = (algorithm: string, bytes: string | Buffer) =>
  createHash(algorithm).update(bytes).digest('hex')

async function bytesOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const MEBIBYTE = 1024 * 1024

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

function half(): string[] {
  return readdirSync(join(folder, 'files', 'tmp'))
}

function receiver(chunks: Buffer[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      setImmediate(() => {
        chunks.push(Buffer.from(chunk))
        done()
      })
    },
  })
}

describe('a file', () => {
  test('is named by the hash of its bytes, with further digests on request', async () => {
    const stored = await files.put(Readable.from([Buffer.from('hello '), Buffer.from('world')]), {
      digests: ['md5', 'sha1', 'sha512'],
    })
    expect(stored).toEqual({
      sha256: hash('sha256', 'hello world'),
      size: 11,
      digests: {
        md5: hash('md5', 'hello world'),
        sha1: hash('sha1', 'hello world'),
        sha512: hash('sha512', 'hello world'),
      },
    })
    const { body, size } = await files.open(stored.sha256)
    expect([await bytesOf(body), size]).toEqual(['hello world', 11])
  })

  test('is read in part, both ends included', async () => {
    const { sha256 } = await files.put([Buffer.from('0123456789')])
    const { body, size } = await files.open(sha256, { start: 2, end: 4 })
    expect([await bytesOf(body), size]).toEqual(['234', 10])
  })

  test('is acknowledged when its folders, too, would outlast a power cut', async () => {
    const { synced, restore } = await watchSyncs()
    try {
      const root = realpathSync(join(folder, 'files'))
      const { sha256 } = await files.put([Buffer.from('new')])
      const [first, second] = [sha256.slice(0, 2), sha256.slice(2, 4)]
      expect(synced).toEqual(
        expect.arrayContaining([join(root, first, second), join(root, first), root]),
      )
      // Folders that were there when the process began may not be on the disk either.
      const others = await openFileStore(folder)
      synced.length = 0
      await others.put([Buffer.from('new')])
      expect(synced).toEqual(expect.arrayContaining([join(root, first), root]))
      synced.length = 0
      await others.put([Buffer.from('new')])
      expect(synced).toEqual([expect.stringContaining('file-'), join(root, first, second)])
    } finally {
      restore()
    }
  })

  test('may be empty', async () => {
    const { sha256, size } = await files.put([])
    expect(size).toBe(0)
    expect(await files.read(sha256)).toHaveLength(0)
  })

  test('that twenty put at once is there once', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => files.put([Buffer.from('same'), Buffer.from('bytes')])),
    )
    expect(new Set(all.map((one) => one.sha256)).size).toBe(1)
    expect(half()).toEqual([])
    expect((await files.read(all[0]?.sha256 ?? '')).toString()).toBe('samebytes')
  })

  test('that is large is named by its bytes too, several at a time and beside one that breaks', async () => {
    const sizes = [4 * MEBIBYTE, 4 * MEBIBYTE + 1, 9 * MEBIBYTE + 17, 40 * MEBIBYTE]
    const contents = sizes.map((size) => randomBytes(size))
    const broken = files.put(
      (function* () {
        for (const chunk of chunksOf(randomBytes(20 * MEBIBYTE))) yield chunk
        throw new Error('gone')
      })(),
    )
    const stored = await Promise.all([
      ...contents.map((bytes) => files.put(chunksOf(bytes), { digests: ['md5'] })),
      expect(broken).rejects.toThrow('gone'),
    ])
    expect(stored.slice(0, -1)).toEqual(
      contents.map((bytes) => ({
        sha256: createHash('sha256').update(bytes).digest('hex'),
        size: bytes.length,
        digests: { md5: createHash('md5').update(bytes).digest('hex') },
      })),
    )
    expect(half()).toEqual([])
  })

  test('that is deleted is gone, and deleting it again does no harm', async () => {
    const { sha256 } = await files.put([Buffer.from('x')])
    expect(await files.deleteOlder(sha256, '2999-01-01T00:00:00.000Z')).toBe(true)
    expect(await files.deleteOlder(sha256, '2999-01-01T00:00:00.000Z')).toBe(false)
    expect(await files.sizeOf(sha256)).toBeUndefined()
  })

  test('that somebody has put again since is not cleared away', async () => {
    const { sha256 } = await files.put([Buffer.from('x')])
    expect(await files.deleteOlder(sha256, new Date(Date.now() - 60_000).toISOString())).toBe(false)
    expect(await files.deleteOlder(sha256, new Date(Date.now() + 60_000).toISOString())).toBe(true)
    expect(await files.deleteOlder(sha256, new Date().toISOString())).toBe(false)
  })
})

describe('a file that is sent', () => {
  /** Takes bytes at its own pace, as a connection does. */
  test('arrives as it is at each of fifty receivers at once', async () => {
    const contents = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const bytes = randomBytes(1_300_000 + n)
        return { bytes, ...(await files.put([bytes])) }
      }),
    )
    await Promise.all(
      contents.map(async ({ bytes, sha256 }) => {
        const chunks: Buffer[] = []
        const { body } = await files.open(sha256)
        await body.sendTo(receiver(chunks))
        expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
      }),
    )
  })

  test('in part ends where it was asked to', async () => {
    const bytes = randomBytes(2_000_000)
    const { sha256 } = await files.put([bytes])
    const chunks: Buffer[] = []
    const { body } = await files.open(sha256, { start: 3, end: 1_999_998 })
    const target = receiver(chunks)
    await body.sendTo(target)
    await finished(target)
    expect(Buffer.concat(chunks).equals(bytes.subarray(3, 1_999_999))).toBe(true)
  })

  test('stops when the receiver goes away, and is closed', async () => {
    const { sha256 } = await files.put([randomBytes(2_000_000)])
    for (let round = 0; round < 40; round += 1) {
      const { body } = await files.open(sha256)
      const target = new Writable({ write: () => target.destroy() })
      await expect(body.sendTo(target)).rejects.toThrow('the receiver is gone')
      expect(body.destroyed).toBe(true)
    }
    const chunks: Buffer[] = []
    const { body } = await files.open(sha256)
    await body.sendTo(receiver(chunks))
    expect(Buffer.concat(chunks)).toHaveLength(2_000_000)
  })

  test('that became shorter does not look whole', async () => {
    const { sha256, size } = await files.put([randomBytes(2_000_000)])
    const { body } = await files.open(sha256)
    truncateSync(files.pathOf(sha256), size - 1)
    const target = receiver([])
    await expect(body.sendTo(target)).rejects.toThrow('the file is shorter than it was')
    expect(target.writableEnded).toBe(false)
  })
})

describe('a small file that many ask for', () => {
  test('comes from memory once it was read, whole or in part, until it is deleted', async () => {
    const { sha256 } = await files.put([Buffer.from('0123456789')])
    expect(await bytesOf((await files.openOften(sha256)).body)).toBe('0123456789')
    rmSync(files.pathOf(sha256))
    const { body, size } = await files.openOften(sha256, { start: 2, end: 4 })
    const chunks: Buffer[] = []
    await body.sendTo(receiver(chunks))
    expect([Buffer.concat(chunks).toString(), size]).toEqual(['234', 10])
    await files.deleteOlder(sha256, '2999-01-01T00:00:00.000Z')
    await expect(files.openOften(sha256)).rejects.toThrow('is missing or cut off')
  })

  test('is not kept with other bytes than its name says', async () => {
    const { sha256 } = await files.put([Buffer.from('right')])
    writeFileSync(files.pathOf(sha256), 'wrong')
    expect(await bytesOf((await files.openOften(sha256)).body)).toBe('wrong')
    writeFileSync(files.pathOf(sha256), 'right')
    expect(await bytesOf((await files.openOften(sha256)).body)).toBe('right')
  })

  test('is taken in with few others at a time, and once for all who ask at that moment', async () => {
    const made = Array.from({ length: 12 }, () => randomBytes(MEBIBYTE))
    const names = await Promise.all(made.map(async (bytes) => (await files.put([bytes])).sha256))
    const asked = names.flatMap((name) => [name, name])
    const opened = await Promise.all(asked.map((name) => files.openOften(name)))
    const kinds = opened.map(({ body }) => body.constructor)
    expect(kinds.filter((kind) => kind === BytesBody)).toHaveLength(8)
    expect(kinds.filter((kind) => kind === FileBody)).toHaveLength(16)
    for (const [index, { body }] of opened.entries()) {
      const chunks: Buffer[] = []
      await body.sendTo(receiver(chunks))
      expect(hash('sha256', Buffer.concat(chunks))).toBe(asked[index])
    }
  })

  test('comes from the disk again while slow receivers hold 64 MB', async () => {
    const { sha256 } = await files.put([randomBytes(MEBIBYTE)])
    const held: SendableBody[] = []
    for (let n = 0; n < 64; n += 1) held.push((await files.openOften(sha256)).body)
    const more = (await files.openOften(sha256)).body
    expect([held.at(-1)?.constructor, more.constructor]).toEqual([BytesBody, FileBody])
    for (const body of [...held, more]) await finished(body.destroy()).catch(() => {})
    const chunks: Buffer[] = []
    const { body } = await files.openOften(sha256)
    expect(body).toBeInstanceOf(BytesBody)
    await body.sendTo(receiver(chunks))
    expect(hash('sha256', Buffer.concat(chunks))).toBe(sha256)
  })
})

describe('what goes wrong', () => {
  test('a source that breaks before it is read is refused with its reason, and ends nothing', async () => {
    const source = new Readable({ read() {} })
    const put = files.put(source)
    // As the file of an upload does that cannot be opened any more.
    source.destroy(new Error('gone'))
    await expect(put).rejects.toThrow('gone')
    expect(half()).toEqual([])
  })

  test('a file beyond the limit is refused, and nothing of it stays', async () => {
    const putting = files.put([Buffer.alloc(60), Buffer.alloc(60)], { maxSize: 100 })
    await expect(putting).rejects.toMatchObject({ status: 413 })
    expect(half()).toEqual([])
  })

  test('a source that breaks leaves nothing', async () => {
    async function* broken() {
      yield Buffer.from('begun')
      throw new Error('cut')
    }
    await expect(files.put(broken())).rejects.toThrow('cut')
    expect(half()).toEqual([])
  })

  test('what a crash left half written is cleared away at the next start', async () => {
    writeFileSync(join(folder, 'files', 'tmp', 'half'), 'begun')
    await openFileStore(folder)
    expect(half()).toEqual([])
  })

  test.each(['', '..', '../../etc/passwd', 'A'.repeat(64), `${'0'.repeat(63)}/`])(
    'a name that is no hash is refused: %s',
    (name) => {
      expect(() => files.pathOf(name)).toThrow('a file is named by its sha256')
    },
  )
})
