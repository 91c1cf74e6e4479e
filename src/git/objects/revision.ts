import { operation } from '../engine/operation.ts'
import type { Repo } from '../repo.ts'
import { type RefKind, type Resolved, resolveCommit } from './resolve.ts'

const resolveRevisionOperation = operation({
  name: 'resolveRevision',
  lane: 'light',
  inProcess: () => true,
  run: (
    { repository },
    input: { readonly revision: string; readonly kind?: RefKind | undefined },
  ) => resolveCommit(repository, input.revision, input.kind),
})

/**
 * The commit that a branch, tag, full or short id, `HEAD` or full ref name stands for. With `kind`
 * only branches or only tags are looked at. `not_found`, `ambiguous` or `invalid` when it fails.
 */
export function resolveRevision(
  repo: Repo,
  revision: string,
  options: { readonly kind?: RefKind | undefined } = {},
  signal?: AbortSignal,
): Promise<Resolved> {
  const input = { revision, kind: options.kind }
  return repo.engine.run(resolveRevisionOperation, repo.path, input, signal)
}
