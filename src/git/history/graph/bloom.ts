import type { GraphLayer } from './graph-file.ts'

/** How many hashes git takes of each path. */
const hashCount = 7

/** The hashes of a path and of every folder above it: all of them changed when the path did. */
export type BloomKeys = readonly Uint32Array[]

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly the ASCII range is meant
const ascii = /^[\x00-\x7f]*$/

/**
 * The keys to ask filters with; undefined for paths beyond ASCII: version 1 of the format hashes
 * signed characters, which differ between machines.
 */
export function bloomKeys(path: string): BloomKeys | undefined {
  if (!ascii.test(path)) return undefined
  const keys: Uint32Array[] = []
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    keys.push(hashKey(Buffer.from(path.slice(0, end), 'latin1')))
  }
  return keys
}

function hashKey(bytes: Buffer): Uint32Array {
  const first = murmur3(0x293ae76f, bytes)
  const second = murmur3(0x7e646e2c, bytes)
  return Uint32Array.from({ length: hashCount }, (_, i) => (first + Math.imul(i, second)) >>> 0)
}

/** Whether a commit may have changed the path against its first parent; true when there is no filter. */
export function mayHaveChanged(layer: GraphLayer, position: number, keys: BloomKeys): boolean {
  const bloom = layer.bloom
  if (!bloom || bloom.hashes !== keys[0]?.length) return true
  const from = position === 0 ? 0 : bloom.ends.readUInt32BE((position - 1) * 4)
  const to = bloom.ends.readUInt32BE(position * 4)
  const bits = (to - from) * 8
  if (bits <= 0) return true
  return keys.every((key) => contains(bloom.data, from, bits, key))
}

function contains(data: Buffer, from: number, bits: number, key: Uint32Array): boolean {
  for (const hash of key) {
    const bit = hash % bits
    if (((data[from + (bit >>> 3)] ?? 0) & (1 << (bit & 7))) === 0) return false
  }
  return true
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

function scramble(value: number): number {
  return Math.imul(rotate(Math.imul(value, 0xcc9e2d51), 15), 0x1b873593)
}

/** Murmur 3, 32 bits. */
function murmur3(seed: number, bytes: Buffer): number {
  let hash = seed
  const whole = bytes.length & ~3
  for (let i = 0; i < whole; i += 4) {
    hash ^= scramble(bytes.readInt32LE(i))
    hash = (Math.imul(rotate(hash, 13), 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let i = bytes.length - 1; i >= whole; i -= 1) rest = (rest << 8) | (bytes[i] ?? 0)
  if (whole < bytes.length) hash ^= scramble(rest)
  hash ^= bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
