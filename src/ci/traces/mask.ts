import { Timeslice } from '../../base/timeslice.ts'

/** Bytes that were written, with what must not be shown blanked out. */
export interface MaskedBytes {
  readonly bytes: Buffer
  /** Bytes at the end that may be the beginning of a masked value, whose rest is still to come. */
  readonly held: number
}

const STAR = 0x2a

/**
 * Blanks masked values, each with as many bytes: offsets in a log stay true. `bytes` begins with enough of what was
 * sent before that a value which is cut in two by a chunk is seen whole.
 */
export async function maskBytes(bytes: Buffer, values: readonly string[]): Promise<MaskedBytes> {
  const masked = Buffer.from(bytes)
  const slice = new Timeslice(SLICE_MS)
  let held = 0
  for (const value of values) {
    // Looked for in what was sent: one value may be a part of another, and must not hide it.
    held = Math.max(held, blank(masked, bytes, Buffer.from(value)))
    if (slice.isOver()) await slice.yield()
  }
  return { bytes: masked, held }
}

/** Others get their turn after so long: there may be thousands of values. */
const SLICE_MS = 20
/** So much of a secret is looked for by the quick search of buffers, which takes long for long ones that repeat themselves. */
const LOOKED_FOR = 32

/**
 * Blanks a secret wherever it stands in the bytes, also where it overlaps itself; gives how many bytes at the end are its
 * beginning. Looks at each byte once (Knuth, Morris and Pratt), whatever the secret is.
 */
function blank(masked: Buffer, bytes: Buffer, secret: Buffer): number {
  const borders = bordersOf(secret)
  const start = secret.subarray(0, LOOKED_FOR)
  let matched = 0
  let blanked = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (matched === 0) {
      const found = bytes.indexOf(start, at)
      // Only a beginning that is shorter still may stand at the end.
      at = found >= 0 ? found : Math.max(at, bytes.length - start.length + 1)
      if (at >= bytes.length) break
    }
    matched = longerMatch(secret, borders, matched, bytes[at])
    if (matched < secret.length) continue
    masked.fill(STAR, Math.max(blanked, at + 1 - secret.length), at + 1)
    blanked = at + 1
    matched = borders[matched - 1] ?? 0
  }
  return matched
}

/** For each beginning of a secret the longest shorter one that it ends with. */
function bordersOf(secret: Buffer): Uint32Array {
  const borders = new Uint32Array(secret.length)
  let length = 0
  for (let at = 1; at < secret.length; at += 1) {
    length = longerMatch(secret, borders, length, secret[at])
    borders[at] = length
  }
  return borders
}

/** How much of the secret's beginning the bytes end with after one byte more. */
function longerMatch(
  secret: Buffer,
  borders: Uint32Array,
  before: number,
  byte: number | undefined,
): number {
  let length = before
  while (length > 0 && secret[length] !== byte) length = borders[length - 1] ?? 0
  return secret[length] === byte ? length + 1 : length
}

/** How much of what was written before must be looked at again. */
export function overlapOf(values: readonly string[]): number {
  return Math.max(0, ...values.map((value) => Buffer.byteLength(value) - 1))
}
