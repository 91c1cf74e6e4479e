import { expect, test } from 'vitest'
import { byteCache, countedCache } from '../../src/base/byte-cache.ts'

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
