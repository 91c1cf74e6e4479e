import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { later } from '../../src/base/clock.ts'
import { ownedName } from '../../src/base/process-mark.ts'
import { type FileStore, openFileStore } from '../../src/store/files.ts'
import { clearTemporary, listLeftTemporary } from '../../src/store/temporary.ts'
import { newFolder } from '../support/database.ts'

let folder: string
let files: FileStore
let count = 0
beforeAll(async () => {
  folder = newFolder()
  files = await openFileStore(folder)
})
beforeEach(() => {
  count += 1
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
const future = '2999-01-01T00:00:00.000Z'
const minutesAgo = (minutes: number) => later(new Date().toISOString(), -minutes * 60_000)
const half = () => readdirSync(join(folder, 'files', 'tmp'))

/** Puts a text that no other test puts. */
async function putText(text: string) {
  const whole = `${count} ${text}`
  return { whole, ...(await files.put([Buffer.from(whole)])) }
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** As if nobody had wanted the file for so many minutes. */
function age(name: string, minutes: number): void {
  const at = new Date(minutesAgo(minutes))
  utimesSync(files.pathOf(name), at, at)
}

async function olderThan(minutes: number): Promise<string[]> {
  const found: string[] = []
  for await (const name of files.listOlder(minutesAgo(minutes))) found.push(name)
  return found
}

describe('what is put', () => {
  test('has the size and digests of all its bytes, however they were cut', async () => {
    const bytes = randomBytes(10_007)
    const cuts = [1, 7, 1000, 10_007]
    for (const cut of cuts) {
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; at += cut) chunks.push(bytes.subarray(at, at + cut))
      const stored = await files.put(chunks, { digests: ['md5'] })
      expect(stored, `cut after ${cut}`).toEqual({
        sha256: sha256(bytes),
        size: 10_007,
        digests: { md5: createHash('md5').update(bytes).digest('hex') },
      })
    }
  })

  test('has the further digests that were asked for, and no others', async () => {
    const none = await files.put([Buffer.from('d')])
    const one = await files.put([Buffer.from('d')], { digests: ['sha1'] })
    expect([none.digests, Object.keys(one.digests)]).toEqual([{}, ['sha1']])
  })

  test('may come with empty chunks between', async () => {
    const empty = Buffer.alloc(0)
    const stored = await files.put([empty, Buffer.from('a'), empty, Buffer.from('b'), empty])
    expect([stored.sha256, stored.size]).toEqual([sha256('ab'), 2])
  })

  test('lies in folders named by its hash, for nobody else to read', async () => {
    const { sha256: name } = await putText('place')
    const path = join(folder, 'files', name.slice(0, 2), name.slice(2, 4), name)
    expect(files.pathOf(name)).toBe(path)
    expect(statSync(path).mode & 0o077).toBe(0)
    expect(statSync(join(path, '..')).mode & 0o077).toBe(0)
  })

  test('is there for every store that was opened on the folder', async () => {
    const { sha256: name, whole } = await putText('shared')
    const other = await openFileStore(folder, { clear: false })
    expect((await other.read(name)).toString()).toBe(whole)
    expect(await other.sizeOf(name)).toBe(whole.length)
  })

  test('may be exactly as large as the limit, and not a byte more', async () => {
    const exact = await files.put([Buffer.alloc(64), Buffer.alloc(36)], { maxSize: 100 })
    expect(exact.size).toBe(100)
    const more = files.put([Buffer.alloc(100), Buffer.alloc(1)], { maxSize: 100 })
    await expect(more).rejects.toMatchObject({ status: 413 })
    expect((await files.put([], { maxSize: 0 })).size).toBe(0)
  })

  test('is not read on once it is too large', async () => {
    let asked = 0
    function* endless() {
      for (;;) {
        asked += 1
        yield Buffer.alloc(10)
      }
    }
    await expect(files.put(endless(), { maxSize: 25 })).rejects.toMatchObject({ status: 413 })
    expect(asked).toBe(3)
    expect(half()).toEqual([])
  })
})

describe('a check', () => {
  test('sees what came before it is kept, and what it throws keeps nothing', async () => {
    const bytes = randomBytes(100)
    const seen: unknown[] = []
    const putting = files.put([bytes], {
      digests: ['md5'],
      check(file) {
        seen.push(file.size, file.sha256, file.digests.md5?.length)
        throw new Error('not what was announced')
      },
    })
    await expect(putting).rejects.toThrow('not what was announced')
    expect(seen).toEqual([100, sha256(bytes), 32])
    expect(await files.sizeOf(sha256(bytes))).toBeUndefined()
    expect(half()).toEqual([])
  })

  test('that refuses bytes which are there already leaves those', async () => {
    const { sha256: name, whole } = await putText('kept')
    const again = files.put([Buffer.from(whole)], {
      check() {
        throw new Error('no')
      },
    })
    await expect(again).rejects.toThrow('no')
    expect((await files.read(name)).toString()).toBe(whole)
  })
})

describe('a part', () => {
  test.each([
    ['the first byte', { start: 0, end: 0 }, '0'],
    ['the last byte', { start: 9, end: 9 }, '9'],
    ['all of it', { start: 0, end: 9 }, '0123456789'],
    ['what there is of one that goes beyond the end', { start: 7, end: 500 }, '789'],
  ])('may be %s', async (_what, range, text) => {
    const { sha256: name } = await files.put([Buffer.from('0123456789')])
    const plain = await files.open(name, range)
    expect([await textOf(plain.body), plain.size]).toEqual([text, 10])
    const often = await files.openOften(name, range)
    expect([await textOf(often.body as Readable), often.size]).toEqual([text, 10])
  })

  test('of a large file is the same from the disk as it went in', async () => {
    const bytes = randomBytes(3_000_000)
    const { sha256: name } = await files.put([bytes])
    const { body } = await files.open(name, { start: 1_048_575, end: 2_097_153 })
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).equals(bytes.subarray(1_048_575, 2_097_154))).toBe(true)
  })
})

describe('a file that is not there', () => {
  const name = sha256('never put')
  test('has no size, and is lost for whoever opens or reads it', async () => {
    expect(await files.sizeOf(name)).toBeUndefined()
    for (const open of [files.open(name), files.openOften(name), files.read(name)]) {
      await expect(open).rejects.toMatchObject({ name: 'LostFile' })
    }
    expect(await files.deleteOlder(name, future)).toBe(false)
  })

  test('may be put after all, and is found then', async () => {
    const late = Buffer.from(`late ${count}`)
    await expect(files.openOften(sha256(late))).rejects.toThrow('is missing')
    await files.put([late])
    expect(await textOf((await files.openOften(sha256(late))).body as Readable)).toBe(
      `late ${count}`,
    )
  })
})

describe('a deletion', () => {
  test('does not cut off those who read the file at that moment', async () => {
    const bytes = randomBytes(2_500_000)
    const { sha256: name } = await files.put([bytes])
    const { body } = await files.open(name)
    const chunks: Buffer[] = []
    for await (const chunk of body) {
      if (chunks.length === 0) expect(await files.deleteOlder(name, future)).toBe(true)
      chunks.push(chunk as Buffer)
    }
    expect(sha256(Buffer.concat(chunks))).toBe(name)
    expect(await files.sizeOf(name)).toBeUndefined()
  })

  test('beside many who put the same bytes never leaves a file that is not whole', async () => {
    const bytes = randomBytes(50_000)
    const name = sha256(bytes)
    const before = minutesAgo(-1)
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([
        files.put([bytes]),
        files.deleteOlder(name, before),
        files.put([bytes]),
        files.deleteOlder(name, before),
      ])
      const size = await files.sizeOf(name)
      expect([undefined, 50_000]).toContain(size)
      if (size !== undefined) expect(sha256(await files.read(name))).toBe(name)
    }
    expect(half()).toEqual([])
  })

  test('of what was put again a moment ago is refused to a clean-up that looked earlier', async () => {
    const { sha256: name, whole } = await putText('again')
    age(name, 120)
    const found = await olderThan(60)
    expect(found).toContain(name)
    await files.put([Buffer.from(whole)])
    expect(await files.deleteOlder(name, minutesAgo(60))).toBe(false)
    expect((await files.read(name)).toString()).toBe(whole)
    expect(await olderThan(60)).not.toContain(name)
  })
})

describe('a clean-up', () => {
  test('gets only the files that nobody put since', async () => {
    const names: string[] = []
    for (const minutes of [10, 30, 90]) {
      const { sha256: name } = await putText(`aged ${minutes}`)
      age(name, minutes)
      names.push(name)
    }
    const among = async (minutes: number) =>
      (await olderThan(minutes)).filter((name) => names.includes(name)).sort()
    expect(await among(100)).toEqual([])
    expect(await among(60)).toEqual([names[2]])
    expect(await among(20)).toEqual(names.slice(1).sort())
    expect(await among(1)).toEqual([...names].sort())
  })

  test('takes no notice of what is no stored file', async () => {
    const strange = join(folder, 'files', 'zz')
    mkdirSync(join(strange, 'aa'), { recursive: true })
    mkdirSync(join(folder, 'files', 'ab', 'cd'), { recursive: true })
    writeFileSync(join(strange, 'aa', 'f'.repeat(64)), 'x')
    writeFileSync(join(folder, 'files', 'ab', 'note.txt'), 'x')
    writeFileSync(join(folder, 'files', 'ab', 'cd', 'README'), 'x')
    for (const name of await olderThan(-10)) expect(name).toMatch(/^[0-9a-f]{64}$/)
    expect(await olderThan(-10)).not.toContain('f'.repeat(64))
  })

  test('of an empty store finds nothing', async () => {
    const empty = newFolder()
    const store = await openFileStore(empty)
    const names: string[] = []
    for await (const name of store.listOlder(future)) names.push(name)
    expect(names).toEqual([])
    rmSync(empty, { recursive: true })
  })
})

describe('half written files', () => {
  test('of a process that runs are left alone by another that opens the store', async () => {
    const own = ownedName('file-')
    writeFileSync(join(folder, 'files', 'tmp', own), 'half')
    await openFileStore(folder)
    expect(half()).toEqual([own])
    rmSync(join(folder, 'files', 'tmp', own))
  })

  test('stay where a program that is not the server opens the store', async () => {
    writeFileSync(join(folder, 'files', 'tmp', 'half'), 'half')
    await openFileStore(folder, { clear: false })
    expect(half()).toEqual(['half'])
    await openFileStore(folder)
    expect(half()).toEqual([])
  })

  test('are counted and removed, folders with all that is in them', async () => {
    const temp = newFolder()
    mkdirSync(join(temp, 'clone', 'objects'), { recursive: true })
    writeFileSync(join(temp, 'clone', 'objects', 'pack'), 'x')
    writeFileSync(join(temp, 'upload'), 'x')
    writeFileSync(join(temp, ownedName('mine-')), 'x')
    expect((await listLeftTemporary(temp)).sort()).toEqual(['clone', 'upload'])
    expect(await clearTemporary(temp)).toBe(2)
    expect(readdirSync(temp)).toHaveLength(1)
    expect(await clearTemporary(temp)).toBe(0)
    rmSync(temp, { recursive: true })
    expect(await clearTemporary(temp)).toBe(0)
  })

  test('are put aside when the receiving folder cannot be made', async () => {
    const bytes = randomBytes(64)
    const name = sha256(bytes)
    const blocked = newFolder()
    const store = await openFileStore(blocked)
    writeFileSync(join(blocked, 'files', name.slice(0, 2)), 'in the way')
    await expect(store.put([bytes])).rejects.toThrow()
    expect(readdirSync(join(blocked, 'files', 'tmp'))).toEqual([])
    rmSync(join(blocked, 'files', name.slice(0, 2)))
    expect((await store.put([bytes])).sha256).toBe(name)
    rmSync(blocked, { recursive: true })
  })
})
