import { startGit } from '../command.ts'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { assertObjectId } from '../names.ts'
import { loadCommit } from '../objects/commit.ts'
import { emptyTreeIn, formatOfId, type ObjectId } from '../types.ts'
import { DiffBudget, type DiffLimits, defaultDiffLimits, type Verdict } from './limits.ts'
import { nativeDiff } from './native-diff.ts'
import { type ParsedFile, parseDiff } from './parse-diff.ts'

/** One changed file (docs/contract/B-resolved §1.5). */
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
  /** A limit of the whole was passed, and the list ends early: `compare_timeout` (docs/contract/B-resolved §1.5). */
  readonly overflow: boolean
}

export interface DiffInput {
  /** Commits or trees; `emptyTree` stands for nothing. */
  readonly from: ObjectId
  readonly to: ObjectId
  readonly limits?: Partial<DiffLimits> | undefined
  /** Another repository's folder, whose objects are looked at too: `from` of a fork. */
  readonly alternate?: string | undefined
  /** Of these files alone; of a renamed one both names. */
  readonly paths?: readonly string[] | undefined
  /** Lines that differ in white space alone count as the same; for one file at a time. */
  readonly ignoreSpace?: boolean | undefined
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

/** Reads a diff within its limits, and keeps of each file what the caller makes of it as it comes. */
async function collect<Kept>(
  repository: OpenRepository,
  input: DiffInput,
  signal: AbortSignal,
  keep: (file: ParsedFile, verdict: Verdict) => Kept,
): Promise<{ readonly overflow: boolean; readonly kept: readonly Kept[] }> {
  const [from, to] = [assertObjectId(input.from), assertObjectId(input.to)]
  const limits = { ...defaultDiffLimits, ...input.limits }
  const budget = new DiffBudget(limits)
  const kept: Kept[] = []
  /** False when a limit of the whole is passed. */
  const take = (file: ParsedFile): boolean => {
    const verdict = budget.judge(file.patch)
    if (verdict === 'overflow') return false
    kept.push(keep(file, verdict))
    return true
  }
  // The objects of another repository are seen by git alone.
  const isPlain = input.alternate === undefined && !input.paths && !input.ignoreSpace
  const native = isPlain ? await nativeDiff(repository, from, to, limits.fileBytes) : undefined
  if (native) return { overflow: !native.every(take), kept }
  const whole = await readGitDiff(
    repository,
    { ...input, from, to },
    limits.fileBytes,
    signal,
    take,
  )
  return { overflow: !whole, kept }
}

/** Hands each file that git shows on, until it is one too many. */
async function readGitDiff(
  repository: OpenRepository,
  { from, to, alternate, paths, ignoreSpace }: DiffInput,
  fileBytes: number,
  signal: AbortSignal,
  take: (file: ParsedFile) => boolean,
): Promise<boolean> {
  const running = startGit({
    repo: repository.path,
    args: [
      ...['diff-tree', '-r', '-M', '--raw', '-z', '-p', '--full-index', '--no-ext-diff'],
      ...['--no-textconv', '--no-color', '--submodule=short'],
      ...(ignoreSpace ? ['--ignore-all-space', from, to] : [from, to]),
      ...(paths ? ['--', ...paths] : []),
    ],
    config: { 'core.bigFileThreshold': largestText },
    env: { ...alternateEnvironment(alternate), GIT_LITERAL_PATHSPECS: '1' },
    signal,
  })
  running.stdin.end()
  const deadline = performance.now() + seconds * 1000
  const timer = setTimeout(() => running.stdout.destroy(), seconds * 1000)
  let whole = true
  try {
    for await (const file of parseDiff(running.stdout, fileBytes)) {
      whole = take(file)
      if (!whole) break
    }
  } catch (error) {
    if (performance.now() < deadline || signal.aborted) throw error
    whole = false
  } finally {
    clearTimeout(timer)
    if (!whole) running.kill()
  }
  if (whole) await running.done
  return whole
}

/** A list of one file is always shown. */
function shownAlone(verdict: Verdict, count: number, overflow: boolean): Verdict {
  return count === 1 && !overflow && verdict === 'collapsed' ? 'whole' : verdict
}

/** The diff of two commits or trees; for use inside engine processes. */
export async function diffTrees(
  repository: OpenRepository,
  input: DiffInput,
  signal: AbortSignal,
): Promise<Diff> {
  const { overflow, kept } = await collect(repository, input, signal, (file, verdict) => ({
    file,
    verdict,
  }))
  const files = kept.map(({ file, verdict }) =>
    present(file, shownAlone(verdict, kept.length, overflow)),
  )
  return { overflow, files }
}

/** A diff whose patches are JSON texts already, one after the other. */
export interface PrintedDiff {
  readonly overflow: boolean
  readonly files: readonly Omit<FileDiff, 'diff'>[]
  /** The patch of each file as a JSON string, quotes included. */
  readonly patches: Buffer
  /** Where each of them ends. */
  readonly ends: readonly number[]
}

function printed(text: string): Buffer {
  return Buffer.from(JSON.stringify(text))
}

async function printDiff(
  repository: OpenRepository,
  input: DiffInput,
  signal: AbortSignal,
): Promise<PrintedDiff> {
  // Printed while git goes on with the next files.
  const { overflow, kept } = await collect(repository, input, signal, (file, verdict) => ({
    file,
    verdict,
    patch: printed(verdict === 'whole' ? file.patch.text : ''),
  }))
  const files: Omit<FileDiff, 'diff'>[] = []
  const patches: Buffer[] = []
  const ends: number[] = []
  let end = 0
  for (const { file, verdict, patch } of kept) {
    const final = shownAlone(verdict, kept.length, overflow)
    const { diff, ...facts } = present(file, final)
    const bytes = final === verdict ? patch : printed(diff)
    files.push(facts)
    patches.push(bytes)
    end += bytes.length
    ends.push(end)
  }
  return { overflow, files, patches: Buffer.concat(patches), ends }
}

/** As `readDiff`, for answers that show every file: large texts cross processes several times slower as data. */
export const readPrintedDiff = engineCall({
  name: 'readPrintedDiff',
  lane: 'heavy',
  run: ({ repository, signal }, input: DiffInput) => printDiff(repository, input, signal),
})

/** What changed between two commits or trees, with renames, within the limits of docs/contract/B-resolved §1.5. */
export const readDiff = engineCall({
  name: 'readDiff',
  lane: 'heavy',
  run: ({ repository, signal }, input: DiffInput) => diffTrees(repository, input, signal),
})

/** What a commit changed against its first parent; a first commit adds everything. */
export const readCommitDiff = engineCall({
  name: 'readCommitDiff',
  lane: 'heavy',
  async run({ repository, signal }, { id }: { readonly id: ObjectId }): Promise<Diff> {
    const { parentIds } = await loadCommit(repository, id)
    const from = parentIds[0] ?? emptyTreeIn(formatOfId(id))
    return diffTrees(repository, { from, to: id, limits: { expanded: true } }, signal)
  },
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: git quotes names that have them
const quotedInNames = /["\\\x00-\x1f\x7f]/

/** A name as it stands after `---`: in quotes where git puts it in quotes. */
function patchName(name: string): string {
  return quotedInNames.test(name) ? JSON.stringify(name) : name
}

/** A file's patch with the `---` and `+++` lines that `unidiff` asks for (docs/contract/B-resolved §1.5). */
export function withFileNames(file: FileDiff): string {
  if (file.diff === '' || file.binary) return file.diff
  const before = file.newFile ? '/dev/null' : patchName(`a/${file.oldPath}`)
  const after = file.deletedFile ? '/dev/null' : patchName(`b/${file.newPath}`)
  return `--- ${before}\n+++ ${after}\n${file.diff}`
}
