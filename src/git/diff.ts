import { startGit } from './command.ts'
import { loadCommits } from './commit.ts'
import { DiffBudget, type DiffLimits, defaultDiffLimits, type Verdict } from './diff/limits.ts'
import { type ParsedFile, parseDiff } from './diff/parse-diff.ts'
import type { OpenRepository } from './engine/open-repository.ts'
import { operation } from './engine/operation.ts'
import { assertObjectId } from './names.ts'
import type { Repo } from './repo.ts'
import { emptyTree, type ObjectId } from './types.ts'

/** One changed file (spec B §1.5). */
export interface FileDiff {
  readonly oldPath: string
  readonly newPath: string
  /** Octal digits as git writes them, `0` for the side that is missing. */
  readonly oldMode: string
  readonly newMode: string
  readonly oldId: ObjectId
  readonly newId: ObjectId
  readonly newFile: boolean
  readonly renamedFile: boolean
  readonly deletedFile: boolean
  /** From the first `@@`; or the notice of a binary file; empty when nothing is shown. */
  readonly diff: string
  readonly binary: boolean
  /** Left out, but to be had with `expanded`. */
  readonly collapsed: boolean
  /** Left out, and not to be had. */
  readonly tooLarge: boolean
  readonly additions: number
  readonly deletions: number
}

export interface Diff {
  readonly files: readonly FileDiff[]
  /** A limit of the whole was passed, and the list ends early: `compare_timeout` (spec B §1.5). */
  readonly overflow: boolean
}

export interface DiffInput {
  /** Commits or trees; `emptyTree` stands for nothing. */
  readonly from: ObjectId
  readonly to: ObjectId
  readonly limits?: Partial<DiffLimits> | undefined
  /** Another repository's folder, whose objects are looked at too: `from` of a fork. */
  readonly alternate?: string | undefined
}

/** Larger files count as binary: comparing their lines could take minutes. */
const largestText = '50m'
/** What was found by then is given out, as when a limit is passed. */
const seconds = 10

function octal(mode: string): string {
  return mode.replace(/^0+(?=\d)/, '')
}

function present(file: ParsedFile, verdict: Verdict): FileDiff {
  const { change, patch } = file
  return {
    oldPath: change.oldPath,
    newPath: change.newPath,
    oldMode: octal(change.oldMode),
    newMode: octal(change.newMode),
    oldId: change.oldId,
    newId: change.newId,
    newFile: change.status === 'added',
    renamedFile: change.status === 'renamed',
    deletedFile: change.status === 'deleted',
    diff: verdict === 'whole' ? patch.text : '',
    binary: patch.binary,
    collapsed: verdict === 'collapsed',
    tooLarge: verdict === 'too_large',
    additions: patch.additions,
    deletions: patch.deletions,
  }
}

/** The environment that lets git see another repository's objects. */
export function alternateEnvironment(alternate: string | undefined): Record<string, string> {
  return alternate === undefined
    ? {}
    : { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(`${alternate}/objects`) }
}

/** The diff of two commits or trees; for use inside engine processes. */
export async function diffTrees(
  repository: OpenRepository,
  input: DiffInput,
  signal: AbortSignal,
): Promise<Diff> {
  const [from, to] = [assertObjectId(input.from), assertObjectId(input.to)]
  const limits = { ...defaultDiffLimits, ...input.limits }
  const running = startGit({
    repo: repository.path,
    args: [
      ...['diff-tree', '-r', '-M', '--raw', '-z', '-p', '--full-index', '--no-ext-diff'],
      ...['--no-textconv', '--no-color', '--submodule=short', from, to],
    ],
    config: { 'core.bigFileThreshold': largestText },
    env: alternateEnvironment(input.alternate),
    signal,
  })
  running.stdin.end()
  const deadline = performance.now() + seconds * 1000
  const timer = setTimeout(() => running.stdout.destroy(), seconds * 1000)
  let stopped = false
  const files: { readonly file: ParsedFile; readonly verdict: Verdict }[] = []
  const budget = new DiffBudget(limits)
  try {
    for await (const file of parseDiff(running.stdout, limits.fileBytes)) {
      const verdict = budget.judge(file.patch)
      stopped = verdict === 'overflow'
      if (stopped) break
      files.push({ file, verdict })
    }
  } catch (error) {
    if (performance.now() < deadline || signal.aborted) throw error
    stopped = true
  } finally {
    clearTimeout(timer)
    if (stopped) running.kill()
  }
  if (!stopped) await running.done
  // A list of one file is always shown.
  const single = files.length === 1 && !stopped
  return {
    overflow: stopped,
    files: files.map(({ file, verdict }) =>
      present(file, single && verdict === 'collapsed' ? 'whole' : verdict),
    ),
  }
}

export const readDiffOperation = operation({
  name: 'readDiff',
  lane: 'heavy',
  run: ({ repository, signal }, input: DiffInput) => diffTrees(repository, input, signal),
})

/** What changed between two commits or trees, with renames, within the limits of spec B §1.5. */
export function readDiff(repo: Repo, input: DiffInput, signal?: AbortSignal): Promise<Diff> {
  return repo.engine.run(readDiffOperation, repo.path, input, signal)
}

export interface CommitDiffInput {
  readonly id: ObjectId
  readonly limits?: Partial<DiffLimits> | undefined
}

export const readCommitDiffOperation = operation({
  name: 'readCommitDiff',
  lane: 'heavy',
  async run({ repository, signal }, { id, limits }: CommitDiffInput): Promise<Diff> {
    const [commit] = await loadCommits(repository, [id])
    const from = commit?.parentIds[0] ?? emptyTree
    return diffTrees(repository, { from, to: id, limits: { expanded: true, ...limits } }, signal)
  },
})

/** What a commit changed against its first parent; a first commit adds everything. */
export function readCommitDiff(
  repo: Repo,
  input: CommitDiffInput,
  signal?: AbortSignal,
): Promise<Diff> {
  return repo.engine.run(readCommitDiffOperation, repo.path, input, signal)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: git quotes names that have them
const quotedInNames = /["\\\x00-\x1f\x7f]/

/** A name as it stands after `---`: in quotes where git puts it in quotes. */
function patchName(name: string): string {
  return quotedInNames.test(name) ? JSON.stringify(name) : name
}

/** A file's patch with the `---` and `+++` lines that `unidiff` asks for (spec B §1.5). */
export function withFileNames(file: FileDiff): string {
  if (file.diff === '' || file.binary) return file.diff
  const before = file.newFile ? '/dev/null' : patchName(`a/${file.oldPath}`)
  const after = file.deletedFile ? '/dev/null' : patchName(`b/${file.newPath}`)
  return `--- ${before}\n+++ ${after}\n${file.diff}`
}
