import { join } from 'node:path'
import { runGit } from '../command.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import { leadsBack } from '../transfer/quarantine.ts'
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

/** What git needs to see the objects of a quarantine, if there is one, beside those of the repository. */
export function quarantineEnvironment(
  repo: Repo,
  quarantine: string | undefined,
): Record<string, string> {
  if (quarantine === undefined) return {}
  return {
    GIT_OBJECT_DIRECTORY: quarantine,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repo.path, 'objects'),
    GIT_QUARANTINE_PATH: quarantine,
  }
}
