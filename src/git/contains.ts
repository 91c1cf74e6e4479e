import type { OpenRepository } from './engine/open-repository.ts'
import { operation } from './engine/operation.ts'
import { historyWith } from './history/load.ts'
import { containing } from './history/paint.ts'
import { peelAll } from './peel.ts'
import { refsOf } from './ref-table.ts'
import type { Repo } from './repo.ts'
import { resolveCommit } from './resolve.ts'
import type { Ref } from './types.ts'

export interface ContainsOptions {
  readonly revision: string
  /** Full prefixes of the refs to look at: `refs/heads/`, `refs/tags/`. */
  readonly prefixes: readonly string[]
}

export const listRefsContainingOperation = operation({
  name: 'listRefsContaining',
  lane: 'light',
  async run({ repository }, options: ContainsOptions): Promise<Ref[]> {
    const { commitId } = await resolveCommit(repository, options.revision)
    const refs = options.prefixes.flatMap((prefix) => refsOf(repository).list(prefix))
    return containingRefs(repository, commitId, refs)
  },
})

/** Those of the refs whose history contains a commit. */
export async function containingRefs(
  repository: OpenRepository,
  commitId: string,
  refs: readonly Ref[],
): Promise<Ref[]> {
  const commits = await peelAll(
    repository,
    refs.map((ref) => ref.id),
  )
  const tips = [...new Set(commits.filter((id) => id !== undefined))]
  const history = await historyWith(repository, [commitId, ...tips])
  const positions = tips.map((id) => history.at(id))
  const found = new Set(containing(history, history.at(commitId), positions))
  return refs.filter((_, i) => {
    const id = commits[i]
    return id !== undefined && found.has(history.at(id))
  })
}

/**
 * The branches and tags that contain a commit, in the order of the prefixes and by name
 * (spec B-resolved §2.3 `refs`).
 */
export function listRefsContaining(
  repo: Repo,
  options: ContainsOptions,
  signal?: AbortSignal,
): Promise<Ref[]> {
  return repo.engine.run(listRefsContainingOperation, repo.path, options, signal)
}

export interface MergedOptions {
  /** The revision that the refs are merged into. */
  readonly into: string
  readonly prefix: string
}

export const listMergedRefsOperation = operation({
  name: 'listMergedRefs',
  lane: 'light',
  async run({ repository }, options: MergedOptions): Promise<Ref[]> {
    const { commitId } = await resolveCommit(repository, options.into)
    const refs = refsOf(repository).list(options.prefix)
    const commits = await peelAll(
      repository,
      refs.map((ref) => ref.id),
    )
    const tips = [...new Set(commits.filter((id) => id !== undefined))]
    const history = await historyWith(repository, [commitId, ...tips])
    const reached = reachable(history, history.at(commitId))
    return refs.filter((_, i) => {
      const id = commits[i]
      return id !== undefined && reached[history.at(id)] === 1
    })
  },
})

function reachable(history: Awaited<ReturnType<typeof historyWith>>, from: number): Uint8Array {
  const marks = new Uint8Array(history.size)
  const stack = [from]
  marks[from] = 1
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (let n = 0, p = history.parent(at, 0); p >= 0; p = history.parent(at, n)) {
      if (!marks[p]) {
        marks[p] = 1
        stack.push(p)
      }
      n += 1
    }
  }
  return marks
}

/** The refs below a prefix whose commit is contained in a revision (`for-each-ref --merged`). */
export function listMergedRefs(
  repo: Repo,
  options: MergedOptions,
  signal?: AbortSignal,
): Promise<Ref[]> {
  return repo.engine.run(listMergedRefsOperation, repo.path, options, signal)
}
