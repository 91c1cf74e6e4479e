import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { ArchiveInput } from '../../../src/git/archive/archive.ts'
import { ArchiveCache } from '../../../src/git/archive/archive-cache.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { newTestFolder } from '../../support/test-folder.ts'

// Only its key matters here.
const repoOf = (key: string) => ({ key }) as Repo
const plain: ArchiveInput = { commitId: 'a'.repeat(40), format: 'tar', name: 'x' }

async function keep(
  cache: ArchiveCache,
  key: string,
  input: ArchiveInput,
  text: string,
): Promise<string> {
  const kept = await cache.keep(repoOf(key), input, Readable.from([Buffer.from(text)]))
  return (await buffer(kept)).toString()
}

async function find(
  cache: ArchiveCache,
  key: string,
  input: ArchiveInput,
): Promise<string | undefined> {
  const found = await cache.find(repoOf(key), input)
  return found && (await buffer(found.read())).toString()
}

describe('what is kept', () => {
  test('is found for the same question alone', async () => {
    const cache = new ArchiveCache(newTestFolder(), 10_000)
    await keep(cache, '7', plain, 'plain')
    const others: readonly Partial<ArchiveInput>[] = [
      { commitId: 'b'.repeat(40) },
      { format: 'zip' },
      { name: 'y' },
      { path: 'src' },
      { excludePaths: ['src'] },
      { lfs: new Map([['1'.repeat(64), '/somewhere']]) },
    ]
    for (const [i, other] of others.entries()) {
      const input = { ...plain, ...other }
      expect([other, await find(cache, '7', input)]).toEqual([other, undefined])
      await keep(cache, '7', input, `other ${i}`)
    }
    for (const [i, other] of others.entries()) {
      expect(await find(cache, '7', { ...plain, ...other })).toBe(`other ${i}`)
    }
    expect(await find(cache, '7', plain)).toBe('plain')
    expect(await find(cache, '8', plain)).toBeUndefined()
    // Where a large file lies says nothing about what is in it, and what is left out stands for nothing.
    const moved = { ...plain, lfs: new Map([['1'.repeat(64), '/elsewhere']]) }
    expect(await find(cache, '7', moved)).toBe('other 5')
    expect(await find(cache, '7', { ...plain, path: '', excludePaths: [], lfs: new Map() })).toBe(
      'plain',
    )
  })

  test('is written once for two who ask at the same time, and both get all of it', async () => {
    const folder = newTestFolder()
    const cache = new ArchiveCache(folder, 10_000)
    const slow = async function* () {
      for (const text of ['one ', 'two ', 'three']) {
        await new Promise((resolve) => setImmediate(resolve))
        yield Buffer.from(text)
      }
    }
    const both = await Promise.all(
      [1, 2, 3].map(() => cache.keep(repoOf('7'), plain, Readable.from(slow()))),
    )
    const texts = await Promise.all(both.map((one) => buffer(one)))
    expect(texts.map(String)).toEqual(['one two three', 'one two three', 'one two three'])
    expect(readdirSync(join(folder, '7'))).toHaveLength(1)
    expect(await find(cache, '7', plain)).toBe('one two three')
  })

  test('goes with its repository, and not with another of a like name', async () => {
    const folder = newTestFolder()
    const cache = new ArchiveCache(folder, 10_000)
    for (const key of ['7', '7.wiki', '77']) await keep(cache, key, plain, key)
    await cache.forget('7')
    expect(await find(cache, '7', plain)).toBeUndefined()
    expect(await find(cache, '7.wiki', plain)).toBe('7.wiki')
    expect(await find(cache, '77', plain)).toBe('77')
    expect(existsSync(join(folder, '7'))).toBe(false)
    await cache.forget('99')
    await keep(cache, '7', plain, 'again')
    expect(await find(cache, '7', plain)).toBe('again')
  })

  test('can be read in any part', async () => {
    const cache = new ArchiveCache(newTestFolder(), 10_000)
    await keep(cache, '7', plain, '0123456789')
    for (const [start, end, expected] of [
      [0, 0, '0'],
      [0, 9, '0123456789'],
      [9, 9, '9'],
      [3, 5, '345'],
    ] as const) {
      const found = await cache.find(repoOf('7'), plain)
      expect(found?.size).toBe(10)
      expect(found && (await buffer(found.read({ start, end }))).toString()).toBe(expected)
    }
    const unread = await cache.find(repoOf('7'), plain)
    await unread?.close()
    expect(await find(cache, '7', plain)).toBe('0123456789')
  })
})

describe('nothing is kept', () => {
  test('where nothing may be, or another process does', async () => {
    for (const limit of [0, undefined]) {
      const folder = newTestFolder()
      const cache = new ArchiveCache(folder, limit)
      expect(await keep(cache, '7', plain, 'all of it')).toBe('all of it')
      expect(await find(cache, '7', plain)).toBeUndefined()
      expect(readdirSync(folder)).toEqual([])
    }
  })

  test('where the folder cannot be written, and the reader has it all the same', async () => {
    const folder = newTestFolder()
    writeFileSync(join(folder, '7'), 'a file in the way')
    const cache = new ArchiveCache(folder, 10_000)
    // It is what a crash left, for all that the cache knows; it comes back while the server runs.
    await find(cache, '7', plain)
    writeFileSync(join(folder, '7'), 'again')
    expect(await keep(cache, '7', plain, 'all of it')).toBe('all of it')
    expect(await find(cache, '7', plain)).toBeUndefined()
  })
})
