import { runGit } from './command.ts'
import { GitError, type GitErrorCode } from './error.ts'
import { assertObjectId, assertRefName } from './names.ts'
import type { Repo } from './repo.ts'
import type { ObjectId, RefUpdate } from './types.ts'

/**
 * Moves refs all together or not at all, each only from the value that is expected
 * (`git update-ref --stdin`). `stale` when one has moved meanwhile, `locked` when another holds it.
 */
export async function commitRefUpdates(repo: Repo, updates: readonly RefUpdate[]): Promise<void> {
  const lines = updates.map(({ name, oldId, newId }) => {
    assertRefName(name)
    assertObjectId(oldId)
    assertObjectId(newId)
    return isNothing(newId) ? `delete ${name}\0${oldId}\0` : `update ${name}\0${newId}\0${oldId}\0`
  })
  try {
    await runGit({ repo: repo.path, args: ['update-ref', '--stdin', '-z'], stdin: lines.join('') })
  } catch (error) {
    throw error instanceof GitError ? explained(error) : error
  }
}

/** What refs hold now; those that do not exist are left out. */
export async function readRefValues(
  repo: Repo,
  names: readonly string[],
): Promise<Map<string, ObjectId>> {
  const values = new Map<string, ObjectId>()
  const wanted = new Set(names)
  for (let at = 0; at < names.length; at += 1000) {
    const { stdout } = await runGit({
      repo: repo.path,
      args: ['for-each-ref', '--format=%(objectname) %(refname)', ...names.slice(at, at + 1000)],
    })
    for (const line of stdout.toString('utf8').split('\n')) {
      const space = line.indexOf(' ')
      const name = line.slice(space + 1)
      // A pattern also matches what lies below it as a folder.
      if (wanted.has(name)) values.set(name, line.slice(0, space))
    }
  }
  return values
}

function isNothing(id: ObjectId): boolean {
  return /^0+$/.test(id)
}

const meanings: readonly (readonly [RegExp, GitErrorCode, string])[] = [
  [/\.lock': File exists/, 'locked', 'the ref is locked by another update'],
  [
    /cannot create '|cannot lock ref .* exists; /,
    'conflict',
    'a ref stands where a folder is needed',
  ],
  [
    /but expected|reference already exists|unable to resolve/,
    'stale',
    'the ref has moved meanwhile',
  ],
  [/nonexistent object|non-commit object/, 'invalid', 'the ref cannot point there'],
]

function explained(error: GitError): GitError {
  const said = String(error.detail.stderr ?? '')
  const [, code, text] = meanings.find(([pattern]) => pattern.test(said)) ?? []
  return code && text ? new GitError(code, text, error.detail) : error
}
