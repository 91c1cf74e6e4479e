import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import type { ObjectType } from '../../types.ts'
import { inflatePart } from './pack-entry.ts'

export interface UnpackedObject {
  readonly type: ObjectType
  /** Shared with other readers: never written to. */
  readonly data: Buffer
}

/** Enough of a loose object's file to read its type and size. */
const looseStart = 128
const looseHeaderPattern = /^(commit|tree|blob|tag) (\d{1,15})\0/

function looseHeader(file: Buffer): { type: ObjectType; size: number; header: number } {
  const start = inflatePart(file.subarray(0, looseStart), 64)
  const found = looseHeaderPattern.exec(start.toString('latin1', 0, 32))
  if (!found) throw new Error('a loose object without a header')
  return { type: found[1] as ObjectType, size: Number(found[2]), header: found[0].length }
}

/** The type and size of a loose object. Throws when the file is damaged. */
export function readLooseHeader(path: string): { type: ObjectType; size: number } {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(looseStart)
    return looseHeader(bytes.subarray(0, readSync(file, bytes, 0, looseStart, 0)))
  } finally {
    closeSync(file)
  }
}

/** A loose object; undefined when it is larger than `limit`. Throws when the file is damaged. */
export function readLoose(path: string, limit: number): UnpackedObject | undefined {
  // Deflate makes what it cannot shorten a little longer.
  if (statSync(path).size > limit + (limit >> 8) + looseStart) return undefined
  const file = readFileSync(path)
  const { type, size, header } = looseHeader(file)
  if (size > limit) return undefined
  const whole = inflatePart(file, size + header)
  if (whole.length !== size + header) throw new Error('a loose object of another size')
  return { type, data: whole.subarray(header) }
}
