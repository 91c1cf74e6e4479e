import { engineCall } from '../engine/engine-call.ts'
import { GitError } from '../error.ts'
import { isTagName } from '../names.ts'
import { readObject } from '../objects/objects.ts'
import type { ObjectId } from '../types.ts'
import { tagObject } from './commit-object.ts'
import type { Signer } from './signer.ts'
import { storeText } from './store-object.ts'

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
    const tag = tagObject({ ...input, targetType: target.type })
    return storeText(repository, 'tag', tag.toString('utf8'))
  },
})
