import { notFound } from '../../base/problem.ts'
import { type FileAt, readFileAt } from '../../git/history/file.ts'
import { isTreePath } from '../../git/names.ts'
import type { Repo } from '../../git/repo.ts'
import { defaultRef, type RepositorySubject } from '../repository/access.ts'
import { isMissing } from '../repository/missing.ts'

/** `HEAD` and nothing stand for the default branch (docs/contract/D §1.7). */
export function fileRef(project: RepositorySubject['project'], ref: string | undefined): string {
  return ref === undefined || ref === '' || ref === 'HEAD' ? defaultRef(project) : ref
}

/** A file at a ref: 404 `404 Commit Not Found` for the ref, `404 File Not Found` for the file. */
export async function getFile(
  repo: Repo,
  ref: string,
  path: string,
  contentUpTo: number | undefined,
  signal: AbortSignal,
): Promise<FileAt> {
  try {
    return await readFileAt(repo, { ref, path, contentUpTo }, signal)
  } catch (error) {
    if (!isMissing(error)) throw error
    const missing = error.detail.path !== undefined || !isTreePath(path)
    throw notFound(missing ? 'File' : 'Commit')
  }
}
