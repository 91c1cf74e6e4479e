import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { tipFiles } from './tip-files.ts'

/** Bytes of all files of a commit, by their last name part, lower-case: an extension such as `.ts`, or the whole name without one. */
export async function readFileSizes(repo: Repo, commitId: ObjectId): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for await (const { path, size, mode } of tipFiles(repo, commitId)) {
    const key = mode === '120000' ? undefined : keyOf(path)
    if (key !== undefined) sizes.set(key, (sizes.get(key) ?? 0) + size)
  }
  return sizes
}

/** Folders that hold other people's files. */
const vendored = /(^|\/)(node_modules|vendor|third_party|dist|\.yarn)\//

function keyOf(path: string): string | undefined {
  if (vendored.test(path)) return undefined
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot) : name
}
