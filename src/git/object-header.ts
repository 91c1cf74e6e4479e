import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { constants, inflateSync } from 'node:zlib'
import type { OpenRepository } from './engine/open-repository.ts'
import { GitError } from './error.ts'
import type { ObjectId, ObjectType } from './types.ts'

/*
 * Type and size of an object without its content: libgit2's call for this is not bound by nodegit, and
 * reading a large blob only to learn its size would cost twice its memory.
 */

export interface ObjectHeader {
  readonly type: ObjectType
  readonly size: number
}

interface PackIndex {
  readonly index: string
  readonly pack: string
  readonly fanout: Buffer
}

interface Packs {
  readonly stamp: string
  readonly indexes: readonly PackIndex[]
}

const packsKey = Symbol('packs')
const packTypes: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag']
const offsetDelta = 6
const referenceDelta = 7

/** The type and size of an object; `not_found` when the repository lacks it. */
export function readObjectHeader(repository: OpenRepository, id: ObjectId): ObjectHeader {
  for (const folder of objectFolders(join(repository.path, 'objects'), 0)) {
    const found = looseHeader(folder, id) ?? packedHeader(repository, folder, id)
    if (found) return found
  }
  throw new GitError('not_found', `no object ${id}`)
}

/** The object folder and those it borrows from. */
function objectFolders(folder: string, depth: number): string[] {
  if (depth > 5) return [folder]
  let borrowed: string[] = []
  try {
    borrowed = readFileSync(join(folder, 'info/alternates'), 'utf8').split('\n').filter(Boolean)
  } catch {
    return [folder]
  }
  const paths = borrowed.map((path) => (isAbsolute(path) ? path : join(folder, path)))
  return [folder, ...paths.flatMap((path) => objectFolders(path, depth + 1))]
}

function looseHeader(folder: string, id: ObjectId): ObjectHeader | undefined {
  const start = readPart(join(folder, id.slice(0, 2), id.slice(2)), 0, 128)
  if (start === undefined) return undefined
  const found = /^(commit|tree|blob|tag) (\d+)\0/.exec(inflateStart(start).toString('latin1'))
  if (!found) throw new GitError('failed', `object ${id} is damaged`)
  return { type: found[1] as ObjectType, size: Number(found[2]) }
}

function packedHeader(
  repository: OpenRepository,
  folder: string,
  id: ObjectId,
): ObjectHeader | undefined {
  for (const index of packsIn(repository, join(folder, 'pack'))) {
    const offset = offsetIn(index, Buffer.from(id, 'hex'))
    if (offset !== undefined) return entryHeader(repository, index.pack, offset, 0)
  }
  return undefined
}

function packsIn(repository: OpenRepository, folder: string): readonly PackIndex[] {
  const all = repository.keep(packsKey, () => new Map<string, Packs>())
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  const stamp = stats ? `${stats.ino} ${stats.mtimeNs}` : 'none'
  const known = all.get(folder)
  if (known?.stamp === stamp) return known.indexes
  const names = stats ? readdirSync(folder).filter((name) => name.endsWith('.idx')) : []
  const indexes = names.flatMap((name) => {
    const index = join(folder, name)
    const fanout = readPart(index, 8, 1024)
    return fanout === undefined ? [] : [{ index, pack: index.replace(/idx$/, 'pack'), fanout }]
  })
  all.set(folder, { stamp, indexes })
  return indexes
}

/** Where an object starts in the pack, by its version 2 index. */
function offsetIn({ index, fanout }: PackIndex, id: Buffer): number | undefined {
  const first = id[0] ?? 0
  const from = first === 0 ? 0 : fanout.readUInt32BE((first - 1) * 4)
  const to = fanout.readUInt32BE(first * 4)
  const total = fanout.readUInt32BE(1020)
  const width = id.length
  const idsAt = 8 + 1024
  const ids = to > from ? readPart(index, idsAt + from * width, (to - from) * width) : undefined
  if (!ids) return undefined
  const at = searchIds(ids, id)
  if (at === undefined) return undefined
  const offsetsAt = idsAt + total * (width + 4)
  const small = readPart(index, offsetsAt + (from + at) * 4, 4)?.readUInt32BE(0) ?? 0
  if (small < 0x80000000) return small
  const largeAt = offsetsAt + total * 4 + (small - 0x80000000) * 8
  return Number(readPart(index, largeAt, 8)?.readBigUInt64BE(0))
}

/** Position of an id among sorted ids of the same width. */
export function searchIds(ids: Buffer, id: Buffer): number | undefined {
  const width = id.length
  let low = 0
  let high = ids.length / width
  while (low < high) {
    const middle = (low + high) >> 1
    const order = ids.compare(id, 0, width, middle * width, (middle + 1) * width)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return undefined
}

function entryHeader(
  repository: OpenRepository,
  pack: string,
  offset: number,
  depth: number,
): ObjectHeader {
  const start = readPart(pack, offset, 256)
  if (!start || depth > 10_000) throw new GitError('failed', 'a pack is damaged')
  const { kind, size, next } = typeAndSize(start)
  const type = packTypes[kind]
  if (type !== undefined) return { type, size }
  if (kind === offsetDelta) {
    const base = baseOffset(start, next)
    const header = entryHeader(repository, pack, offset - base.value, depth + 1)
    return { type: header.type, size: deltaResultSize(start.subarray(base.next)) }
  }
  if (kind !== referenceDelta) throw new GitError('failed', 'a pack is damaged')
  const header = readObjectHeader(repository, start.toString('hex', next, next + 20))
  return { type: header.type, size: deltaResultSize(start.subarray(next + 20)) }
}

/** The first bytes of a pack entry: three bits of type, the rest size, seven bits at a time. */
function typeAndSize(bytes: Buffer): { kind: number; size: number; next: number } {
  const first = bytes[0] ?? 0
  let size = first & 15
  let factor = 16
  let next = 1
  for (let byte = first; byte & 0x80; next += 1) {
    byte = bytes[next] ?? 0
    size += (byte & 0x7f) * factor
    factor *= 128
  }
  return { kind: (first >> 4) & 7, size, next }
}

function baseOffset(bytes: Buffer, from: number): { value: number; next: number } {
  let at = from
  let byte = bytes[at] ?? 0
  let value = byte & 0x7f
  while (byte & 0x80) {
    at += 1
    byte = bytes[at] ?? 0
    value = (value + 1) * 128 + (byte & 0x7f)
  }
  return { value, next: at + 1 }
}

/** A delta starts with the size of its base and of its result. */
function deltaResultSize(compressed: Buffer): number {
  const bytes = inflateStart(compressed)
  let at = 0
  let size = 0
  for (let part = 0; part < 2; part += 1) {
    let factor = 1
    let byte = 0x80
    size = 0
    for (; byte & 0x80; at += 1) {
      byte = bytes[at] ?? 0
      size += (byte & 0x7f) * factor
      factor *= 128
    }
  }
  return size
}

function inflateStart(compressed: Buffer): Buffer {
  try {
    return inflateSync(compressed, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch (error) {
    throw new GitError('failed', `an object is damaged: ${(error as Error).message}`)
  }
}

/** Bytes of a file; undefined when there is no such file. */
function readPart(path: string, position: number, length: number): Buffer | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(file, bytes, 0, length, position))
  } finally {
    closeSync(file)
  }
}
