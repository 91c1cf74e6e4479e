import { countChange } from '../diff/commit-stats.ts'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError, type GitErrorCode } from '../error.ts'
import { assertObjectId, clip } from '../names.ts'
import { treeOfCommit } from '../objects/commit.ts'
import { formatIn } from '../objects/packs/object-format.ts'
import { type Commit, type CommitStats, emptyTreeIn, type ObjectId } from '../types.ts'
import type { Entry } from './folder.ts'
import { isReadByGit, type PathProblem, pathProblem } from './paths.ts'
import type { Signer } from './signer.ts'
import { TreeEditor } from './tree-editor.ts'
import { writeChanged } from './write-changed.ts'

/** One step of a commit; content is decoded already. */
export type CommitAction =
  | {
      readonly kind: 'create' | 'update'
      readonly path: string
      readonly content: Uint8Array
      /** An update without it keeps the mode. */
      readonly executable?: boolean | undefined
    }
  | {
      readonly kind: 'move'
      readonly previousPath: string
      readonly path: string
      /** Without it the file keeps its content; an empty buffer empties it. */
      readonly content?: Uint8Array | undefined
    }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'chmod'; readonly path: string; readonly executable: boolean }
  /** Points an existing submodule at another commit. */
  | { readonly kind: 'submodule'; readonly path: string; readonly commitId: ObjectId }

/** Why an action can't be done; in the error's `detail.reason`, with `detail.action` and `detail.path`. */
export type ActionProblem =
  | PathProblem
  | 'file_exists'
  | 'file_missing'
  | 'directory_exists'
  | 'fsck'

export interface WriteCommitInput {
  /** The first one's tree is changed; none makes a first commit. */
  readonly parentIds: readonly ObjectId[]
  /** What is changed instead, where the repository has it already. */
  readonly treeId?: ObjectId | undefined
  readonly actions: readonly CommitAction[]
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
}

export interface WrittenCommit {
  readonly id: ObjectId
  readonly treeId: ObjectId
  /** Whether the tree differs from the first parent's. */
  readonly changed: boolean
  /** As it reads. */
  readonly commit: Commit
  /** Its lines, where they could be counted on the way. */
  readonly stats?: CommitStats | undefined
}

const problemCodes: Readonly<Record<ActionProblem, GitErrorCode>> = {
  path_empty: 'invalid',
  traversal: 'invalid',
  path_invalid: 'invalid',
  file_exists: 'exists',
  file_missing: 'not_found',
  directory_exists: 'exists',
  fsck: 'invalid',
}

const regular = 0o100644
const executable = 0o100755
const symlink = 0o120000
const submodule = 0o160000

/** Applies the actions of one commit to one tree. */
class ActionRunner {
  readonly #editor: TreeEditor
  #index = 0

  constructor(editor: TreeEditor) {
    this.#editor = editor
  }

  async run(actions: readonly CommitAction[]): Promise<void> {
    for (const [index, action] of actions.entries()) {
      this.#index = index
      if (action.kind === 'move') this.#check(action.previousPath)
      this.#check(action.path)
      await this.#apply(action)
    }
  }

  async #apply(action: CommitAction): Promise<void> {
    if (action.kind === 'move') {
      await this.#move(action)
    } else if (action.kind === 'delete') {
      await this.#existing(action.path, true)
      await this.#editor.remove(action.path)
    } else if (action.kind === 'update') {
      const { mode } = await this.#existing(action.path)
      await this.#putContent(action.path, updatedMode(mode, action.executable), action.content)
    } else if (action.kind === 'create') {
      await this.#assertFree(action.path)
      await this.#putContent(action.path, modeOf(action.executable ?? false), action.content)
    } else if (action.kind === 'submodule') {
      const { mode } = await this.#existing(action.path, true)
      if (mode !== submodule) throw this.#fail('file_missing', action.path)
      await this.#editor.put(action.path, { mode, id: assertObjectId(action.commitId) })
    } else {
      const entry = await this.#existing(action.path)
      const mode = updatedMode(entry.mode, action.executable)
      await this.#editor.put(action.path, { ...entry, mode })
    }
  }

  async #move(action: Extract<CommitAction, { kind: 'move' }>): Promise<void> {
    const entry = await this.#existing(action.previousPath, action.content === undefined)
    await this.#assertFree(action.path)
    // `.gitmodules` and its like as a link would be read outside the repository.
    if (entry.mode === symlink && isReadByGit(action.path))
      throw this.#fail('path_invalid', action.path)
    await this.#editor.remove(action.previousPath)
    if (action.content) await this.#putContent(action.path, entry.mode, action.content)
    else await this.#editor.put(action.path, entry)
  }

  #check(path: string): void {
    const problem = pathProblem(path)
    if (problem) throw this.#fail(problem, path)
  }

  #fail(reason: ActionProblem, path: string): GitError {
    return new GitError(problemCodes[reason], `${reason}: ${clip(path)}`, {
      action: this.#index,
      reason,
      path,
    })
  }

  async #assertFree(path: string): Promise<void> {
    const found = await this.#editor.find(path)
    if (found.kind === 'entry') throw this.#fail('file_exists', path)
    if (found.kind === 'folder') throw this.#fail('directory_exists', path)
    if (found.above !== undefined) throw this.#fail('file_exists', found.above)
  }

  async #existing(path: string, orSubmodule = false): Promise<Entry> {
    const found = await this.#editor.find(path)
    if (found.kind !== 'entry') throw this.#fail('file_missing', path)
    if (found.entry.mode === submodule && !orSubmodule) throw this.#fail('file_missing', path)
    return found.entry
  }

  async #putContent(path: string, mode: number, content: Uint8Array): Promise<void> {
    await this.#editor.put(path, { mode, content: asBuffer(content) })
  }
}

function asBuffer(content: Uint8Array): Buffer {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength)
}

function modeOf(isExecutable: boolean): number {
  return isExecutable ? executable : regular
}

/** A symbolic link stays one: its target is what gets replaced (CVE-2025-8110). */
function updatedMode(mode: number, isExecutable: boolean | undefined): number {
  return isExecutable === undefined || mode === symlink ? mode : modeOf(isExecutable)
}

/** The lines of larger commits are counted when somebody asks. */
const mostCounted = 20

async function write(repository: OpenRepository, input: WriteCommitInput): Promise<WrittenCommit> {
  const [parent] = input.parentIds
  const before =
    input.treeId ??
    (parent === undefined
      ? emptyTreeIn(formatIn(repository.path))
      : await treeOfCommit(repository, parent))
  const editor = new TreeEditor(repository, before)
  await new ActionRunner(editor).run(input.actions)
  const commit = await writeChanged(repository, { editor, before }, input)
  const { id, treeId } = commit
  const few = input.actions.length <= mostCounted
  const stats = few
    ? (linesCreated(input) ?? (await countChange(repository, before, treeId)))
    : undefined
  return { id, treeId, changed: treeId !== before, commit, stats }
}

/** git takes a file for a binary one by a NUL in its beginning. */
const binaryWithin = 8000

/**
 * Lines of a small commit that makes files and nothing else; undefined for any other: there the trees are compared, which
 * has limits of its own.
 */
function linesCreated(input: WriteCommitInput): CommitStats | undefined {
  if (!isSmall(input)) return undefined
  let additions = 0
  for (const action of input.actions) {
    if (action.kind !== 'create') return undefined
    additions += lineCount(asBuffer(action.content))
  }
  return { additions, deletions: 0, files: input.actions.length }
}

function lineCount(content: Buffer): number {
  if (content.subarray(0, binaryWithin).includes(0)) return 0
  let lines = 0
  for (let at = 0; at < content.length; lines += 1) {
    const end = content.indexOf(newline, at)
    at = end < 0 ? content.length : end + 1
  }
  return lines
}

const newline = 0x0a

/** Small commits are as quick as a read; large ones must not hold reads up. */
function isSmall({ actions }: WriteCommitInput): boolean {
  if (actions.length > 20) return false
  const sizes = actions.map((action) => ('content' in action ? (action.content?.length ?? 0) : 0))
  return sizes.reduce((sum, size) => sum + size, 0) < 1_000_000
}

/**
 * Writes a commit made of file actions, in their order and all or nothing, and gives its id; no ref
 * moves (docs/contract/B-resolved §2.2). Errors of an action carry `action`, `reason` and `path` in their detail.
 */
export const writeCommit = engineCall({
  name: 'writeCommit',
  lane: (input: WriteCommitInput) => (isSmall(input) ? 'light' : 'heavy'),
  writes: true,
  seconds: 120,
  run: ({ repository }, input: WriteCommitInput) => write(repository, input),
})
