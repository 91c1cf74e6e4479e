import { engineCall } from '../engine/engine-call.ts'
import { NeedsEngine } from '../engine/needs-engine.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import type { Commit, ObjectId } from '../types.ts'
import { readSmall, readTyped } from './objects.ts'
import { knownCommit, parseAndKeep } from './parsed-commits.ts'
import { resolveCommit } from './resolve.ts'

/** Reads commits by id, all at once; for use inside engine processes. */
export function loadCommits(
  repository: OpenRepository,
  ids: readonly ObjectId[],
): Promise<Commit[]> {
  return Promise.all(ids.map((id) => loadCommit(repository, id)))
}

/** A commit without waiting; throws in the main process when it is not one of the small objects. */
export function commitNow(repository: OpenRepository, id: ObjectId): Commit {
  const known = knownCommit(repository, id)
  if (known) return known
  const object = readSmall(repository, id)
  if (object?.type !== 'commit') throw new NeedsEngine('a commit')
  return parseAndKeep(repository, id, object.data)
}

/** Reads one; `not_found` when the id is no commit's. */
export async function loadCommit(repository: OpenRepository, id: ObjectId): Promise<Commit> {
  const known = knownCommit(repository, id)
  if (known) return known
  return parseAndKeep(repository, id, await readTyped(repository, id, 'commit'))
}

/** The root tree of a commit. */
export async function treeOfCommit(repository: OpenRepository, id: ObjectId): Promise<ObjectId> {
  return (await loadCommit(repository, id)).treeId
}

/** Commits that the main process reads by itself: a page of them. */
const mostInProcess = 101

/** The commit that a branch, tag, id or `HEAD` names; `not_found` when there is none. */
export const readCommit = engineCall({
  name: 'readCommit',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, revision: string): Promise<Commit> {
    const { commitId } = await resolveCommit(repository, revision)
    return loadCommit(repository, commitId)
  },
})

/** The commits with these full ids, in their order; those that the repository lacks are left out. */
export const readCommits = engineCall({
  name: 'readCommits',
  lane: 'light',
  inProcess: (ids: readonly ObjectId[]) => ids.length <= mostInProcess,
  async run({ repository }, ids: readonly ObjectId[]): Promise<Commit[]> {
    const found = await Promise.allSettled(ids.map((id) => loadCommit(repository, id)))
    return found.flatMap((each) => {
      if (each.status === 'fulfilled') return each.value
      // The caller asks for what it remembers; what is gone is left out.
      if (each.reason instanceof GitError && each.reason.code === 'not_found') return []
      throw each.reason
    })
  },
})
