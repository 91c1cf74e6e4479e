import type { Ctx } from '../../../ctx.ts'
import { type ChangedPath, listChangedPaths } from '../../../git/diff/changed-paths.ts'
import { readPatchId } from '../../../git/diff/patch-id.ts'
import { readLog } from '../../../git/history/log.ts'
import { findMergeBases } from '../../../git/history/merge-base.ts'
import type { Commit, ObjectId } from '../../../git/types.ts'

/** What a merge request would bring, as of two heads. */
export interface Snapshot {
  readonly head: ObjectId
  readonly base: ObjectId
  /** Where the target stood. */
  readonly start: ObjectId
  readonly patchId: string | null
  readonly paths: readonly ChangedPath[]
  /** Newest first; at most `mostCommits`. */
  readonly commits: readonly Commit[]
}

const mostCommits = 1000

/** Looks at the change between a target's and a source's head; undefined for unrelated histories. */
export async function takeSnapshot(
  ctx: Ctx,
  projectId: number,
  head: ObjectId,
  start: ObjectId,
  signal?: AbortSignal,
): Promise<Snapshot | undefined> {
  const repo = ctx.git.open(projectId)
  const [base] = await findMergeBases(repo, [start, head], signal)
  if (base === undefined) return undefined
  const [patchId, paths, { commits }] = await Promise.all([
    readPatchId(repo, base, head, signal),
    listChangedPaths(repo, base, head, signal),
    readLog(repo, { revision: `${start}..${head}`, limit: mostCommits }, signal),
  ])
  return { head, base, start, patchId: patchId ?? null, paths, commits }
}
