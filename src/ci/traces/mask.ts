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
export function maskBytes(bytes: Buffer, values: readonly string[]): MaskedBytes {
  const masked = Buffer.from(bytes)
  let held = 0
  for (const value of values) {
    const secret = Buffer.from(value)
    // Looked for in what was sent: one value may be a part of another, and must not hide it.
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + 1)) {
      masked.fill(STAR, at, at + secret.length)
    }
    held = Math.max(held, beginningAt(bytes, secret))
  }
  return { bytes: masked, held }
}

/** How many bytes at the end are the beginning of a secret. */
function beginningAt(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) return length
  }
  return 0
}

/** How much of what was written before must be looked at again. */
export function overlapOf(values: readonly string[]): number {
  return Math.max(0, ...values.map((value) => Buffer.byteLength(value) - 1))
}
