import { gitRecords } from '../command.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** Bytes of all files of a commit, by their last name part, lower-case: an extension such as `.ts`, or the whole name without one. */
export async function readFileSizes(repo: Repo, commitId: ObjectId): Promise<Map<string, number>> {
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', '--end-of-options']
  const sizes = new Map<string, number>()
  const command = { repo: repo.path, args: [...args, assertObjectId(commitId)] }
  for await (const record of gitRecords(command)) {
    // `100644 blob <id> <size>\t<path>`; links and submodules are no files.
    const tab = record.indexOf(9)
    const [mode, type, , size] = record.subarray(0, tab).toString('latin1').split(/ +/)
    if (type !== 'blob' || mode === '120000') continue
    const name = record.subarray(tab + 1).toString('utf8')
    const key = keyOf(name)
    if (key !== undefined) sizes.set(key, (sizes.get(key) ?? 0) + Number(size))
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
