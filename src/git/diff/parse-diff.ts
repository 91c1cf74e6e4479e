import { GitError } from '../error.ts'
import { noObject, type ObjectId } from '../types.ts'

/** One side of a changed file as `git diff-tree --raw` names it. */
export interface RawChange {
  readonly oldMode: string
  readonly newMode: string
  readonly oldId: ObjectId
  readonly newId: ObjectId
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  readonly oldPath: string
  readonly newPath: string
}

/** The patch of one file: from its first `@@`, or the notice that it is binary. */
export interface RawPatch {
  /** All of it, or nothing when it is longer than what is kept. */
  readonly text: string
  readonly bytes: number
  readonly lines: number
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
}

const newline = 0x0a
const boundary = Buffer.from('\ndiff --git ')

const missing = '000000'

/** `:100644 100755 <id> <id> M`, and the path or paths that follow it. */
function parseChange(header: string, paths: readonly string[]): RawChange[] {
  const [oldMode = '', newMode = '', oldId = '', newId = '', status = ''] = header
    .slice(1)
    .split(' ')
  const [oldPath = '', newPath = oldPath] = paths
  const both = { oldMode, newMode, oldId, newId, oldPath, newPath }
  const letter = status.charAt(0)
  if (letter === 'A') return [{ ...both, status: 'added' }]
  if (letter === 'D') return [{ ...both, status: 'deleted' }]
  if (letter === 'R') return [{ ...both, status: 'renamed' }]
  if (letter !== 'T') return [{ ...both, status: 'modified' }]
  // git shows a change of type as a deletion and an addition, and so do we.
  return [
    { ...both, newMode: missing, newId: noObject, status: 'deleted' },
    { ...both, oldMode: missing, oldId: noObject, status: 'added' },
  ]
}

/** A file's patch, from the kept start of what git printed of it; `size` is the length of the whole. */
function patchOf(data: Buffer, size: number, limit: number): RawPatch {
  const body = data.subarray(bodyStart(data))
  const binary = body.length > 0 && body[0] !== 0x40
  const bytes = body.length + size - data.length
  const counted = binary ? { lines: 1, additions: 0, deletions: 0 } : countLines(body)
  const text = bytes < limit ? body.toString('utf8') : ''
  return { text, bytes, binary, ...counted }
}

/** Where the patch proper starts; the end of the data when there is none (a mode change, a pure rename). */
function bodyStart(data: Buffer): number {
  for (let at = 0; at < data.length; ) {
    if (data[at] === 0x40) return at
    if (data.toString('latin1', at, at + 13) === 'Binary files ') return at
    const end = data.indexOf(newline, at)
    if (end < 0) break
    at = end + 1
  }
  return data.length
}

function countLines(body: Buffer): Pick<RawPatch, 'lines' | 'additions' | 'deletions'> {
  let lines = 0
  let additions = 0
  let deletions = 0
  for (let at = 0; at < body.length; ) {
    const first = body[at]
    if (first === 0x2b) additions += 1
    else if (first === 0x2d) deletions += 1
    lines += 1
    const end = body.indexOf(newline, at)
    if (end < 0) break
    at = end + 1
  }
  return { lines, additions, deletions }
}

export interface ParsedFile {
  readonly change: RawChange
  readonly patch: RawPatch
}

/** Takes patches apart that come in pieces, one for each change and in the same order. */
class PatchSplitter {
  readonly #changes: readonly RawChange[]
  readonly #keep: number
  #next = 0
  #rest: Buffer = Buffer.alloc(0)
  /** Of the patch that is read: what is kept of it, and its length so far. */
  #pieces: Buffer[] = []
  #size = 0

  constructor(changes: readonly RawChange[], keep: number) {
    this.#changes = changes
    this.#keep = keep
  }

  /** The files that are whole with this piece. */
  *feed(data: Buffer): Generator<ParsedFile, void, undefined> {
    let rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, data]) : data
    for (let at = rest.indexOf(boundary); at >= 0; at = rest.indexOf(boundary)) {
      this.#add(rest.subarray(0, at + 1))
      rest = rest.subarray(at + 1)
      yield this.#finish()
    }
    // The end may be the start of a boundary.
    const sure = Math.max(0, rest.length - boundary.length)
    this.#add(rest.subarray(0, sure))
    this.#rest = rest.subarray(sure)
  }

  *end(): Generator<ParsedFile, void, undefined> {
    this.#add(this.#rest)
    if (this.#changes.length > 0) yield this.#finish()
  }

  #add(piece: Buffer): void {
    // Up to twice the limit, for the header that comes before the first `@@`.
    if (this.#size < 2 * this.#keep) this.#pieces.push(piece)
    this.#size += piece.length
  }

  #finish(): ParsedFile {
    const change = this.#changes[this.#next]
    if (!change) throw new GitError('failed', 'a diff has more patches than changes')
    const patch = patchOf(Buffer.concat(this.#pieces), this.#size, this.#keep)
    this.#next += 1
    this.#pieces = []
    this.#size = 0
    return { change, patch }
  }
}

/** Reads the output of `git diff-tree --raw -z -p` as it comes: first the list of changes, then a patch for each. */
export async function* parseDiff(
  chunks: AsyncIterable<Buffer>,
  keep: number,
): AsyncGenerator<ParsedFile, void, undefined> {
  const list = new ChangeList()
  let splitter: PatchSplitter | undefined
  for await (const chunk of chunks) {
    const data = splitter ? chunk : list.feed(chunk)
    if (data === undefined) continue
    splitter ??= new PatchSplitter(changesIn(list.fields), keep)
    yield* splitter.feed(data)
  }
  if (splitter) yield* splitter.end()
  // Where only white space differs, and that is ignored, no patch follows.
  else yield* changesIn(list.fields).map((change) => ({ change, patch: noPatch }))
}

const noPatch = patchOf(Buffer.alloc(0), 0, 1)

/** Takes the patches of known changes apart. */
export function* splitPatches(
  changes: readonly RawChange[],
  data: Buffer,
  keep: number,
): Generator<ParsedFile, void, undefined> {
  const splitter = new PatchSplitter(changes, keep)
  yield* splitter.feed(data)
  yield* splitter.end()
}

/** The fields of the list of changes at the start of the output, which ends with an empty one. */
class ChangeList {
  readonly fields: string[] = []
  #rest: Buffer = Buffer.alloc(0)

  /** Takes a piece of output and, at the end of the list, gives back what belongs to the patches. */
  feed(chunk: Buffer): Buffer | undefined {
    let data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    for (let at = data.indexOf(0); at >= 0; at = data.indexOf(0)) {
      const field = data.toString('utf8', 0, at)
      data = data.subarray(at + 1)
      if (field === '') return data
      this.fields.push(field)
    }
    this.#rest = data
    return undefined
  }
}

/** A header each, and the path or, of a rename, both paths. */
export function changesIn(fields: readonly string[]): RawChange[] {
  const changes: RawChange[] = []
  for (let at = 0; at < fields.length; ) {
    const header = fields[at] ?? ''
    const next = at + (/ [RC]\d*$/.test(header) ? 3 : 2)
    changes.push(...parseChange(header, fields.slice(at + 1, next)))
    at = next
  }
  return changes
}
