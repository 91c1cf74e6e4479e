import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { isObjectId } from '../names.ts'
import { formatOfId, type ObjectId } from '../types.ts'
import { commitObject } from '../write/commit-object.ts'
import { type DraftFolder, withDraftFolder } from '../write/draft-folder.ts'
import { mergeTree } from './merge-tree.ts'

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

interface Sides {
  readonly ours: ObjectId
  readonly theirs: ObjectId
}

/** Two commits, whose merge bases git finds itself; or trees that are joined whatever their history is. */
export type GitMerge = Sides | ThreeTrees

export interface Conflicting {
  readonly outcome: 'conflict'
  readonly paths: readonly string[]
}

export type GitMerged = { readonly outcome: 'clean'; readonly treeId: ObjectId } | Conflicting

const nobody = { name: 'merge', email: 'merge', date: '2000-01-01T00:00:00.000Z' }

/** Merges by `git merge-tree`. With `store` the tree of a clean merge is in the repository afterwards. */
export async function mergeByGit(
  repository: OpenRepository,
  merge: GitMerge,
  store: boolean,
  signal: AbortSignal,
): Promise<GitMerged> {
  try {
    return await withDraftFolder(repository.path, async (folder) => {
      const made: ObjectId[] = []
      const sides = 'base' in merge ? storeCommits(merge, folder, made) : merge
      const args = ['--name-only', '--no-messages']
      const { code, stdout } = await mergeTree(folder, sides, { args, signal })
      const [treeId = '', ...paths] = stdout.toString('utf8').split('\0').filter(Boolean)
      if (!isObjectId(treeId)) throw new GitError('failed', 'git merge-tree named no tree')
      if (code !== 0) return { outcome: 'conflict', paths: namedPaths(paths, merge, sides) }
      if (store) await folder.accept(made)
      return { outcome: 'clean', treeId }
    })
  } catch (error) {
    if (isUnmergeable(error)) return { outcome: 'conflict', paths: [] }
    throw error
  }
}

/** Where a file gives way to a folder, git calls it after the side that it is from. */
function namedPaths(paths: readonly string[], merge: GitMerge, sides: Sides): string[] {
  const named = paths.map((path) =>
    'base' in merge
      ? path.replace(`~${sides.ours}`, '~ours').replace(`~${sides.theirs}`, '~theirs')
      : path,
  )
  return [...new Set(named)].sort()
}

/**
 * Whether nobody can merge this: commits without a common one, which git refuses; or files against folders and links in
 * several bases, where git 2.39 ends at a check of its own merge.
 */
export function isUnmergeable(error: unknown): boolean {
  if (!(error instanceof GitError)) return false
  return /merge-ort\.c:\d+|unrelated histories/.test(String(error.detail.stderr ?? ''))
}

/** Commits of two sides whose only merge base is the given one. The ids of those that are made for it go to `made`. */
function storeCommits(
  { base, ours, theirs, baseCommit, theirsCommit }: ThreeTrees,
  folder: DraftFolder,
  made: ObjectId[],
): Sides {
  const store = (treeId: ObjectId, parentIds: readonly ObjectId[], message: string) => {
    const data = commitObject({ treeId, parentIds, author: nobody, committer: nobody, message })
    const whole = Buffer.concat([Buffer.from(`commit ${data.length}\0`), data])
    const id = createHash(formatOfId(treeId)).update(whole).digest('hex')
    const place = join(folder.path, id.slice(0, 2))
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, id.slice(2)), deflateSync(whole, { level: 1 }))
    made.push(id)
    return id
  }
  const root = baseCommit ?? store(base, [], 'base')
  return {
    ours: store(ours, [root], 'ours'),
    theirs: theirsCommit ?? store(theirs, [root], 'theirs'),
  }
}
