import { gitLines } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { readRange } from '../history/log-source.ts'
import { mergeBasesOf } from '../history/merge-base.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { alternateEnvironment, type Diff, diffTrees } from './diff.ts'
import type { DiffLimits } from './limits.ts'

export interface CompareInput {
  readonly from: ObjectId
  readonly to: ObjectId
  /** Compares the two trees themselves instead of `to` with the merge base. */
  readonly straight?: boolean | undefined
  readonly limits?: Partial<DiffLimits> | undefined
  /** The repository of `from`, when it is another one of the same fork network. */
  readonly fromRepo?: Repo | undefined
}

type EngineInput = Omit<CompareInput, 'fromRepo'> & { readonly alternate?: string | undefined }

export interface Comparison {
  /** The merge base, or `from` itself when `straight`; missing for unrelated histories. */
  readonly baseId?: ObjectId | undefined
  /** Reachable from `to` and not from `from`, oldest first (docs/contract/B-resolved §1.4). */
  readonly commitIds: readonly ObjectId[]
  readonly diff: Diff
  readonly sameRef: boolean
}

/** One id a line, for two repositories together: the history of another one is not loaded here. */
function readIds(
  repository: OpenRepository,
  input: EngineInput,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ObjectId[]> {
  return gitLines({
    repo: repository.path,
    args,
    env: alternateEnvironment(input.alternate),
    // `merge-base` ends with 1 where there is none.
    accept: [0, 1],
    signal,
  })
}

async function readBase(
  repository: OpenRepository,
  input: EngineInput,
  signal: AbortSignal,
): Promise<ObjectId | undefined> {
  const { from, to, alternate } = input
  if (alternate === undefined) return (await mergeBasesOf(repository, from, to))[0]
  const [base] = await readIds(repository, input, ['merge-base', from, to], signal)
  return base
}

/** Newest commits that are listed. */
const mostCommits = 10_000

/** Reachable from `to` and not from `from`, the newest first. */
async function readCommitIds(
  repository: OpenRepository,
  input: EngineInput,
  signal: AbortSignal,
): Promise<ObjectId[]> {
  const { from, to } = input
  if (input.alternate !== undefined) {
    const args = ['rev-list', `--max-count=${mostCommits}`, to, `^${from}`]
    return await readIds(repository, input, args, signal)
  }
  return await readRange(repository, { include: [to], exclude: [from] }, mostCommits)
}

async function compare(
  repository: OpenRepository,
  input: EngineInput,
  signal: AbortSignal,
): Promise<Comparison> {
  const from = assertObjectId(input.from)
  const to = assertObjectId(input.to)
  if (from === to) {
    return { baseId: from, commitIds: [], diff: { files: [], overflow: false }, sameRef: true }
  }
  const { limits, alternate } = input
  const diffFromBase = async (): Promise<Pick<Comparison, 'baseId' | 'diff'>> => {
    const baseId = input.straight ? from : await readBase(repository, input, signal)
    if (baseId === undefined) return { baseId, diff: { files: [], overflow: false } }
    return {
      baseId,
      diff: await diffTrees(repository, { from: baseId, to, limits, alternate }, signal),
    }
  }
  // The list of commits is read while the files are compared, which takes longer.
  const [commits, found] = await Promise.all([
    readCommitIds(repository, input, signal),
    diffFromBase(),
  ])
  return { ...found, commitIds: commits.reverse(), sameRef: false }
}

const compareOperation = operation({
  name: 'compare',
  lane: 'heavy',
  run: ({ repository, signal }, input: EngineInput) => compare(repository, input, signal),
})

/** What `to` has that `from` has not: commits and files (docs/contract/B-resolved §1.4). */
export function compareCommits(
  repo: Repo,
  input: CompareInput,
  signal?: AbortSignal,
): Promise<Comparison> {
  const { fromRepo, ...rest } = input
  const alternate = fromRepo && fromRepo.path !== repo.path ? fromRepo.path : undefined
  return repo.engine.run(compareOperation, repo.path, { ...rest, alternate }, signal)
}
