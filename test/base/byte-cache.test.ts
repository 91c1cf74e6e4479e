import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { bufferBytes, byteCache, countedCache } from '../../src/base/byte-cache.ts'

test('a counted cache holds so many entries, and drops what was used least recently', () => {
  const cache = countedCache<number>(3)
  for (const key of ['a', 'b', 'c']) cache.set(key, 1)
  cache.get('a')
  cache.set('d', 1)
  expect([...cache.keys()].sort()).toEqual(['a', 'c', 'd'])
  cache.set('a', 2)
  expect([cache.size, cache.get('a')]).toEqual([3, 2])
})

test('a cache of bytes counts keys and values, and keeps nothing that would push all others out', () => {
  const cache = byteCache<Buffer>(1000, (value) => value.length)
  expect(cache.set('large', Buffer.alloc(300)).has('large')).toBe(false)
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, Buffer.alloc(140))
  expect([...cache.keys()].sort()).toEqual(['a', 'b', 'c', 'd'])
  cache.set('e', Buffer.alloc(140))
  expect([...cache.keys()].sort()).toEqual(['b', 'c', 'd', 'e'])
})

test('a cache of many small buffers takes about the memory that it may', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void // what the flag gives
  const limit = 32 * 1024 * 1024
  const cache = byteCache<Buffer>(limit, (value) => bufferBytes + value.length)
  collect()
  const before = process.memoryUsage.rss()
  for (let at = 0; cache.calculatedSize < limit * 0.95; at += 1)
    cache.set(`key ${at}`, Buffer.allocUnsafeSlow(20))
  collect()
  const taken = process.memoryUsage.rss() - before
  expect(taken / limit).toBeLessThan(1.6)
})
