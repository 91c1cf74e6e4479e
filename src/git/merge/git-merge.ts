import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflateSync, inflate, inflateSync } from 'node:zlib'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { formatOfId, type ObjectId, type ObjectType } from '../types.ts'
import { commitObject } from '../write/commit-object.ts'
import { hashSmallObject, type ObjectWriter } from '../write/object-writer.ts'
import { type MergeAnswer, mergeInProgram } from './merge-program.ts'

const decompress = promisify(inflate)
const smallUpTo = 32 * 1024

/** Three trees that are joined: what the changes of both sides started from, and the sides. */
export interface ThreeTrees {
  readonly base: ObjectId
  readonly ours: ObjectId
  readonly theirs: ObjectId
  /** A commit with the tree of `base`. git merges commits, and one that is there need not be made. */
  readonly baseCommit?: ObjectId | undefined
  /** A commit with the tree of `theirs`, whose only parent is `baseCommit`. */
  readonly theirsCommit?: ObjectId | undefined
}

/** Two commits, whose merge bases git finds itself; or trees that are joined whatever their history is. */
export type GitMerge = { readonly ours: ObjectId; readonly theirs: ObjectId } | ThreeTrees

export interface Conflicting {
  readonly outcome: 'conflict'
  readonly paths: readonly string[]
}

/** What came of it; without a writer the tree is not there. */
export type Joined = { readonly outcome: 'clean'; readonly treeId: ObjectId } | Conflicting

const nobody = { name: 'merge', email: 'merge', date: '2000-01-01T00:00:00.000Z' }

/** Merges by `git merge-tree`. What it writes goes on to the writer, if there is one, when the merge is clean. */
export async function mergeByGit(
  repository: OpenRepository,
  merge: GitMerge,
  writer: ObjectWriter | undefined,
  signal: AbortSignal,
): Promise<Joined> {
  let sides: { readonly ours: ObjectId; readonly theirs: ObjectId } = merge
  const prepare = (folder: string) => {
    if ('base' in merge) sides = storeCommits(merge, folder)
    return sides
  }
  const read = async ({ isClean, treeId, paths }: MergeAnswer, folder: string): Promise<Joined> => {
    if (isClean) {
      if (writer) await takeOver(folder, writer)
      return { outcome: 'clean', treeId }
    }
    // Where a file gives way to a folder, git calls it after the side that it is from.
    const named = paths.map((path) =>
      'base' in merge
        ? path.replace(`~${sides.ours}`, '~ours').replace(`~${sides.theirs}`, '~theirs')
        : path,
    )
    return { outcome: 'conflict', paths: [...new Set(named)].sort() }
  }
  try {
    return await mergeInProgram(repository.path, prepare, read, signal)
  } catch (error) {
    if (isUnmergeable(error)) return { outcome: 'conflict', paths: [] }
    throw error
  }
}

/**
 * Whether nobody can merge this: commits without a common one, which git refuses; or files against folders and links in
 * several bases, where git 2.39 ends at a check of its own merge.
 */
function isUnmergeable(error: unknown): boolean {
  if (!(error instanceof GitError)) return false
  return /merge-ort\.c:\d+|unrelated histories/.test(String(error.detail.stderr ?? ''))
}

/** Commits of two sides whose only merge base is the given one. What is made for it is thrown away with the folder. */
function storeCommits(
  { base, ours, theirs, baseCommit, theirsCommit }: ThreeTrees,
  folder: string,
): { readonly ours: ObjectId; readonly theirs: ObjectId } {
  const store = (treeId: ObjectId, parentIds: readonly ObjectId[], message: string) => {
    const data = commitObject({ treeId, parentIds, author: nobody, committer: nobody, message })
    const id = hashSmallObject('commit', data, formatOfId(treeId))
    mkdirSync(join(folder, id.slice(0, 2)), { recursive: true })
    const whole = Buffer.concat([Buffer.from(`commit ${data.length}\0`), data])
    writeFileSync(join(folder, id.slice(0, 2), id.slice(2)), deflateSync(whole, { level: 1 }))
    return id
  }
  const root = baseCommit ?? store(base, [], 'base')
  return {
    ours: store(ours, [root], 'ours'),
    theirs: theirsCommit ?? store(theirs, [root], 'theirs'),
  }
}

/** Hands the trees and files that git has made on to the writer. */
async function takeOver(folder: string, writer: ObjectWriter): Promise<void> {
  for (const fan of readdirSync(folder)) {
    for (const name of readdirSync(join(folder, fan))) {
      if (!/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(name)) continue
      const packed = readFileSync(join(folder, fan, name))
      // Handing a few bytes to another thread takes longer than the work.
      const whole = packed.length > smallUpTo ? await decompress(packed) : inflateSync(packed)
      const end = whole.indexOf(0)
      const type = whole.toString('latin1', 0, whole.indexOf(0x20)) as ObjectType // git wrote it
      if (type !== 'commit') await writer.add(type, whole.subarray(end + 1))
    }
  }
}
