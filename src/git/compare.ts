import { runGit } from './command.ts'
import type { DiffLimits } from './diff/limits.ts'
import { alternateEnvironment, type Diff, type DiffInput, diffTrees } from './diff.ts'
import type { OpenRepository } from './engine/open-repository.ts'
import { operation } from './engine/operation.ts'
import { assertObjectId } from './names.ts'
import type { Repo } from './repo.ts'
import type { ObjectId } from './types.ts'

export interface CompareInput {
  readonly from: ObjectId
  readonly to: ObjectId
  /** Compares the two trees themselves instead of `to` with the merge base. */
  readonly straight?: boolean | undefined
  readonly limits?: Partial<DiffLimits> | undefined
  /** Newest commits that are listed; 10,000 unless told. */
  readonly commitLimit?: number | undefined
  /** The repository of `from`, when it is another one of the same fork network. */
  readonly fromRepo?: Repo | undefined
}

type EngineInput = Omit<CompareInput, 'fromRepo'> & { readonly alternate?: string | undefined }

export interface Comparison {
  /** The merge base, or `from` itself when `straight`; missing for unrelated histories. */
  readonly baseId?: ObjectId | undefined
  /** Reachable from `to` and not from `from`, oldest first (spec B §1.4). */
  readonly commitIds: readonly ObjectId[]
  readonly diff: Diff
  readonly sameRef: boolean
}

/** One id a line. */
async function readIds(
  repository: OpenRepository,
  input: EngineInput,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ObjectId[]> {
  const { stdout } = await runGit({
    repo: repository.path,
    args,
    env: alternateEnvironment(input.alternate),
    // `merge-base` ends with 1 where there is none.
    accept: [0, 1],
    signal,
  })
  return stdout.toString('latin1').split('\n').filter(Boolean)
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
  const most = `--max-count=${input.commitLimit ?? 10_000}`
  const [bases, commits] = await Promise.all([
    input.straight ? [from] : readIds(repository, input, ['merge-base', from, to], signal),
    readIds(repository, input, ['rev-list', most, to, `^${from}`], signal),
  ])
  const [baseId] = bases
  const { limits, alternate } = input
  const trees: DiffInput | undefined =
    baseId === undefined ? undefined : { from: baseId, to, limits, alternate }
  return {
    baseId,
    commitIds: commits.reverse(),
    diff: trees ? await diffTrees(repository, trees, signal) : { files: [], overflow: false },
    sameRef: false,
  }
}

export const compareOperation = operation({
  name: 'compare',
  lane: 'heavy',
  run: ({ repository, signal }, input: EngineInput) => compare(repository, input, signal),
})

/** What `to` has that `from` has not: commits and files (spec B §1.4). */
export function compareCommits(
  repo: Repo,
  input: CompareInput,
  signal?: AbortSignal,
): Promise<Comparison> {
  const { fromRepo, ...rest } = input
  const alternate = fromRepo && fromRepo.path !== repo.path ? fromRepo.path : undefined
  return repo.engine.run(compareOperation, repo.path, { ...rest, alternate }, signal)
}
