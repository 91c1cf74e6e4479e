import { LRUCache } from 'lru-cache'

/** What an entry costs by itself, besides its key and value. */
const entryBytes = 100

/** What a Buffer costs besides its bytes: measured, and more than all the rest where there are few of them. */
export const bufferBytes = 500

/**
 * A cache bounded in bytes that drops what was used least recently. An entry of more than `largest` is not kept: one
 * value must not push out everything else.
 */
export function byteCache<Value extends NonNullable<unknown>>(
  bytes: number,
  sizeOf: (value: Value) => number,
  largest = Math.floor(bytes / 4),
): LRUCache<string, Value> {
  return new LRUCache({
    maxSize: bytes,
    maxEntrySize: largest,
    sizeCalculation: (value, key) => entryBytes + key.length + sizeOf(value),
  })
}

/**
 * A cache of at most so many entries that drops what was used least recently, for caches that may hold many and mostly
 * hold few: the `max` of lru-cache takes the room of all of them at once, a megabyte for fifty thousand.
 */
export function countedCache<Value extends NonNullable<unknown>>(
  most: number,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 })
}
