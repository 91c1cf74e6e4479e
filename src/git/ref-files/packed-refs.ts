import { isObjectId } from '../names.ts'
import type { ObjectId, Ref } from '../types.ts'

const newline = 0x0a
const hash = 0x23
const caret = 0x5e
const space = 0x20

/**
 * The bytes of a `packed-refs` file, searched where they stand: hundred thousands of refs cost no more memory
 * than their file, and no time to read in.
 */
export class PackedRefs {
  readonly #bytes: Buffer
  /** The prefix listed last: pages of one list come one after the other. */
  #listed: { readonly prefix: string; readonly refs: readonly Ref[] } | undefined

  constructor(bytes: Buffer) {
    this.#bytes = isSorted(bytes) ? bytes : sorted(bytes)
  }

  find(name: string): ObjectId | undefined {
    const ref = this.#readAt(this.#firstAtOrAfter(Buffer.from(name)))
    return ref?.name === name ? ref.id : undefined
  }

  /** The refs whose name starts with `prefix`, in the order of their bytes. */
  list(prefix: string): readonly Ref[] {
    if (this.#listed?.prefix !== prefix) this.#listed = { prefix, refs: this.#read(prefix) }
    return this.#listed.refs
  }

  /** Whether there is a ref whose name starts with `prefix`. */
  hasBelow(prefix: string): boolean {
    return this.#readAt(this.#firstAtOrAfter(Buffer.from(prefix)))?.name.startsWith(prefix) ?? false
  }

  #read(prefix: string): Ref[] {
    const refs: Ref[] = []
    for (let at = this.#firstAtOrAfter(Buffer.from(prefix)); at < this.#bytes.length; ) {
      const ref = this.#readAt(at)
      if (ref) {
        if (!ref.name.startsWith(prefix)) break
        if (isObjectId(ref.id)) refs.push(ref)
      }
      at = endOfLine(this.#bytes, at) + 1
    }
    return refs
  }

  /** Where the line of the first ref starts whose name is not before this one. */
  #firstAtOrAfter(name: Buffer): number {
    let low = 0
    let high = this.#bytes.length
    while (low < high) {
      const at = this.#refAtOrBefore(low, (low + high) >> 1)
      const gap = this.#bytes.indexOf(space, at)
      const end = endOfLine(this.#bytes, at)
      const isBefore =
        isAbout(this.#bytes[at]) || this.#bytes.compare(name, 0, name.length, gap + 1, end) < 0
      if (isBefore) low = end + 1
      else high = at
    }
    return this.#skipNotes(low)
  }

  /** The start of the line with a ref that `position` is on or behind, not before `low`. */
  #refAtOrBefore(low: number, position: number): number {
    let at = startOfLine(this.#bytes, low, position)
    while (at > low && isAbout(this.#bytes[at])) at = startOfLine(this.#bytes, low, at - 1)
    return at
  }

  #skipNotes(from: number): number {
    let at = from
    while (at < this.#bytes.length && isAbout(this.#bytes[at])) {
      at = endOfLine(this.#bytes, at) + 1
    }
    return at
  }

  #readAt(at: number): Ref | undefined {
    const end = endOfLine(this.#bytes, at)
    const gap = this.#bytes.indexOf(space, at)
    if (isAbout(this.#bytes[at]) || gap < 0 || gap > end) return undefined
    return {
      name: this.#bytes.toString('utf8', gap + 1, end),
      id: this.#bytes.toString('latin1', at, gap),
    }
  }
}

/** Lines with `#` are about the file, lines with `^` give the target of the tag above. */
function isAbout(byte: number | undefined): boolean {
  return byte === hash || byte === caret
}

function endOfLine(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(newline, at)
  return found < 0 ? bytes.length : found
}

function startOfLine(bytes: Buffer, low: number, position: number): number {
  if (position <= low) return low
  // A line feed at the position itself ends the line that it is on.
  const before = bytes.lastIndexOf(newline, position - 1)
  return before < low ? low : before + 1
}

/** git writes whether it sorted; older files, and those of other programs, say nothing. */
function isSorted(bytes: Buffer): boolean {
  const first = bytes.toString('latin1', 0, endOfLine(bytes, 0))
  return (
    bytes.length === 0 || (first.startsWith('# pack-refs with:') && / sorted(?: |$)/.test(first))
  )
}

function sorted(bytes: Buffer): Buffer {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = endOfLine(bytes, at)
    if (!isAbout(bytes[at]) && end > at) lines.push(bytes.subarray(at, end))
    at = end + 1
  }
  const nameOf = (line: Buffer) => line.subarray(line.indexOf(space) + 1)
  lines.sort((a, b) => Buffer.compare(nameOf(a), nameOf(b)))
  return Buffer.concat(lines.flatMap((line) => [line, Buffer.of(newline)]))
}
