import { runGit } from '../command.ts'
import { GitError } from '../error.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { changesIn, type RawChange } from './parse-diff.ts'

/** A file that differs between two commits, and how many lines it gains and loses; null for a binary one. */
export interface ChangedFile extends RawChange {
  readonly additions: number | null
  readonly deletions: number | null
}

const TIMEOUT_MS = 20_000

/** The files that differ between two commits, renames found, with their numbers of lines; without their patches. */
export async function listChangedFiles(
  repo: Repo,
  from: ObjectId,
  to: ObjectId,
  signal?: AbortSignal,
): Promise<ChangedFile[]> {
  const ids = [assertObjectId(from), assertObjectId(to)]
  const args = ['diff-tree', '-r', '-M', '--raw', '--numstat', '-z', '--full-index', ...ids]
  const { stdout } = await runGit({ repo: repo.path, args, signal, timeout: TIMEOUT_MS })
  const fields = stdout.toString('utf8').split('\0')
  const end = fields.findIndex((field) => /^(?:\d+|-)\t(?:\d+|-)\t/.test(field))
  const counts = countsIn(fields.slice(end < 0 ? fields.length : end))
  return changesIn(fields.slice(0, end < 0 ? -1 : end)).map((change) => {
    const [additions, deletions] = counts.get(change.newPath) ?? [0, 0]
    return { ...change, additions, deletions }
  })
}

type Counts = readonly [number | null, number | null]

/** `3 TAB 1 TAB path`; of a rename the path is empty, and both follow. */
function countsIn(fields: readonly string[]): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Counts>()
  for (let at = 0; at < fields.length; at += 1) {
    const [added = '', deleted = '', ...rest] = (fields[at] ?? '').split('\t')
    if (rest.length === 0) continue
    const path = rest.join('\t') // a name may have tabs
    if (path === '') at += 2
    counts.set(path === '' ? (fields[at] ?? '') : path, [countOf(added), countOf(deleted)])
  }
  return counts
}

function countOf(text: string): number | null {
  return text === '-' ? null : Number(text)
}

/** Two series of commits, each from the base that it begins at. */
export interface Ranges {
  readonly before: { readonly base: ObjectId; readonly head: ObjectId }
  readonly after: { readonly base: ObjectId; readonly head: ObjectId }
}

const LONGEST_RANGE_DIFF = 1024 * 1024

/** How one series of commits became another, as git shows it; undefined when that takes too long, or is too much to read. */
export async function readRangeDiff(
  repo: Repo,
  { before, after }: Ranges,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const ranges = [before, after].map(
    ({ base, head }) => `${assertObjectId(base)}..${assertObjectId(head)}`,
  )
  const limits = { timeout: TIMEOUT_MS, limit: LONGEST_RANGE_DIFF }
  try {
    const args = ['range-diff', '--no-color', '--no-notes', ...ranges]
    return (await runGit({ repo: repo.path, args, signal, ...limits })).stdout.toString('utf8')
  } catch (error) {
    const isTooMuch = error instanceof GitError && !signal?.aborted && isLimit(error)
    if (isTooMuch) return undefined
    throw error
  }
}

function isLimit({ code }: GitError): boolean {
  return code === 'timeout' || code === 'too_large'
}
