import { runGit } from './command.ts'
import {
  LFS_POINTER_LEAST,
  LFS_POINTER_LIMIT,
  type LfsPointer,
  readLfsPointer,
} from './lfs-pointer.ts'
import type { Repo } from './repo.ts'

const outputLimit = 256 * 1024 * 1024

/**
 * The large files that the objects of a push stand for. Only what lies in the quarantine is looked at: what was there
 * before was asked about then.
 */
export async function readNewPointers(repo: Repo, quarantine: string): Promise<LfsPointer[]> {
  // Without alternates git lists these objects alone.
  const env = { GIT_OBJECT_DIRECTORY: quarantine }
  const format = '--batch-check=%(objecttype) %(objectsize) %(objectname)'
  const listed = await runGit({
    repo: repo.path,
    args: ['cat-file', '--batch-all-objects', '--unordered', format],
    env,
    limit: outputLimit,
  })
  const ids = smallBlobs(listed.stdout.toString('latin1'))
  if (ids.length === 0) return []
  const { stdout } = await runGit({
    repo: repo.path,
    args: ['cat-file', '--batch'],
    stdin: `${ids.join('\n')}\n`,
    env,
    limit: outputLimit,
  })
  return readAll(stdout)
}

function smallBlobs(listed: string): string[] {
  const ids: string[] = []
  for (const line of listed.split('\n')) {
    const [type, size, id] = line.split(' ')
    const fits = Number(size) >= LFS_POINTER_LEAST && Number(size) < LFS_POINTER_LIMIT
    if (type === 'blob' && fits && id !== undefined) ids.push(id)
  }
  return ids
}

/** `<id> <type> <size>\n<bytes>\n` for each object. */
function readAll(stdout: Buffer): LfsPointer[] {
  const found = new Map<string, LfsPointer>()
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0x0a, at)
    if (end < 0) break
    const size = Number(stdout.toString('latin1', at, end).split(' ')[2])
    if (!Number.isSafeInteger(size)) break
    const pointer = readLfsPointer(stdout.subarray(end + 1, end + 1 + size))
    if (pointer) found.set(pointer.oid, pointer)
    at = end + size + 2
  }
  return [...found.values()]
}
