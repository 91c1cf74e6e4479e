import type { WalkedEntry } from '../objects/tree-walk.ts'
import type { ObjectId } from '../types.ts'
import { type BloomKeys, bloomKeys } from './graph/bloom.ts'

/** An entry of a folder whose last commit is looked for: what it is, as the bytes of a tree have it. */
export interface Sought {
  readonly name: string
  /** Its place in the folder, by which lists of entries are ordered. */
  readonly order: number
  readonly raw: Buffer
  readonly mode: Buffer
  readonly id: Buffer
  readonly isTree: boolean
  readonly keys: BloomKeys | undefined
}

export interface FolderTree {
  readonly treeId: ObjectId
  readonly data: Buffer
}

export function soughtOf({ name, raw, mode, id, type, path }: WalkedEntry, order: number): Sought {
  return {
    name,
    order,
    raw,
    mode: Buffer.from(mode.replace(/^0+/, '')),
    id: Buffer.from(id, 'hex'),
    isTree: type === 'tree',
    keys: bloomKeys(path),
  }
}

export function byOrder(a: Sought, b: Sought): number {
  return a.order - b.order
}

/** A list without some of its entries, both in order. */
export function without(all: readonly Sought[], some: readonly Sought[]): readonly Sought[] {
  if (some.length === 0) return all
  if (some.length === all.length) return []
  let at = 0
  return all.filter((one) => {
    if (some[at] !== one) return true
    at += 1
    return false
  })
}

const space = 0x20
const slash = 0x2f
const zero = 0x30

/**
 * Those of the entries that a tree has just so. Both are in git's order, so that one pass over the bytes finds all: to
 * parse hundreds of entries for each of thousands of commits costs ten times as much.
 */
export function unchangedIn({ data }: FolderTree, sought: readonly Sought[]): readonly Sought[] {
  const idBytes = sought[0]?.id.length ?? 20
  const same: Sought[] = []
  let at = 0
  for (let next = 0; next < sought.length && at < data.length; ) {
    const one = sought[next] as Sought // below the length
    const gap = data[at + 5] === space ? at + 5 : data.indexOf(space, at)
    const name = gap + 1
    const like = likeness(data, name, one.raw)
    const isNamed = like === one.raw.length && data[name + like] === 0
    if (!isNamed && comesFirst(one, like, { data, at, gap, end: name + like })) {
      next += 1
      continue
    }
    const end = endOfName(data, name + like)
    if (isNamed) {
      if (isJustSo(one, { data, at, gap, end })) same.push(one)
      next += 1
    }
    at = end + 1 + idBytes
  }
  return same.length === sought.length ? sought : same
}

/** How many bytes of a name are at a place. */
function likeness(data: Buffer, from: number, name: Buffer): number {
  let like = 0
  while (like < name.length && data[from + like] === name[like]) like += 1
  return like
}

function endOfName(data: Buffer, from: number): number {
  let end = from
  while (data[end] !== 0 && end < data.length) end += 1
  return end
}

/** Whether the entry of that name has the mode and the id that are looked for. */
function isJustSo({ mode, id }: Sought, { data, at, gap, end }: EntryAt): boolean {
  const digits = data[at] === zero ? at + 1 : at
  return standsAt(data, digits, gap, mode) && standsAt(data, end + 1, end + 1 + id.length, id)
}

interface EntryAt {
  readonly data: Buffer
  readonly at: number
  readonly gap: number
  /** Where its name ends, or stops being like the other one. */
  readonly end: number
}

/** Whether an entry stands before the one of the tree, which then lacks it. Folders are ordered as if a slash followed. */
function comesFirst(one: Sought, like: number, { data, at, gap, end }: EntryAt): boolean {
  const mine = one.raw[like] ?? (one.isTree ? slash : 0)
  const isTree = gap - at === 5 || data[at] === zero
  const other = data[end] || (isTree ? slash : 0)
  return mine < other
}

function standsAt(data: Buffer, from: number, to: number, bytes: Buffer): boolean {
  if (to - from !== bytes.length) return false
  for (let i = 0; i < bytes.length; i += 1) if (data[from + i] !== bytes[i]) return false
  return true
}
