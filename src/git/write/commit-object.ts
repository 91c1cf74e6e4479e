import { GitError } from '../error.ts'
import { assertObjectId } from '../names.ts'
import type { ObjectId } from '../types.ts'
import { type Signer, signatureLine } from './signer.ts'

export interface NewCommit {
  readonly treeId: ObjectId
  readonly parentIds: readonly ObjectId[]
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
}

function assertMessage(message: string): string {
  // git stores it, but its own tools stop reading there.
  if (message.includes('\0')) {
    throw new GitError('invalid', 'the message has a NUL', { reason: 'message' })
  }
  return message
}

/** The bytes of a commit object. The message is kept as it is. */
export function commitObject(commit: NewCommit): Buffer {
  const lines = [
    `tree ${assertObjectId(commit.treeId)}`,
    ...commit.parentIds.map((id) => `parent ${assertObjectId(id)}`),
    `author ${signatureLine(commit.author)}`,
    `committer ${signatureLine(commit.committer)}`,
    '',
    assertMessage(commit.message),
  ]
  return Buffer.from(lines.join('\n'))
}

export interface NewTag {
  readonly name: string
  readonly targetId: ObjectId
  readonly targetType: 'commit' | 'tree' | 'blob' | 'tag'
  readonly tagger: Signer
  readonly message: string
}

/** The bytes of an annotated tag object. */
export function tagObject(tag: NewTag): Buffer {
  const lines = [
    `object ${assertObjectId(tag.targetId)}`,
    `type ${tag.targetType}`,
    `tag ${tag.name}`,
    `tagger ${signatureLine(tag.tagger)}`,
    '',
    assertMessage(tag.message),
  ]
  return Buffer.from(lines.join('\n'))
}
