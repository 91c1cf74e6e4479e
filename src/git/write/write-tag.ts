import { engineCall } from '../engine/engine-call.ts'
import { GitError } from '../error.ts'
import { isTagName } from '../names.ts'
import { readObject } from '../objects/objects.ts'
import type { ObjectId } from '../types.ts'
import { tagObject } from './commit-object.ts'
import { ObjectWriter } from './object-writer.ts'
import type { Signer } from './signer.ts'

export interface WriteTagInput {
  readonly name: string
  readonly targetId: ObjectId
  readonly tagger: Signer
  readonly message: string
}

/** Writes an annotated tag object and gives its id; the ref is moved by the caller. */
export const writeTag = engineCall({
  name: 'writeTag',
  lane: 'light',
  writes: true,
  async run({ repository }, input: WriteTagInput): Promise<ObjectId> {
    if (!isTagName(input.name)) throw new GitError('invalid', 'not a tag name', { reason: 'name' })
    const target = await readObject(repository, input.targetId)
    const writer = new ObjectWriter(repository.path)
    const id = await writer.add('tag', tagObject({ ...input, targetType: target.type }))
    await writer.flush()
    return id
  },
})
