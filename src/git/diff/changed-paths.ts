import { runGit } from '../command.ts'
import { quarantineEnvironment } from '../history/ancestry.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** A file that differs between two commits; both paths are the same unless it was renamed. */
export interface ChangedPath {
  readonly oldPath: string
  readonly newPath: string
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
}

const statuses: Readonly<Record<string, ChangedPath['status']>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
}

/** The files that differ between two commits, renames found, without their patches. */
export async function listChangedPaths(
  repo: Repo,
  from: ObjectId,
  to: ObjectId,
  signal?: AbortSignal,
  quarantine?: string,
): Promise<ChangedPath[]> {
  const ids = [assertObjectId(from), assertObjectId(to)]
  const { stdout } = await runGit({
    repo: repo.path,
    args: ['diff-tree', '-r', '-M', '-z', '--name-status', ...ids],
    env: quarantineEnvironment(repo, quarantine),
    signal,
  })
  const fields = stdout.toString('utf8').split('\0')
  const found: ChangedPath[] = []
  for (let at = 0; at + 1 < fields.length; ) {
    const letter = fields[at]?.charAt(0) ?? ''
    const oldPath = fields[at + 1] ?? ''
    const isRename = letter === 'R'
    const newPath = isRename ? (fields[at + 2] ?? '') : oldPath
    found.push({ oldPath, newPath, status: statuses[letter] ?? 'modified' })
    at += isRename ? 3 : 2
  }
  return found
}
