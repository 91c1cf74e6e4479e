import { type GitCommand, runGit } from '../command.ts'
import { operation } from '../engine/operation.ts'
import { assertObjectId } from '../names.ts'
import { quarantineEnvironment } from '../objects/quarantine.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { nativeChanges } from './native-diff.ts'

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
  C: 'added',
}

const listChangedPathsOperation = operation({
  name: 'listChangedPaths',
  lane: 'heavy',
  async run(
    { repository, signal },
    { from, to }: { readonly from: ObjectId; readonly to: ObjectId },
  ): Promise<ChangedPath[]> {
    const ids = [assertObjectId(from), assertObjectId(to)] as const
    const native = await nativeChanges(repository, ...ids)
    if (!native) return await askGit({ repo: repository.path, signal }, ...ids)
    return native.map(({ oldPath, newPath, status }) => ({ oldPath, newPath, status }))
  },
})

/** The files that differ between two commits, renames found, without their patches. */
export async function listChangedPaths(
  repo: Repo,
  from: ObjectId,
  to: ObjectId,
  signal?: AbortSignal,
  quarantine?: string,
): Promise<ChangedPath[]> {
  const ids = [assertObjectId(from), assertObjectId(to)] as const
  if (quarantine === undefined) {
    return await repo.engine.run(listChangedPathsOperation, repo.path, { from, to }, signal)
  }
  const env = quarantineEnvironment(repo, quarantine)
  return await askGit({ repo: repo.path, signal, env }, ...ids)
}

async function askGit(
  where: Pick<GitCommand, 'repo' | 'signal' | 'env'>,
  from: ObjectId,
  to: ObjectId,
): Promise<ChangedPath[]> {
  const args = ['diff-tree', '-r', '-M', '-z', '--name-status', from, to]
  const { stdout } = await runGit({ ...where, args })
  const fields = stdout.toString('utf8').split('\0')
  const found: ChangedPath[] = []
  for (let at = 0; at + 1 < fields.length; ) {
    const letter = fields[at]?.charAt(0) ?? ''
    const oldPath = fields[at + 1] ?? ''
    const pair = letter === 'R' || letter === 'C'
    const newPath = pair ? (fields[at + 2] ?? '') : oldPath
    found.push({ oldPath, newPath, status: statuses[letter] ?? 'modified' })
    at += pair ? 3 : 2
  }
  return found
}
