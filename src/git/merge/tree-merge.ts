import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { readLinked } from '../objects/objects.ts'
import { readTreeData } from '../objects/tree-walk.ts'
import { emptyTree, emptyTreeIn, formatOfId, type ObjectId } from '../types.ts'
import type { ObjectWriter } from '../write/object-writer.ts'
import { type Entry, ThreeCursors, TreeCursor, treeMode } from '../write/tree-cursor.ts'
import { mergeTexts } from './text-merge.ts'

/** Three trees that are joined: what the changes of both sides started from, and the sides. */
export interface ThreeTrees {
  readonly base: ObjectId
  readonly ours: ObjectId
  readonly theirs: ObjectId
}

/** What came of it; without a writer the id means nothing. */
export type JoinedTrees =
  | { readonly outcome: 'clean'; readonly treeId: ObjectId }
  | { readonly outcome: 'conflict'; readonly paths: readonly string[] }

/** Only git can tell: a rename may matter, or kinds of things are in each other's way. */
class LeftToGit extends Error {}

const regular = 0o100644
const executable = 0o100755
const usualModes: ReadonlySet<number> = new Set([regular, executable, 0o120000, 0o160000, treeMode])

interface Versions {
  readonly base: Entry | undefined
  readonly ours: Entry | undefined
  readonly theirs: Entry | undefined
}

function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode
}

function isFile(entry: Entry | undefined): entry is Entry {
  return entry?.mode === regular || entry?.mode === executable
}

/** The entries of a folder as they come out, in git's order. */
class MergedFolder {
  readonly #pieces: Buffer[] = []
  /** Entries that stand side by side in ours and are taken as they are: most of a folder is such. */
  #run: { readonly data: Buffer; readonly start: number; end: number } | undefined
  /** Names that not all sides agree about: a file and a folder of one name can't both be. */
  readonly #files = new Set<string>()
  readonly #folders = new Set<string>()

  copy(cursor: TreeCursor): void {
    // git writes the usual modes only, into every folder that it writes anew.
    if (!usualModes.has(cursor.mode)) throw new LeftToGit()
    const { data, start, end } = cursor
    if (this.#run?.data === data && this.#run.end === start) this.#run.end = end
    else {
      this.#endRun()
      this.#run = { data, start, end }
    }
  }

  add(name: string, entry: Entry): void {
    const [mine, others] =
      entry.mode === treeMode ? [this.#folders, this.#files] : [this.#files, this.#folders]
    if (others.has(name) || !usualModes.has(entry.mode)) throw new LeftToGit()
    mine.add(name)
    this.#endRun()
    const head = Buffer.from(`${entry.mode.toString(8)} ${name}\0`, 'latin1')
    this.#pieces.push(head, Buffer.from(entry.id, 'hex'))
  }

  bytes(): Buffer {
    this.#endRun()
    return Buffer.concat(this.#pieces)
  }

  #endRun(): void {
    if (this.#run) this.#pieces.push(this.#run.data.subarray(this.#run.start, this.#run.end))
    this.#run = undefined
  }
}

/**
 * Joins two sides' changes folder by folder, reading only what both have changed, and texts that both have changed line
 * by line. Renames matter to git only where a side lacks something that the other has changed or lacks too (merge-ort.c,
 * `add_pair`): there it gives up.
 */
class TreeMerge {
  readonly conflicts: string[] = []
  readonly #repository: OpenRepository
  readonly #writer: ObjectWriter | undefined
  readonly #signal: AbortSignal

  constructor(repository: OpenRepository, writer: ObjectWriter | undefined, signal: AbortSignal) {
    this.#repository = repository
    this.#writer = writer
    this.#signal = signal
  }

  /** What becomes of a folder; undefined: nothing is left of it. */
  async folder({ base, ours, theirs }: Versions, path: string): Promise<Entry | undefined> {
    if (this.#signal.aborted) throw new GitError('timeout', 'the caller went away')
    const at = new ThreeCursors(
      await this.#open(base),
      await this.#open(ours),
      await this.#open(theirs),
    )
    const folder = new MergedFolder()
    while (at.next()) {
      if (at.isUnchanged) folder.copy(at.ours)
      else await this.#changed(at, path, folder)
    }
    const bytes = folder.bytes()
    if (bytes.length === 0) return undefined
    // Who only wants to know whether it goes well needs no id.
    const id = (await this.#writer?.add('tree', bytes)) ?? emptyTree
    return { mode: treeMode, id }
  }

  async #changed(at: ThreeCursors, path: string, folder: MergedFolder): Promise<void> {
    const { base, ours, theirs } = at
    const { name } = at.inBase ? base : at.inOurs ? ours : theirs
    const versions = {
      base: at.inBase ? base.entry : undefined,
      ours: at.inOurs ? ours.entry : undefined,
      theirs: at.inTheirs ? theirs.entry : undefined,
    }
    const merged = await this.#entry(versions, path + name)
    if (merged) folder.add(name, merged)
  }

  /** What becomes of an entry; all versions of it are folders, or none is. */
  async #entry(versions: Versions, path: string): Promise<Entry | undefined> {
    const { base, ours, theirs } = versions
    if (isSame(base, ours)) return theirs
    if (isSame(base, theirs)) return ours
    if (!base && isSame(ours, theirs)) return ours
    if (!ours || !theirs) throw new LeftToGit()
    if (ours.mode === treeMode) return await this.folder(versions, `${path}/`)
    if (isSame(ours, theirs)) return ours
    return await this.#file(versions, path)
  }

  async #file({ base, ours, theirs }: Versions, path: string): Promise<Entry> {
    if (!isFile(base) || !isFile(ours) || !isFile(theirs)) throw new LeftToGit()
    const mode = ours.mode === base.mode ? theirs.mode : ours.mode
    if (ours.id === theirs.id || base.id === ours.id) return { mode, id: theirs.id }
    if (base.id === theirs.id) return { mode, id: ours.id }
    const [before, mine, others] = await Promise.all(
      [base, ours, theirs].map(({ id }) => readLinked(this.#repository, id, 'blob')),
    )
    if (!before || !mine || !others) throw new LeftToGit()
    const merged = mergeTexts(before, mine, others)
    if (merged === 'unclear') throw new LeftToGit()
    if (merged === 'conflict') {
      this.conflicts.push(Buffer.from(path, 'latin1').toString())
      return { mode, id: ours.id }
    }
    return { mode, id: (await this.#writer?.add('blob', merged)) ?? ours.id }
  }

  async #open(entry: Entry | undefined): Promise<TreeCursor> {
    if (entry === undefined) return new TreeCursor(Buffer.alloc(0), 0)
    const data = await readTreeData(this.#repository, entry.id)
    return new TreeCursor(data, entry.id.length / 2)
  }
}

/**
 * Joins three trees as `git merge-tree` does. Undefined where only git can tell how: then nothing that was added to the
 * writer counts.
 */
export async function joinTrees(
  repository: OpenRepository,
  { base, ours, theirs }: ThreeTrees,
  writer: ObjectWriter | undefined,
  signal: AbortSignal,
): Promise<JoinedTrees | undefined> {
  if (ours === theirs || base === theirs) return { outcome: 'clean', treeId: ours }
  if (base === ours) return { outcome: 'clean', treeId: theirs }
  const merge = new TreeMerge(repository, writer, signal)
  const asEntry = (id: ObjectId) => ({ mode: treeMode, id })
  const sides = { base: asEntry(base), ours: asEntry(ours), theirs: asEntry(theirs) }
  try {
    const root = await merge.folder(sides, '')
    const { conflicts } = merge
    if (conflicts.length > 0) return { outcome: 'conflict', paths: conflicts.sort() }
    if (root) return { outcome: 'clean', treeId: root.id }
    await writer?.add('tree', Buffer.alloc(0))
    return { outcome: 'clean', treeId: emptyTreeIn(formatOfId(ours)) }
  } catch (error) {
    if (error instanceof LeftToGit) return undefined
    throw error
  }
}
