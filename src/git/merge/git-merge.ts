import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { ownedName } from '../../base/process-mark.ts'
import { runGit } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { isObjectId } from '../names.ts'
import { formatOfId, type ObjectId, type ObjectType } from '../types.ts'
import { commitObject } from '../write/commit-object.ts'
import { hashObject, type ObjectWriter } from '../write/object-writer.ts'
import type { JoinedTrees, ThreeTrees } from './tree-merge.ts'

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** Two commits, whose merge bases git finds itself; or trees that are joined whatever their history is. */
export type GitMerge = { readonly ours: ObjectId; readonly theirs: ObjectId } | ThreeTrees

const nobody = { name: 'merge', email: 'merge', date: '2000-01-01T00:00:00.000Z' }
const conflictCode = 1

/**
 * Merges by `git merge-tree`, which knows renames and every kind of conflict. What it writes goes to a folder of its
 * own, and on to the writer, if there is one, when the merge is clean.
 */
export async function mergeByGit(
  repository: OpenRepository,
  merge: GitMerge,
  writer: ObjectWriter | undefined,
  signal: AbortSignal,
): Promise<JoinedTrees> {
  const known = join(repository.path, 'objects')
  const scratch = join(known, ownedName('tmp_objdir-merge-'))
  await mkdir(scratch, { mode: 0o700 })
  try {
    const sides = 'base' in merge ? await commitsOf(merge, scratch) : merge
    const { code, stdout } = await runGit({
      repo: repository.path,
      args: [
        'merge-tree',
        '--write-tree',
        '--name-only',
        '-z',
        '--no-messages',
        sides.ours,
        sides.theirs,
      ],
      // Nothing here must outlast a crash.
      config: { 'core.fsync': 'none' },
      env: { GIT_OBJECT_DIRECTORY: scratch, GIT_ALTERNATE_OBJECT_DIRECTORIES: known },
      accept: [0, conflictCode],
      signal,
    })
    const [treeId = '', ...paths] = stdout.toString('utf8').split('\0').filter(Boolean)
    if (!isObjectId(treeId)) throw new GitError('failed', 'git merge-tree named no tree')
    if (code === conflictCode) {
      // Where a file gives way to a folder, git calls it after the side that it is from.
      const named = paths.map((path) =>
        'base' in merge
          ? path.replace(`~${sides.ours}`, '~ours').replace(`~${sides.theirs}`, '~theirs')
          : path,
      )
      return { outcome: 'conflict', paths: [...new Set(named)].sort() }
    }
    if (writer) await takeOver(scratch, writer)
    return { outcome: 'clean', treeId }
  } catch (error) {
    // Files against folders and links in several bases: git can't merge them, so nobody can.
    if (isGivenUp(error)) return { outcome: 'conflict', paths: [] }
    throw error
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Whether git ended at a check of its own merge, as 2.39 does at some conflicts. */
function isGivenUp(error: unknown): boolean {
  return error instanceof GitError && /merge-ort\.c:\d+/.test(String(error.detail.stderr ?? ''))
}

/** Commits of two sides whose only merge base is the given one. They are thrown away with the folder. */
async function commitsOf(
  { base, ours, theirs }: ThreeTrees,
  folder: string,
): Promise<{ readonly ours: ObjectId; readonly theirs: ObjectId }> {
  const store = async (treeId: ObjectId, parentIds: readonly ObjectId[], message: string) => {
    const data = commitObject({ treeId, parentIds, author: nobody, committer: nobody, message })
    const id = await hashObject('commit', data, formatOfId(treeId))
    await mkdir(join(folder, id.slice(0, 2)), { recursive: true })
    const whole = Buffer.concat([Buffer.from(`commit ${data.length}\0`), data])
    await writeFile(join(folder, id.slice(0, 2), id.slice(2)), await compress(whole))
    return id
  }
  const root = await store(base, [], 'base')
  return {
    ours: await store(ours, [root], 'ours'),
    theirs: await store(theirs, [root], 'theirs'),
  }
}

/** Hands the trees and files that git has made on to the writer. */
async function takeOver(folder: string, writer: ObjectWriter): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(entry.name)) continue
    const whole = await decompress(await readFile(join(entry.parentPath, entry.name)))
    const end = whole.indexOf(0)
    const type = whole.toString('latin1', 0, whole.indexOf(0x20)) as ObjectType // git wrote it
    if (type !== 'commit') await writer.add(type, whole.subarray(end + 1))
  }
}
