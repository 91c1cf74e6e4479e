import { isUtf8 } from 'node:buffer'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { assertObjectId } from '../names.ts'
import { readTyped } from '../objects/objects.ts'
import { parseTree, type RawEntry, typeOfMode } from '../objects/parse-object.ts'
import type { ObjectId } from '../types.ts'
import { type ConflictPart, markerSize, splitConflicts, usualMarker } from './conflict-sections.ts'
import { type ConflictedPath, type ConflictingMerge, mergeWithMarks } from './conflicting-merge.ts'
import { isUnmergeable } from './git-merge.ts'

export const conflictKinds = [
  /** Both sides changed the same lines. */
  'content',
  /** Both sides added a file of this name. */
  'both_added',
  'deleted_by_ours',
  'deleted_by_theirs',
  /** No text in UTF-8. */
  'binary',
  'too_large',
  /** What no text settles: names, links, submodules, files against folders. */
  'other',
] as const

export type ConflictKind = (typeof conflictKinds)[number]

export interface ConflictedFile {
  readonly path: string
  readonly kind: ConflictKind
  /** The merged text, for `content` and `both_added`. */
  readonly parts?: readonly ConflictPart[] | undefined
}

export interface Conflicts {
  readonly files: readonly ConflictedFile[]
  /** Whether there are more files than these. */
  readonly overflow: boolean
  /** Whether nobody can merge these commits: they have no common one, or git gives up. */
  readonly unmergeable: boolean
}

export interface ConflictSides {
  /** The commit that takes the other in. */
  readonly ours: ObjectId
  readonly theirs: ObjectId
}

/** Files, sections and bytes that one page can show, and one form can send. */
export const conflictLimits = { files: 100, sections: 500, fileBytes: 500_000, bytes: 2_000_000 }

const regularFiles = new Set([0o100644, 0o100755])
const binaryWithin = 8000

interface Texts {
  readonly ours: string
  readonly theirs: string
}

/** Whether a path is one that texts on both sides contend for. */
function hasTwoFiles({ path, stages, isPlain }: ConflictedPath): boolean {
  // A path that is no UTF-8 can't be named here.
  if (!isPlain || path.includes('\ufffd')) return false
  const areFiles = [...stages.values()].every(({ mode }) => regularFiles.has(mode))
  return areFiles && stages.has(2) && stages.has(3)
}

function deletedBy({ stages, isPlain }: ConflictedPath): ConflictKind | undefined {
  if (!isPlain || !stages.has(1) || stages.size !== 2) return undefined
  return stages.has(2) ? 'deleted_by_theirs' : 'deleted_by_ours'
}

/** The texts of both sides, or why there are none. */
async function textsOf(
  merge: ConflictingMerge,
  path: ConflictedPath,
): Promise<Texts | 'binary' | 'too_large'> {
  const found: string[] = []
  for (const stage of [2, 3]) {
    const id = path.stages.get(stage)?.id
    const bytes = id === undefined ? Buffer.alloc(0) : await merge.read(id)
    if (bytes.subarray(0, binaryWithin).includes(0)) return 'binary'
    if (bytes.length > conflictLimits.fileBytes) return 'too_large'
    if (bytes.includes(0) || !isUtf8(bytes)) return 'binary'
    found.push(bytes.toString('utf8'))
  }
  const [ours = '', theirs = ''] = found
  return { ours, theirs }
}

type Sides = ReadonlyMap<string, Texts | 'binary' | 'too_large'>

/**
 * Hands what conflicts on, together with the merge, whose marks no text of either side holds. Undefined where nobody can
 * merge these commits.
 */
export async function withConflicts<T>(
  repository: OpenRepository,
  sides: ConflictSides,
  use: (conflicts: Conflicts, merge: ConflictingMerge) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  // A typed error for what is no commit.
  await readTyped(repository, assertObjectId(sides.ours), 'commit')
  await readTyped(repository, assertObjectId(sides.theirs), 'commit')
  const attempt = (size: number) => {
    const run = async (merge: ConflictingMerge) => {
      const texts = await readSides(merge)
      const needed = markerSize([...texts.values()].flatMap((one) => Object.values(one)))
      if (needed !== undefined && needed !== size) return { again: needed }
      const conflicts = await describe(merge, texts, needed)
      return { done: await use(conflicts, merge) }
    }
    return mergeWithMarks(repository, sides, size, run, signal)
  }
  try {
    const first = await attempt(usualMarker)
    // The size comes from the texts of these two commits, and is the same the second time.
    const last = first.again === undefined ? first : await attempt(first.again)
    return last.done
  } catch (error) {
    if (isUnmergeable(error)) return undefined
    throw error
  }
}

/** What both sides have, of the files that two texts contend for. */
async function readSides(merge: ConflictingMerge): Promise<Sides> {
  const found = new Map<string, Texts | 'binary' | 'too_large'>()
  let left = conflictLimits.bytes
  for (const path of merge.paths.slice(0, conflictLimits.files)) {
    if (!hasTwoFiles(path)) continue
    const texts = left > 0 ? await textsOf(merge, path) : 'too_large'
    if (typeof texts !== 'string') left -= texts.ours.length + texts.theirs.length
    found.set(path.path, left < 0 ? 'too_large' : texts)
  }
  return found
}

async function describe(
  merge: ConflictingMerge,
  sides: Sides,
  markSize: number | undefined,
): Promise<Conflicts> {
  const files: ConflictedFile[] = []
  let sections = 0
  for (const one of merge.paths.slice(0, conflictLimits.files)) {
    const { path } = one
    const texts = sides.get(path)
    const found = texts === undefined ? undefined : await findMerged(merge, path)
    if (texts === undefined || !found) {
      files.push({ path, kind: deletedBy(one) ?? 'other' })
      continue
    }
    const merged = () => merge.read(found.id)
    const file = await fileOf(one, texts, markSize, merged)
    sections += file.parts?.filter((part) => part.kind === 'conflict').length ?? 0
    files.push(sections > conflictLimits.sections ? { path, kind: 'too_large' } : file)
  }
  return { files, overflow: files.length < merge.paths.length, unmergeable: false }
}

/** The file at a path of the merged tree; undefined where there is none, or a folder. */
async function findMerged(merge: ConflictingMerge, path: string): Promise<RawEntry | undefined> {
  let entry: RawEntry | undefined
  for (const name of path.split('/')) {
    if (entry && typeOfMode(entry.mode) !== 'tree') return undefined
    const id = entry?.id ?? merge.treeId
    const entries = parseTree(id, await merge.read(id))
    entry = entries.find((one) => one.name.toString('utf8') === name)
    if (!entry) return undefined
  }
  return entry && typeOfMode(entry.mode) !== 'tree' ? entry : undefined
}

/** A file that two texts contend for, apart at the marks of its merged text. */
async function fileOf(
  { path, stages }: ConflictedPath,
  texts: Texts | 'binary' | 'too_large',
  markSize: number | undefined,
  merged: () => Promise<Buffer>,
): Promise<ConflictedFile> {
  if (typeof texts === 'string') return { path, kind: texts }
  if (markSize === undefined) return { path, kind: 'too_large' }
  const parts = splitConflicts((await merged()).toString('utf8'), markSize, texts)
  // Without a mark it is the modes that conflict.
  if (parts === undefined) return { path, kind: 'other' }
  return { path, kind: stages.has(1) ? 'content' : 'both_added', parts }
}

/** What conflicts when one commit takes another in; nothing where they merge. */
export const readConflicts = engineCall({
  name: 'readConflicts',
  lane: 'heavy',
  async run({ repository, signal }, sides: ConflictSides): Promise<Conflicts> {
    const found = await withConflicts(repository, sides, async (conflicts) => conflicts, signal)
    return found ?? { files: [], overflow: false, unmergeable: true }
  },
})
