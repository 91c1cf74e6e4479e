import { byteCache } from '../../base/byte-cache.ts'
import { budget, mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { commitSource } from './log-source.ts'

/** Commit and path to the last commit of that path; both never change. */
const lastOfPath = byteCache<ObjectId>(budget(4 * mebibyte, mebibyte), () => 80)

/** The last commit that changed a path, seen from a commit; undefined when none ever did. */
export async function lastCommitOf(
  repository: OpenRepository,
  commitId: ObjectId,
  path: string,
  signal: AbortSignal,
): Promise<ObjectId | undefined> {
  const key = `${repository.path} ${commitId} ${path}`
  const known = lastOfPath.get(key)
  if (known !== undefined) return known
  repository.assertEngine('a walk')
  const { history, source } = await commitSource(repository, {
    range: { include: [commitId], exclude: [] },
    path,
    firstParent: false,
    topological: false,
    search: '',
    since: undefined,
  })
  const [position] = await source(1, signal)
  if (position === undefined) return undefined
  const id = history.idOf(position)
  lastOfPath.set(key, id)
  return id
}

/** Remembers in this process what another one found. */
export function noteLastCommit(repo: Repo, commitId: ObjectId, path: string, last: ObjectId): void {
  lastOfPath.set(`${repo.path} ${commitId} ${path}`, last)
}
