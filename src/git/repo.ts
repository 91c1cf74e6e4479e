import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { ownedName } from '../base/process-mark.ts'
import type { Engine } from './engine/operation.ts'
import { GitError } from './error.ts'
import { isBranchName } from './names.ts'
import type { RefMoves } from './ref-moves.ts'
import { syncFolder, writeFileSynced } from './repo-layout.ts'

/** A repository, opaque to other rooms: engine functions take it as their first argument. */
export interface Repo {
  /** What no other repository of the server is called. */
  readonly key: string
  /** Its folder; for `git/` and `transport/` only. */
  readonly path: string
  readonly engine: Engine
  /** Whose share of programs and streams is taken for it; left out for the server itself. */
  readonly caller?: string | undefined
  /** Passed by whoever moves its refs. */
  readonly moves: RefMoves
}

/** Points HEAD at a branch, which need not exist yet. */
export async function setHead(repo: Repo, branch: string): Promise<void> {
  if (!isBranchName(branch)) throw new GitError('invalid', `not a branch name: ${branch}`)
  const content = `ref: refs/heads/${branch}\n`
  // Asked for after every push to the default branch.
  if ((await readFile(join(repo.path, 'HEAD'), 'utf8').catch(() => '')) === content) return
  repo.moves.note(repo.key)
  const draft = join(repo.path, `${ownedName('HEAD.')}.new`)
  await writeFileSynced(draft, content)
  await rename(draft, join(repo.path, 'HEAD'))
  await syncFolder(repo.path)
}
