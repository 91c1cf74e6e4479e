import { damaged } from '../error.ts'
import { isObjectId } from '../names.ts'
import type { Commit, ObjectId, ObjectType, Tag, TreeEntry } from '../types.ts'
import { parsePerson } from './parse-person.ts'

interface Headers {
  readonly values: ReadonlyMap<string, readonly Buffer[]>
  readonly body: Buffer
}

const newline = 0x0a
const space = 0x20

/** The header lines of a commit or tag, continuation lines joined, and what follows the blank line. */
function splitHeaders(data: Buffer): Headers {
  const values = new Map<string, Buffer[]>()
  let last: { list: Buffer[]; at: number } | undefined
  let at = 0
  while (at < data.length && data[at] !== newline) {
    const found = data.indexOf(newline, at)
    const end = found < 0 ? data.length : found
    if (data[at] === space && last) {
      const line = data.subarray(at + 1, end)
      last.list[last.at] = Buffer.concat([last.list[last.at] ?? line, Buffer.of(newline), line])
    } else {
      const gap = data.indexOf(space, at)
      const split = gap < 0 || gap > end ? end : gap
      const key = data.toString('latin1', at, split)
      const list = values.get(key) ?? []
      values.set(key, list)
      last = { list, at: list.length }
      list.push(data.subarray(Math.min(split + 1, end), end))
    }
    at = end + 1
  }
  return { values, body: data.subarray(Math.min(at + 1, data.length)) }
}

/** What Windows has where Latin 1 has control characters; the decoder of Node 20 mixes them up. */
const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Bytes as text in the encoding a commit names; UTF-8 unless it names one that we know. */
function decoderFor(encoding: string | undefined): (bytes: Buffer) => string {
  const label = encoding?.trim().toLowerCase()
  if (!label || label === 'utf-8' || label === 'utf8') return (bytes) => bytes.toString('utf8')
  if (label === 'iso-8859-1' || label === 'latin1' || label === 'iso8859-1') {
    return (bytes) => bytes.toString('latin1')
  }
  if (/^(?:windows-|x-cp|cp)1252$/.test(label)) {
    const shown = (char: string) => windows1252[char.charCodeAt(0) - 0x80] ?? char
    return (bytes) => bytes.toString('latin1').replace(/[\x80-\x9f]/g, shown)
  }
  try {
    const decoder = new TextDecoder(label)
    return (bytes) => decoder.decode(bytes)
  } catch {
    return (bytes) => bytes.toString('utf8')
  }
}

/** Reads a raw commit object. */
export function parseCommit(id: ObjectId, data: Buffer): Commit {
  const { values, body } = splitHeaders(data)
  const first = (key: string) => values.get(key)?.[0]
  const decode = decoderFor(first('encoding')?.toString('latin1'))
  const message = decode(body)
  const signature = first('gpgsig') ?? first('gpgsig-sha256')
  return {
    id,
    treeId: idIn(first('tree'), id),
    parentIds: (values.get('parent') ?? []).map((parent) => idIn(parent, id)),
    author: parsePerson(decode(first('author') ?? Buffer.alloc(0))),
    committer: parsePerson(decode(first('committer') ?? Buffer.alloc(0))),
    message,
    title: titleOf(message),
    ...(signature === undefined ? {} : { signature: signature.toString('utf8') }),
  }
}

/** The commit's first line (docs/contract/B-resolved §2: "title = whole first line"). */
export function titleOf(message: string): string {
  return message.trimStart().split(/\r?\n/, 1)[0]?.trimEnd() ?? ''
}

/** Where an armoured signature begins. */
export const signatureStart =
  /^-----BEGIN (?:PGP SIGNATURE|PGP MESSAGE|SSH SIGNATURE|SIGNED MESSAGE)-----$/gm

/** Reads a raw annotated tag; a signature at the end of the message is taken off. */
export function parseTag(id: ObjectId, data: Buffer): Tag {
  const { values, body } = splitHeaders(data)
  const first = (key: string) => values.get(key)?.[0]
  const decode = decoderFor(first('encoding')?.toString('latin1'))
  const whole = decode(body)
  const from = whole.search(signatureStart)
  const tagger = first('tagger')
  return {
    id,
    targetId: idIn(first('object'), id),
    targetType: (first('type')?.toString('latin1') ?? 'commit') as ObjectType,
    name: decode(first('tag') ?? Buffer.alloc(0)),
    message: from < 0 ? whole : whole.slice(0, from),
    ...(tagger === undefined ? {} : { tagger: parsePerson(decode(tagger)) }),
    ...(from < 0 ? {} : { signature: whole.slice(from) }),
  }
}

function idIn(bytes: Buffer | undefined, of: ObjectId): ObjectId {
  const text = bytes?.toString('latin1') ?? ''
  if (!isObjectId(text)) throw damaged(`the object ${of} cannot be read`)
  return text
}

/** An entry of one tree object, its name still as bytes. */
export interface RawEntry {
  readonly mode: number
  readonly name: Buffer
  readonly id: ObjectId
}

/** The entries of a raw tree object in git's order. */
export function parseTree(id: ObjectId, data: Buffer): RawEntry[] {
  const entries: RawEntry[] = []
  const idBytes = id.length / 2
  let at = 0
  while (at < data.length) {
    const gap = data.indexOf(space, at)
    const end = data.indexOf(0, gap + 1)
    if (gap < 0 || end < 0 || end + 1 + idBytes > data.length) {
      throw damaged(`the tree ${id} cannot be read`)
    }
    entries.push({
      mode: Number.parseInt(data.toString('latin1', at, gap), 8),
      name: data.subarray(gap + 1, end),
      id: data.toString('hex', end + 1, end + 1 + idBytes),
    })
    at = end + 1 + idBytes
  }
  return entries
}

/** Where each entry of a raw tree object starts, and the end of the last one: to parse only some of a large folder. */
export function entryStarts(id: ObjectId, data: Buffer): number[] {
  const starts = [0]
  const idBytes = id.length / 2
  for (let at = 0; at < data.length; starts.push(at)) {
    const end = data.indexOf(0, at)
    at = end + 1 + idBytes
    if (end < 0 || at > data.length) throw damaged(`the tree ${id} cannot be read`)
  }
  return starts
}

/** The type that a mode means; git distinguishes them by the mode's upper bits. */
export function typeOfMode(mode: number): TreeEntry['type'] {
  const kind = mode & 0o170000
  if (kind === 0o040000) return 'tree'
  return kind === 0o160000 ? 'commit' : 'blob'
}

/** Six octal digits. */
export function modeText(mode: number): string {
  return mode.toString(8).padStart(6, '0')
}
