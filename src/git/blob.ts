import { operation } from './engine/operation.ts'
import { readTyped } from './objects.ts'
import type { Repo } from './repo.ts'
import type { Blob, ObjectId } from './types.ts'

/** Reads a whole blob in an engine process. */
export const readBlobOperation = operation({
  name: 'readBlob',
  lane: 'light',
  async run({ repository }, input: { readonly id: ObjectId }): Promise<Blob> {
    const content = await readTyped(repository, input.id, 'blob')
    return { id: input.id, size: content.length, content }
  },
})

/** A blob with its bytes; `not_found` when the id is unknown or not a blob's. */
export function readBlob(repo: Repo, id: ObjectId, signal?: AbortSignal): Promise<Blob> {
  return repo.engine.run(readBlobOperation, repo.path, { id }, signal)
}
