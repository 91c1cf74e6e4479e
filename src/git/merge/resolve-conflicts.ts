import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { ObjectId } from '../types.ts'
import { pathProblem } from '../write/paths.ts'
import type { Signer } from '../write/signer.ts'
import { TreeEditor } from '../write/tree-editor.ts'
import { writeChanged } from '../write/write-changed.ts'
import { type ConflictPart, linesOf } from './conflict-sections.ts'
import type { ConflictingMerge } from './conflicting-merge.ts'
import {
  type ConflictedFile,
  type ConflictSides,
  type Conflicts,
  withConflicts,
} from './conflicts.ts'

/** What becomes of one file: a whole text, or a side for each of its sections. */
export interface Resolution {
  readonly path: string
  readonly text?: string | undefined
  /** By the ids of the sections. */
  readonly sections?: Readonly<Record<string, 'ours' | 'theirs'>> | undefined
}

export interface ResolveInput extends ConflictSides {
  readonly files: readonly Resolution[]
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
}

/** Why a file is not resolved. */
export type Unresolved = 'missing' | 'sections' | 'marks' | 'not_here' | 'no_conflict' | 'path'

export interface UnresolvedFile {
  readonly path: string
  readonly reason: Unresolved
}

export type Resolved =
  | { readonly outcome: 'clean'; readonly commitId: ObjectId }
  | { readonly outcome: 'unresolved'; readonly files: readonly UnresolvedFile[] }
  /** There is nothing to resolve, more than can be resolved here, or nobody can merge it. */
  | { readonly outcome: 'none' | 'too_many' | 'unmergeable' }

/** The whole text of a file, or why it is not resolved. */
function resolve(
  { parts, path }: ConflictedFile,
  given: Resolution | undefined,
): { readonly text: string } | Unresolved {
  if (!parts) return 'not_here'
  if (!given) return 'missing'
  if (pathProblem(path)) return 'path'
  if (given.text !== undefined) {
    return hasNewMarks(given.text, parts) ? 'marks' : { text: given.text }
  }
  return chosenText(parts, given.sections ?? {})
}

/** The text with the chosen side in each section. */
function chosenText(
  parts: readonly ConflictPart[],
  sections: NonNullable<Resolution['sections']>,
): { readonly text: string } | Unresolved {
  let text = ''
  for (const part of parts) {
    const side = part.kind === 'same' ? undefined : sections[part.id]
    if (part.kind === 'same') text += part.text
    else if (side === undefined) return 'sections'
    else text += part[side]
  }
  return { text }
}

/** Whether a text still has marks of a conflict that neither side had. */
function hasNewMarks(text: string, parts: readonly ConflictPart[]): boolean {
  const isMark = (line: string) => /^(?:<{7}|>{7}) /.test(line)
  const marks = linesOf(text)
    .filter(isMark)
    .map((line) => line.trimEnd())
  if (marks.length === 0) return false
  const sides = parts.map((part) => (part.kind === 'same' ? part.text : part.ours + part.theirs))
  const known = new Set(linesOf(sides.join('')).map((line) => line.trimEnd()))
  return marks.some((line) => !known.has(line))
}

/** The texts of all files that conflict, or which of them are not resolved. */
function resolveAll(
  files: readonly ConflictedFile[],
  resolutions: readonly Resolution[],
): {
  readonly texts: ReadonlyMap<string, string>
  readonly unresolved: readonly UnresolvedFile[]
} {
  const given = new Map(resolutions.map((file) => [file.path, file]))
  const texts = new Map<string, string>()
  const unresolved: UnresolvedFile[] = []
  for (const file of files) {
    const found = resolve(file, given.get(file.path))
    if (typeof found === 'string') unresolved.push({ path: file.path, reason: found })
    else texts.set(file.path, found.text)
    given.delete(file.path)
  }
  for (const path of given.keys()) unresolved.push({ path, reason: 'no_conflict' })
  return { texts, unresolved }
}

/** Writes the merge commit with these texts. */
async function writeResolved(
  repository: OpenRepository,
  merge: ConflictingMerge,
  texts: ReadonlyMap<string, string>,
  { ours, theirs, author, committer, message }: ResolveInput,
): Promise<ObjectId> {
  await merge.accept()
  const { treeId: before } = merge
  const editor = new TreeEditor(repository, before)
  for (const [path, text] of texts) {
    const at = await editor.find(path)
    if (at.kind !== 'entry') throw new Error('a file that conflicts is in the merged tree')
    await editor.put(path, { mode: at.entry.mode, content: Buffer.from(text) })
  }
  const commit = { parentIds: [ours, theirs], author, committer, message }
  return (await writeChanged(repository, { editor, before }, commit)).id
}

/**
 * Writes the merge of `theirs` into `ours` with a resolution for every file that conflicts; all else is as git merges it. No
 * ref moves.
 */
export const resolveConflicts = engineCall({
  name: 'resolveConflicts',
  lane: 'heavy',
  writes: true,
  async run({ repository, signal }, input: ResolveInput): Promise<Resolved> {
    const use = async (
      { files, overflow }: Conflicts,
      merge: ConflictingMerge,
    ): Promise<Resolved> => {
      if (merge.isClean) return { outcome: 'none' }
      if (overflow) return { outcome: 'too_many' }
      const { texts, unresolved } = resolveAll(files, input.files)
      if (unresolved.length > 0) return { outcome: 'unresolved', files: unresolved }
      return { outcome: 'clean', commitId: await writeResolved(repository, merge, texts, input) }
    }
    return (await withConflicts(repository, input, use, signal)) ?? { outcome: 'unmergeable' }
  },
})
