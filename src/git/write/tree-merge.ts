import type { OpenRepository } from '../engine/open-repository.ts'
import { historyWith } from '../history/load.ts'
import { mergeBases } from '../history/paint.ts'
import { parseTree } from '../parse-object.ts'
import { readTreeData, rootTree } from '../tree-walk.ts'
import { emptyTree, type ObjectId } from '../types.ts'
import type { ObjectWriter } from './object-writer.ts'
import { type Entry, treeObject } from './tree-editor.ts'

const treeMode = 0o040000

/** What comes out where the three sides are looked at as they stand; an empty folder is left out. */
type Outcome = { readonly entry: Entry | undefined } | undefined

function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode
}

function isTree(entry: Entry | undefined): boolean {
  return entry?.mode === treeMode
}

/** Merges folders in which each thing was changed by one side at most; reads only what both have changed. */
class TreeMerge {
  readonly #repository: OpenRepository
  readonly #writer: ObjectWriter | undefined

  constructor(repository: OpenRepository, writer: ObjectWriter | undefined) {
    this.#repository = repository
    this.#writer = writer
  }

  async merge(
    base: Entry | undefined,
    ours: Entry | undefined,
    theirs: Entry | undefined,
  ): Promise<Outcome> {
    if (isSame(base, ours)) return { entry: theirs }
    if (isSame(base, theirs)) return { entry: ours }
    if (isTree(ours) && isTree(theirs) && (base === undefined || isTree(base))) {
      // The same change twice may be half of two different renames.
      return isSame(ours, theirs) ? undefined : await this.#folders(base, ours, theirs)
    }
    const bothModified = base !== undefined && ours !== undefined && isSame(ours, theirs)
    return bothModified && !isTree(base) && !isTree(ours) ? { entry: ours } : undefined
  }

  async #folders(
    base: Entry | undefined,
    ours: Entry | undefined,
    theirs: Entry | undefined,
  ): Promise<Outcome> {
    const [before, mine, others] = await Promise.all(
      [base, ours, theirs].map((one) => this.#read(one)),
    )
    if (!before || !mine || !others) return undefined
    const merged: (Entry & { readonly name: string })[] = []
    for (const name of new Set([...before.keys(), ...mine.keys(), ...others.keys()])) {
      const outcome = await this.merge(before.get(name), mine.get(name), others.get(name))
      if (!outcome) return undefined
      if (outcome.entry) merged.push({ ...outcome.entry, name })
    }
    if (merged.length === 0) return { entry: undefined }
    // Who only wants to know whether it goes well needs no id.
    const id = (await this.#writer?.add('tree', treeObject(merged))) ?? emptyTree
    return { entry: { mode: treeMode, id } }
  }

  async #read(entry: Entry | undefined): Promise<Map<string, Entry>> {
    const found = new Map<string, Entry>()
    if (entry === undefined) return found
    const data = await readTreeData(this.#repository, entry.id)
    for (const { name, mode, id } of parseTree(entry.id, data)) {
      found.set(name.toString('latin1'), { mode, id })
    }
    return found
  }
}

/**
 * The tree of a merge in which no file was changed by both sides, which is most of them: then it takes no look at
 * contents, and renames on one side can't matter. Undefined when it is not that simple: several merge bases, none, or
 * a path that both sides have touched. Without a writer the id means nothing.
 */
export async function mergeTrees(
  repository: OpenRepository,
  sides: { readonly ours: ObjectId; readonly theirs: ObjectId },
  writer: ObjectWriter | undefined,
): Promise<ObjectId | undefined> {
  const { ours, theirs } = sides
  // First, since reading them gives a typed error for what is no commit.
  const [mine, others] = await Promise.all([ours, theirs].map((id) => rootTree(repository, id)))
  const history = await historyWith(repository, [ours, theirs])
  const [base, ...more] = mergeBases(history, history.at(ours), [history.at(theirs)])
  if (base === undefined || more.length > 0) return undefined
  const before = await rootTree(repository, history.idOf(base))
  const asEntry = (id: ObjectId | undefined) =>
    id === undefined ? undefined : { mode: treeMode, id }
  const outcome = await new TreeMerge(repository, writer).merge(
    asEntry(before),
    asEntry(mine),
    asEntry(others),
  )
  if (!outcome) return undefined
  if (outcome.entry) return outcome.entry.id
  await writer?.add('tree', Buffer.alloc(0))
  return emptyTree
}
