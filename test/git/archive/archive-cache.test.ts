import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ArchiveCache } from '../../../src/git/archive/archive-cache.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { newTestFolder } from '../../support/test-folder.ts'

// Only its key matters here.
const repo = { key: '7' } as Repo

const asked = (name: string) => ({ commitId: 'a'.repeat(40), format: 'tar', name }) as const

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
}

async function store(cache: ArchiveCache, name: string, bytes: Buffer): Promise<void> {
  const kept = await cache.keep(
    repo,
    asked(name),
    Readable.from([bytes.subarray(0, 5), bytes.subarray(5)]),
  )
  expect((await buffer(kept)).equals(bytes)).toBe(true)
}

async function read(cache: ArchiveCache, name: string): Promise<Buffer | undefined> {
  const found = await cache.find(repo, asked(name))
  return found && (await buffer(found.read()))
}

test('what was kept is found by the next process, and read whole or in part', async () => {
  const folder = newTestFolder()
  await store(new ArchiveCache(folder, 1000), 'one', Buffer.from('a whole archive'))
  const cache = new ArchiveCache(folder, 1000)
  expect((await read(cache, 'one'))?.toString()).toBe('a whole archive')
  const found = await cache.find(repo, asked('one'))
  expect(found?.size).toBe(15)
  expect(found && (await buffer(found.read({ start: 2, end: 6 }))).toString()).toBe('whole')
  expect(await read(cache, 'two')).toBe(undefined)
})

test('what was used longest ago goes first', async () => {
  const folder = newTestFolder()
  const cache = new ArchiveCache(folder, 100)
  for (const name of ['one', 'two', 'three', 'four'])
    await store(cache, name, Buffer.alloc(25, name))
  await read(cache, 'one')
  await store(cache, 'five', Buffer.alloc(20, 'f'))
  expect(await read(cache, 'two')).toBe(undefined)
  expect((await read(cache, 'one'))?.length).toBe(25)
  const sizes = filesBelow(folder).map((path) => statSync(path).size)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100)
})

test('one that was found can be read to its end after the cache has removed it', async () => {
  const folder = newTestFolder()
  const cache = new ArchiveCache(folder, 1000)
  await store(cache, 'one', Buffer.from('a whole archive'))
  const found = await cache.find(repo, asked('one'))
  await cache.forget(repo.key)
  expect(filesBelow(folder)).toEqual([])
  expect(found && (await buffer(found.read())).toString()).toBe('a whole archive')
})

test('one that is too large goes to its reader and leaves nothing', async () => {
  const folder = newTestFolder()
  const cache = new ArchiveCache(folder, 100)
  await store(cache, 'large', Buffer.alloc(60, 'x'))
  expect(await read(cache, 'large')).toBe(undefined)
  expect(filesBelow(folder)).toEqual([])
})

test('one that breaks off, or whose reader goes away, leaves nothing', async () => {
  const folder = newTestFolder()
  const cache = new ArchiveCache(folder, 1000)
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('the first half')
      await immediate()
      throw new Error('git ended')
    })(),
  )
  await expect(buffer(await cache.keep(repo, asked('broken'), broken))).rejects.toThrow()
  const left = await cache.keep(repo, asked('left'), new Readable({ read() {} }))
  const closed = new Promise((resolve) => left.once('close', resolve))
  left.destroy()
  await closed
  expect(filesBelow(folder)).toEqual([])
  await store(cache, 'left', Buffer.from('now it is whole'))
  expect((await read(cache, 'left'))?.toString()).toBe('now it is whole')
})

test('damage of a kept file is found by its digest', async () => {
  const folder = newTestFolder()
  await store(new ArchiveCache(folder, 1000), 'one', Buffer.from('a whole archive'))
  const [file = ''] = filesBelow(folder)
  const bytes = readFileSync(file)
  bytes[3] = (bytes[3] ?? 0) ^ 1
  writeFileSync(file, bytes)
  expect(await read(new ArchiveCache(folder, 1000), 'one')).toBe(undefined)
  expect(filesBelow(folder)).toEqual([])
})

test('what a crash left half written goes at the next start, and a repository takes its archives along', async () => {
  const folder = newTestFolder()
  await store(new ArchiveCache(folder, 1000), 'one', Buffer.from('a whole archive'))
  writeFileSync(join(folder, repo.key, 'tmp-of-a-dead-process'), 'half')
  const cache = new ArchiveCache(folder, 1000)
  expect((await read(cache, 'one'))?.length).toBe(15)
  expect(filesBelow(folder)).toHaveLength(1)
  await cache.forget(repo.key)
  expect(filesBelow(folder)).toEqual([])
  expect(await read(cache, 'one')).toBe(undefined)
})
