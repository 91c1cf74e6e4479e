import type { Project } from '../../access/subjects.ts'
import { listMergedAmong } from '../../git/history/contains.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { listRefs } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId, Ref } from '../../git/types.ts'
import { defaultRef } from '../repository/access.ts'
import { ifFound } from '../repository/missing.ts'

/** Those of some commits of branches that are in the default branch, as `mergedBranches` counts. */
export async function mergedCommits(
  repo: Repo,
  project: Pick<Project, 'default_branch'>,
  ids: readonly ObjectId[],
  signal?: AbortSignal,
): Promise<ReadonlySet<ObjectId>> {
  const root = await ifFound(resolveRevision(repo, defaultRef(project), {}, signal))
  const others = ids.filter((id) => id !== root?.commitId)
  if (!root || others.length === 0) return new Set()
  return await listMergedAmong(repo, { into: root.commitId, ids: others }, signal)
}

/**
 * The branches whose work is in the default branch, as they stood then. One that stands at the very commit of the default branch
 * has brought nothing in, and does not count.
 */
export async function mergedBranches(
  repo: Repo,
  project: Pick<Project, 'default_branch'>,
  signal?: AbortSignal,
): Promise<readonly Ref[]> {
  const refs = await listRefs(repo, { prefix: 'refs/heads/' }, signal)
  const ids = refs.map((ref) => ref.id)
  const merged = await mergedCommits(repo, project, ids, signal)
  return refs.filter((ref) => merged.has(ref.id))
}
