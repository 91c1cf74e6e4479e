import { byteCache } from '../../base/byte-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { listChangedPaths } from '../../git/diff/changed-paths.ts'
import { findForeignLock } from '../../repositories/lfs/queries.ts'
import { type AmongLocks, listAmongLocks } from './queries.ts'

/** Of the open merge requests those that change a file which somebody but their author has locked (docs/contract/D §1.10). */
export async function changingLockedFiles(
  ctx: Ctx,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const found = new Set<number>()
  for (const request of await listAmongLocks(ctx.db, ids)) {
    const { id, target_project_id: projectId, author_id: authorId } = request
    const paths = await changedPaths(ctx, request)
    if (await findForeignLock(ctx.db, projectId, authorId ?? 0, paths)) found.add(id)
  }
  return found
}

/** What differs between two commits never changes, and is asked for with each look at the merge request. */
const known = byteCache<readonly string[]>(2_000_000, (paths) =>
  paths.reduce((size, path) => size + 50 + path.length, 0),
)

async function changedPaths(ctx: Ctx, request: AmongLocks): Promise<readonly string[]> {
  const { target_project_id: projectId, base_sha: base, head_sha: head } = request
  const key = `${projectId} ${base} ${head}`
  const cached = known.get(key)
  if (cached) return cached
  const changed = await listChangedPaths(ctx.git.open(projectId), base, head)
  const paths = [...new Set(changed.flatMap(({ oldPath, newPath }) => [oldPath, newPath]))]
  known.set(key, paths)
  return paths
}
