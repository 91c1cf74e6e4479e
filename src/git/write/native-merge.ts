import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { asGitError, type NativeRepository, nodegit, type Oid, oid } from '../native.ts'
import { rootTree } from '../tree-walk.ts'
import { emptyTree, type ObjectId } from '../types.ts'
import { ObjectWriter } from './object-writer.ts'
import { TreeEditor } from './tree-editor.ts'
import { mergeTrees } from './tree-merge.ts'

/** A commit in native memory. */
interface NativeCommit {
  getTree(): Promise<NativeTree>
}

interface NativeTree {
  id(): Oid
}

interface NativeIndexEntry {
  readonly path: string
}

interface NativeIndex {
  hasConflicts(): boolean
  entryCount(): number
  getByIndex(index: number): NativeIndexEntry
  writeTreeTo(repository: NativeRepository): Promise<Oid>
}

interface NativeDiffFile {
  id(): Oid
  path(): string
  mode(): number
}

interface NativeDelta {
  status(): number
  oldFile(): NativeDiffFile
  newFile(): NativeDiffFile
}

interface NativeDiff {
  numDeltas(): number
  getDelta(index: number): NativeDelta
}

/** What we use of nodegit here; see native.ts. */
interface MergeModule {
  readonly Commit: { lookup(repository: NativeRepository, id: Oid): Promise<NativeCommit> }
  readonly Merge: {
    commits(
      repository: NativeRepository,
      ours: NativeCommit,
      theirs: NativeCommit,
    ): Promise<NativeIndex>
  }
  readonly Cherrypick: { commit: PickFunction }
  readonly Revert: { commit: PickFunction }
  readonly Index: { entryIsConflict(entry: NativeIndexEntry): boolean | number }
  readonly Diff: {
    treeToIndex(
      repository: NativeRepository,
      tree: NativeTree,
      index: NativeIndex,
    ): Promise<NativeDiff>
  }
}

type PickFunction = (
  repository: NativeRepository,
  commit: NativeCommit,
  onto: NativeCommit,
  mainline: number,
  options: object,
) => Promise<NativeIndex>

function module(): MergeModule {
  return nodegit() as unknown as MergeModule
}

/** What a merge, pick or revert came to. */
export type Combined = { readonly outcome: 'clean'; readonly treeId: ObjectId } | Conflicting

export interface Conflicting {
  readonly outcome: 'conflict'
  /** The paths that conflict, sorted. */
  readonly paths: readonly string[]
}

export type Combination =
  | { readonly kind: 'merge'; readonly ours: ObjectId; readonly theirs: ObjectId }
  | {
      readonly kind: 'cherry-pick' | 'revert'
      readonly commit: ObjectId
      readonly onto: ObjectId
      /** Of a merge commit, the parent whose side is kept: 1 is the first; 0 for other commits. */
      readonly mainline: number
    }

function conflictPaths(index: NativeIndex): string[] {
  const paths = new Set<string>()
  for (let i = 0; i < index.entryCount(); i += 1) {
    const entry = index.getByIndex(i)
    if (module().Index.entryIsConflict(entry)) paths.add(entry.path)
  }
  return [...paths].sort()
}

const deleted = 2

/**
 * Writes the tree of a clean index. Only what differs from our side is written: libgit2's own way
 * writes every folder again (ENGINE.md §9).
 */
async function writeTree(
  repository: OpenRepository,
  native: NativeRepository,
  index: NativeIndex,
  ours: NativeCommit,
): Promise<ObjectId> {
  const tree = await ours.getTree()
  const diff = await module().Diff.treeToIndex(native, tree, index)
  const deltas = Array.from({ length: diff.numDeltas() }, (_, i) => diff.getDelta(i))
  // Paths come as text: bytes that are not UTF-8 are lost, and only libgit2 still knows them.
  if (deltas.some((delta) => delta.newFile().path().includes('\ufffd'))) {
    return (await index.writeTreeTo(native)).tostrS()
  }
  const editor = new TreeEditor(repository, tree.id().tostrS())
  const writer = new ObjectWriter(repository.path)
  // Deletions first: a file may give way to a folder of its name.
  for (const delta of deltas) {
    if (delta.status() === deleted) await editor.remove(delta.oldFile().path())
  }
  for (const delta of deltas) {
    const file = delta.newFile()
    if (delta.status() === deleted) continue
    await editor.put(file.path(), { mode: file.mode(), id: file.id().tostrS() })
  }
  const treeId = await editor.write(writer)
  if (treeId === emptyTree) await writer.add('tree', Buffer.alloc(0))
  await writer.flush()
  return treeId
}

async function lookUp(native: NativeRepository, id: ObjectId): Promise<NativeCommit> {
  return module().Commit.lookup(native, oid(id))
}

async function buildIndex(
  native: NativeRepository,
  combination: Combination,
  onto: NativeCommit,
): Promise<NativeIndex> {
  if (combination.kind === 'merge') {
    return module().Merge.commits(native, onto, await lookUp(native, combination.theirs))
  }
  const commit = await lookUp(native, combination.commit)
  const { Cherrypick, Revert } = module()
  const apply = combination.kind === 'revert' ? Revert : Cherrypick
  return apply.commit(native, commit, onto, combination.mainline, {})
}

/** Joins the two in memory and hands the result on. */
async function withIndex<Result>(
  repository: OpenRepository,
  combination: Combination,
  finish: (native: NativeRepository, index: NativeIndex, onto: NativeCommit) => Promise<Result>,
): Promise<Result | Conflicting> {
  const ours = combination.kind === 'merge' ? combination.ours : combination.onto
  // Reading it ourselves gives a typed error for what is no commit.
  await rootTree(repository, ours)
  try {
    const native = await repository.handle()
    const onto = await lookUp(native, ours)
    const index = await buildIndex(native, combination, onto)
    if (index.hasConflicts()) return { outcome: 'conflict', paths: conflictPaths(index) }
    return await finish(native, index, onto)
  } catch (error) {
    if (error instanceof GitError) throw error
    throw asGitError(error)
  }
}

/** Merges, picks or reverts in memory; the tree of a clean result is stored, no ref moves. */
export async function combine(
  repository: OpenRepository,
  combination: Combination,
): Promise<Combined> {
  if (combination.kind === 'merge') {
    const writer = new ObjectWriter(repository.path)
    const treeId = await mergeTrees(repository, combination, writer)
    if (treeId !== undefined) {
      await writer.flush()
      return { outcome: 'clean', treeId }
    }
  }
  return withIndex(repository, combination, async (native, index, onto) => ({
    outcome: 'clean',
    treeId: await writeTree(repository, native, index, onto),
  }))
}

/** Whether a merge, pick or revert would go well; no tree is written. */
export async function tryCombine(
  repository: OpenRepository,
  combination: Combination,
): Promise<{ readonly outcome: 'clean' } | Conflicting> {
  if (combination.kind === 'merge') {
    const treeId = await mergeTrees(repository, combination, undefined)
    if (treeId !== undefined) return { outcome: 'clean' }
  }
  return withIndex(repository, combination, async () => ({ outcome: 'clean' as const }))
}
