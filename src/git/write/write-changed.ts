import type { OpenRepository } from '../engine/open-repository.ts'
import { readTyped } from '../objects/objects.ts'
import { formatIn } from '../objects/packs/object-format.ts'
import { parseCommit } from '../objects/parse-object.ts'
import type { Commit, ObjectId } from '../types.ts'
import { commitObject, type NewCommit } from './commit-object.ts'
import { importChecked, importCommit } from './import-commit.ts'
import { isReadByGit } from './paths.ts'
import { storeText } from './store-object.ts'
import type { TreeEditor } from './tree-editor.ts'

/** More changes than this go to disk as one pack: two files to sync instead of some for each. */
const mostLoose = 100

/**
 * Writes a commit whose tree is the one before as the editor has changed it: by libgit2, or by git where there are many
 * changes or the hash is SHA-256. A change of a file that git itself reads is checked as in a push. No ref moves.
 */
export async function writeChanged(
  repository: OpenRepository,
  { editor, before }: { readonly editor: TreeEditor; readonly before: ObjectId },
  given: Omit<NewCommit, 'treeId'>,
): Promise<Commit> {
  const changes = await editor.changes()
  // What is wrong with the people or the message is said before anything is stored.
  commitObject({ ...given, treeId: before })
  const input = { before, changes, commit: given }
  const isNative = changes.size <= mostLoose && formatIn(repository.path) === 'sha1'
  let id: ObjectId
  if ([...changes].some(([path, entry]) => entry && isReadByGit(path))) {
    id = await importChecked(repository, input)
  } else if (isNative) {
    id = await storeCommit(repository, { ...given, treeId: await editor.store() })
  } else id = await importCommit(repository, input)
  return parseCommit(id, await readTyped(repository, id, 'commit'))
}

/** Stores a commit of a tree that is there, and gives its id. */
export function storeCommit(repository: OpenRepository, commit: NewCommit): Promise<ObjectId> {
  return storeText(repository, 'commit', commitObject(commit).toString('utf8'))
}
