import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { hashBlob, openLinkedBlob, sha256 } from '../objects/blob.ts'
import { entryAt } from '../objects/tree.ts'
import type { WalkedEntry } from '../objects/tree-walk.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { lastCommitOf, noteLastCommit } from './last-commits.ts'

export interface FileOptions {
  readonly ref: string
  readonly path: string
  /** Whether the bytes are wanted, and up to how many: larger files come by `streamBlob`. */
  readonly contentUpTo?: number | undefined
}

export interface FileAt {
  readonly path: string
  readonly name: string
  readonly mode: string
  readonly size: number
  readonly blobId: ObjectId
  /** SHA-256 of the bytes. */
  readonly sha256: string
  /** The commit that `ref` stands for. */
  readonly commitId: ObjectId
  /** The last commit that changed this path. */
  readonly lastCommitId: ObjectId
  /** The bytes, when they were asked for and are not too many. */
  readonly content?: Buffer | undefined
}

/** What is hashed at once; larger files are hashed from a pipe. */
const wholeLimit = 1024 * 1024

async function findFile(
  repository: OpenRepository,
  at: { readonly ref: string; readonly path: string },
): Promise<{ readonly commitId: ObjectId; readonly path: string; readonly entry: WalkedEntry }> {
  const { commitId, path, entry } = await entryAt(repository, at)
  if (entry?.type !== 'blob') throw new GitError('not_found', 'no file at this path', { path })
  return { commitId, path, entry }
}

const readFileOperation = operation({
  name: 'readFile',
  lane: 'light',
  inProcess: () => true,
  async run(
    { repository, signal },
    options: FileOptions,
  ): Promise<Omit<FileAt, 'sha256'> & { readonly sha256: string | undefined }> {
    const { commitId, path, entry } = await findFile(repository, options)
    const most = Math.max(options.contentUpTo ?? 0, wholeLimit)
    const { size, content } = await openLinkedBlob(repository, entry.id, most)
    const wanted = options.contentUpTo !== undefined && size <= options.contentUpTo
    return {
      path,
      name: entry.name,
      mode: entry.mode,
      size,
      blobId: entry.id,
      sha256: content && sha256(content),
      commitId,
      lastCommitId: (await lastCommitOf(repository, commitId, path, signal)) ?? commitId,
      ...(wanted ? { content } : {}),
    }
  },
})

/**
 * A file at a revision with all that the files API shows of it (docs/contract/B-resolved §3). `not_found` for an
 * unknown revision; with `detail.path` when it has no file there.
 */
export async function readFileAt(
  repo: Repo,
  options: FileOptions,
  signal?: AbortSignal,
): Promise<FileAt> {
  const file = await repo.engine.run(readFileOperation, repo.path, options, signal)
  noteLastCommit(repo, file.commitId, file.path, file.lastCommitId)
  return { ...file, sha256: file.sha256 ?? (await hashBlob(repo, file.blobId, signal)) }
}

interface ContentOptions {
  readonly ref: string
  readonly path: string
  readonly limit: number
}

/**
 * The bytes of a file at a revision alone, for which no history is read; undefined when there are more than `limit`.
 * Fails as `readFileAt` does.
 */
export const readContentAt = engineCall({
  name: 'readContent',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, options: ContentOptions): Promise<Buffer | undefined> {
    const { entry } = await findFile(repository, options)
    return (await openLinkedBlob(repository, entry.id, options.limit)).content
  },
})
