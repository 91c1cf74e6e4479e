import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { isObjectId } from '../names.ts'
import { readObject } from '../objects/objects.ts'
import type { ObjectId } from '../types.ts'
import { withDraftFolder } from '../write/draft-folder.ts'
import { mergeTree } from './merge-tree.ts'

/** What one of the three sides has at a path: 1 the common one, 2 ours, 3 theirs. */
export interface Stage {
  readonly mode: number
  readonly id: ObjectId
}

export interface ConflictedPath {
  readonly path: string
  readonly stages: ReadonlyMap<number, Stage>
  /** Whether git says of it nothing but that its text, or a deletion, conflicts. */
  readonly isPlain: boolean
}

/** A merge as git leaves it where it conflicts. */
export interface ConflictingMerge {
  readonly isClean: boolean
  readonly treeId: ObjectId
  readonly paths: readonly ConflictedPath[]
  /** The bytes of a blob or tree that the repository or the merge has. */
  read(id: ObjectId): Promise<Buffer>
  /** Makes what git has written for the merge part of the repository. */
  accept(): Promise<void>
}

/** What git says of a path that one text, or one side of a deletion, resolves. */
const plainMessages = new Set([
  'Auto-merging',
  'CONFLICT (contents)',
  'CONFLICT (binary)',
  'CONFLICT (modify/delete)',
])

/**
 * Merges two commits by `git merge-tree` with marks of this size around what conflicts, and has the outcome read before
 * all that git wrote for it is thrown away.
 */
export async function mergeWithMarks<T>(
  repository: OpenRepository,
  sides: { readonly ours: ObjectId; readonly theirs: ObjectId },
  markSize: number,
  use: (merge: ConflictingMerge) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return await withDraftFolder(repository.path, async (folder) => {
    const attributes = join(folder.path, 'attributes')
    writeFileSync(attributes, `* conflict-marker-size=${markSize}\n`)
    const { code, stdout } = await mergeTree(folder, sides, {
      args: ['--messages'],
      config: { 'core.attributesFile': attributes },
      signal,
    })
    const read = async (id: ObjectId) =>
      readLoose(folder.path, id) ?? (await readObject(repository, id)).data
    return await use({
      isClean: code === 0,
      ...parseMerge(stdout),
      read,
      accept: () => folder.accept(),
    })
  })
}

function readLoose(folder: string, id: ObjectId): Buffer | undefined {
  const file = join(folder, id.slice(0, 2), id.slice(2))
  if (!existsSync(file)) return undefined
  const whole = inflateSync(readFileSync(file))
  return whole.subarray(whole.indexOf(0) + 1)
}

/** `<tree> NUL (<mode> <id> <stage> TAB <path> NUL)* NUL (<count> NUL <path> NUL … <kind> NUL <words> NUL)*`. */
function parseMerge(answer: Buffer): Pick<ConflictingMerge, 'treeId' | 'paths'> {
  const fields = answer.toString('utf8').split('\0')
  const [treeId = ''] = fields
  if (!isObjectId(treeId)) throw new GitError('failed', 'git merge-tree named no tree')
  const stages = new Map<string, Map<number, Stage>>()
  let at = 1
  for (; fields[at]; at += 1) {
    const [, mode = '', id = '', stage, path = ''] =
      /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(fields[at] ?? '') ?? []
    const known = stages.get(path) ?? new Map<number, Stage>()
    stages.set(path, known.set(Number(stage), { mode: Number.parseInt(mode, 8), id }))
  }
  const other = new Set<string>()
  for (at += 1; fields[at]; ) {
    const count = Number(fields[at])
    const paths = fields.slice(at + 1, at + 1 + count)
    const kind = fields[at + 1 + count] ?? ''
    if (!plainMessages.has(kind)) for (const path of paths) other.add(path)
    at += count + 3
  }
  // What only the words name conflicts, too: a folder that the sides have moved to two places.
  for (const path of other) if (!stages.has(path)) stages.set(path, new Map())
  const paths = [...stages].map(([path, found]) => {
    return { path, stages: found, isPlain: !other.has(path) }
  })
  return { treeId, paths: paths.sort((a, b) => (a.path < b.path ? -1 : 1)) }
}
