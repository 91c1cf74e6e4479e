import type { Readable } from 'node:stream'
import { GitError } from '../error.ts'
import { begun, gitStream } from '../git-stream.ts'
import { assertObjectId } from '../names.ts'
import type { ObjectId } from '../types.ts'

/** What an archive is to hold. */
export interface Selection {
  readonly commitId: ObjectId
  /** The one folder at the top. */
  readonly name: string
  /** Only this file or folder; empty for everything. */
  readonly path: string
  /** Pathspecs relative to the root: what to leave out. */
  readonly excludePaths: readonly string[]
}

/**
 * By itself git keeps 96 MB of unpacked bases and maps packs as a whole. With these it needs no longer and a third of
 * the memory: the files of a commit seldom stand on the same bases.
 */
const sparing = {
  'core.deltaBaseCacheLimit': '4m',
  'core.packedGitWindowSize': '1m',
  'core.packedGitLimit': '4m',
}

/**
 * What `git archive` writes, once it has begun: what it refuses is an ordinary error. Everything that attributes ask
 * for is its work.
 */
export function gitArchive(
  repo: string,
  selection: Selection,
  format: 'tar' | 'zip',
  signal?: AbortSignal,
  politeness = 0,
): Promise<Readable> {
  const { commitId, name, path, excludePaths } = selection
  const excluded = excludePaths.map((pattern) => `:(top,exclude)${pattern}`)
  // An empty tree has nothing that `:(top)` could match, which git takes for a mistake.
  const all = excluded.length > 0 ? [':(top)'] : []
  const stream = gitStream({
    repo,
    args: [
      ...['archive', `--format=${format}`, `--prefix=${name}/`, assertObjectId(commitId), '--'],
      ...(path === '' ? all : [`:(top,literal)${path}`]),
      ...excluded,
    ],
    config: sparing,
    signal,
    timeout: 0,
    politeness,
  })
  return begun(stream)
}

/** Whether git refused because one of the exclusions leaves nothing at all, which it takes for a mistake. */
export function leavesNothing(error: unknown): boolean {
  if (!(error instanceof GitError)) return false
  return /pathspec ':\(top[,)].*did not match/s.test(String(error.detail.stderr ?? ''))
}
