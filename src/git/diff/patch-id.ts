import { runGit, startGit } from '../command.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/**
 * The stable patch id of the change between two commits: the same for the same change on another base. Undefined when
 * nothing changed.
 */
export async function readPatchId(
  repo: Repo,
  from: ObjectId,
  to: ObjectId,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const diff = startGit({
    repo: repo.path,
    args: [
      ...['diff-tree', '-r', '-p', '--full-index', '--no-ext-diff', '--no-textconv'],
      ...['--no-color', assertObjectId(from), assertObjectId(to)],
    ],
    signal,
  })
  diff.stdin.end()
  const [{ stdout }] = await Promise.all([
    runGit({ args: ['patch-id', '--stable'], stdin: diff.stdout, signal }),
    diff.done,
  ])
  return /^[0-9a-f]{40,64}/.exec(stdout.toString('latin1'))?.[0]
}
