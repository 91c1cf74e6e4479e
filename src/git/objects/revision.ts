import { engineCall } from '../engine/engine-call.ts'
import type { Repo } from '../repo.ts'
import { type RefKind, type Resolved, resolveCommit } from './resolve.ts'

interface Options {
  readonly kind?: RefKind | undefined
}

const resolve = engineCall({
  name: 'resolveRevision',
  lane: 'light',
  inProcess: () => true,
  run: ({ repository }, input: Options & { readonly revision: string }) =>
    resolveCommit(repository, input.revision, input.kind),
})

/**
 * The commit that a branch, tag, full or short id, `HEAD` or full ref name stands for. With `kind`
 * only branches or only tags are looked at. `not_found`, `ambiguous` or `invalid` when it fails.
 */
export function resolveRevision(
  repo: Repo,
  revision: string,
  options: Options = {},
  signal?: AbortSignal,
): Promise<Resolved> {
  return resolve(repo, { revision, ...options }, signal)
}
