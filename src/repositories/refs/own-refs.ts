import { GitError } from '../../git/error.ts'
import { findRef } from '../../git/refs/refs.ts'
import { updateRefs } from '../../git/refs/update-refs.ts'
import type { Repo } from '../../git/repo.ts'
import { noObject, type ObjectId } from '../../git/types.ts'

const ownNames = /^refs\/(?:merge-requests|keep-around|pipelines)\//

/**
 * Points a ref that the server owns (docs/contract/D §3.5) at an object. Users can't push to these, nothing follows from their
 * moves, and they can be set again from the database: so no rules, no intent, no effects.
 */
export async function placeOwnRef(repo: Repo, name: string, id: ObjectId): Promise<void> {
  if (!ownNames.test(name)) throw new GitError('invalid', `not a ref of the server's own: ${name}`)
  await repo.moves.run(repo.key, () => place(repo, name, id))
}

async function place(repo: Repo, name: string, id: ObjectId): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const oldId = (await findRef(repo, name))?.id ?? noObject
    if (oldId === id) return
    try {
      return await updateRefs(repo, [{ name, oldId, newId: id }])
    } catch (error) {
      // Another task set it meanwhile.
      const moved = error instanceof GitError && (error.code === 'stale' || error.code === 'exists')
      if (!moved || attempt >= 3) throw error
    }
  }
}

/** Removes a ref that the server owns; no error when there is none. */
export async function removeOwnRef(repo: Repo, name: string): Promise<void> {
  if (!ownNames.test(name)) throw new GitError('invalid', `not a ref of the server's own: ${name}`)
  await repo.moves.run(repo.key, async () => {
    const oldId = (await findRef(repo, name))?.id
    if (oldId !== undefined) await updateRefs(repo, [{ name, oldId, newId: noObject }])
  })
}
