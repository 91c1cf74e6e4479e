import { runGit } from '../command.ts'
import { assertObjectId } from '../names.ts'
import { leadsBack, quarantineEnvironment } from '../objects/quarantine.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { isAncestorOf } from './merge-base.ts'

/**
 * Whether a commit is reachable from another. `quarantine` is the folder where a push keeps its
 * objects until it is accepted; only the git program can look into it without having it for good.
 */
export async function isAncestor(
  repo: Repo,
  ancestor: ObjectId,
  descendant: ObjectId,
  quarantine?: string,
): Promise<boolean> {
  if (quarantine === undefined) return await isAncestorOf(repo, ancestor, descendant)
  if (leadsBack(quarantine, ancestor, descendant)) return true
  const { code } = await runGit({
    repo: repo.path,
    args: ['merge-base', '--is-ancestor', assertObjectId(ancestor), assertObjectId(descendant)],
    env: quarantineEnvironment(repo, quarantine),
    accept: [0, 1],
  })
  return code === 0
}
