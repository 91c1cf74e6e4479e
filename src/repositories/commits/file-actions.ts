import { invalidText } from '../../base/problem.ts'
import { GitError } from '../../git/error.ts'
import { readLog } from '../../git/history/log.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import type { CommitAction } from '../../git/write/write-commit.ts'

/** A step of a commit; `lastCommitId` is what the caller takes for the last commit of the file. */
export type FileAction = CommitAction & { readonly lastCommitId?: string | undefined }

/**
 * Refuses actions on files that changed since the caller saw them: the last commit of that very path on the start
 * counts, not the head of the branch (docs/contract/B-resolved §14, 10).
 */
export async function assertUnchanged(
  repo: Repo,
  startId: ObjectId,
  actions: readonly FileAction[],
  refusal: (path: string) => string,
): Promise<void> {
  for (const action of actions) {
    if (action.lastCommitId === undefined) continue
    const path = action.kind === 'move' ? action.previousPath : action.path
    const last = await lastCommitOf(repo, startId, path)
    // A file that is not there is refused for that.
    if (last !== undefined && last !== action.lastCommitId.toLowerCase()) {
      throw invalidText(refusal(action.path))
    }
  }
}

async function lastCommitOf(
  repo: Repo,
  startId: ObjectId,
  path: string,
): Promise<ObjectId | undefined> {
  try {
    const { commits } = await readLog(repo, { revision: startId, path, limit: 1 })
    return commits[0]?.id
  } catch (error) {
    if (error instanceof GitError && error.code === 'invalid') return undefined
    throw error
  }
}

/** The sentence of an action that can't be done (docs/contract/B-resolved §2.2); any other error as it is. */
export function asActionRefusal(error: unknown): unknown {
  if (!(error instanceof GitError) || typeof error.detail.reason !== 'string') return error
  const path = String(error.detail.path ?? '')
  const texts: Readonly<Record<string, string>> = {
    file_exists: 'A file with this name already exists',
    file_missing: "A file with this name doesn't exist",
    directory_exists: 'A directory with this name already exists',
    traversal: 'Path cannot include directory traversal',
    path_empty: 'You must provide a file path',
    path_invalid: `invalid path: '${path}'`,
    fsck: `invalid path: '${path}'`,
    message: 'The commit message is invalid',
    person: 'The author is invalid',
  }
  const text = texts[error.detail.reason]
  return text === undefined ? error : invalidText(text)
}
