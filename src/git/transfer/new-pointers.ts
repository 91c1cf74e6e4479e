import { gitRecords, runGit } from '../command.ts'
import { assertObjectId } from '../names.ts'
import {
  LFS_POINTER_LEAST,
  LFS_POINTER_LIMIT,
  type LfsPointer,
  readLfsPointer,
} from '../objects/lfs-pointer.ts'
import { listObjectFiles } from '../objects/object-folder.ts'
import { readLoose } from '../objects/packs/loose-file.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** Blobs whose content is asked for at once. */
const AT_ONCE = 10_000
/**
 * What pushes are asked for is smaller than this, as on the reference platform; git-lfs writes some 130 bytes. Pointers
 * may be larger, but reading every small file of a long history takes half as long again as taking it in.
 */
const PUSHED_LIMIT = 200
/** A push of millions of objects takes its time. */
const timeLimit = 10 * 60_000
const lineEnd = 0x0a

/**
 * The large files that the objects of a push stand for. Only what lies in the quarantine is looked at: what was there
 * before was asked about then.
 */
export async function readNewPointers(repo: Repo, quarantine: string): Promise<LfsPointer[]> {
  return (await readLoosePointers(quarantine)) ?? (await readPackedPointers(repo, quarantine))
}

/** Git leaves the objects of a small push loose: they are read without a program. Undefined for a pack. */
async function readLoosePointers(quarantine: string): Promise<LfsPointer[] | undefined> {
  const { loose, others } = await listObjectFiles(quarantine)
  if (others.length > 0) return undefined
  const found = new Map<string, LfsPointer>()
  for (const path of loose) {
    const object = readLoose(path, LFS_POINTER_LIMIT)
    const pointer = object?.type === 'blob' ? readLfsPointer(object.data) : undefined
    if (pointer) found.set(pointer.oid, pointer)
  }
  return [...found.values()]
}

function readPackedPointers(repo: Repo, quarantine: string): Promise<LfsPointer[]> {
  // Without alternates git lists these objects alone.
  const env = { GIT_OBJECT_DIRECTORY: quarantine }
  return collectPointers(repo, smallBlobs(repo, env), env)
}

/** The large files that a commit reaches and no ref does: it was fetched, and is about to get a ref. */
export function readFetchedPointers(
  repo: Repo,
  tip: ObjectId,
  signal?: AbortSignal,
): Promise<LfsPointer[]> {
  return collectPointers(repo, fetchedBlobs(repo, tip, signal), {}, signal)
}

async function collectPointers(
  repo: Repo,
  blobs: AsyncIterable<string>,
  env: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<LfsPointer[]> {
  const found = new Map<string, LfsPointer>()
  let ids: string[] = []
  const read = async () => {
    for (const pointer of await readPointers(repo, env, ids, signal)) {
      found.set(pointer.oid, pointer)
    }
    ids = []
  }
  for await (const id of blobs) {
    ids.push(id)
    if (ids.length === AT_ONCE) await read()
  }
  if (ids.length > 0) await read()
  return [...found.values()]
}

/** The ids of the quarantine's blobs that have the size of a pointer. */
async function* smallBlobs(
  repo: Repo,
  env: Readonly<Record<string, string>>,
): AsyncGenerator<string> {
  const format = '--batch-check=%(objecttype) %(objectsize) %(objectname)'
  const args = ['cat-file', '--batch-all-objects', '--unordered', format]
  for await (const line of gitRecords(
    { repo: repo.path, args, env, timeout: timeLimit },
    lineEnd,
  )) {
    const [type, size, id] = line.toString('latin1').split(' ')
    const fits = Number(size) >= LFS_POINTER_LEAST && Number(size) < PUSHED_LIMIT
    if (type === 'blob' && fits && id !== undefined) yield id
  }
}

/** The ids of the small blobs that a commit reaches and no ref does. */
async function* fetchedBlobs(
  repo: Repo,
  tip: ObjectId,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const filter = `--filter=combine:object:type=blob+blob:limit=${PUSHED_LIMIT}`
  const args = ['rev-list', '--objects', '--no-object-names', filter, '--filter-provided-objects']
  const range = [assertObjectId(tip), '--not', '--all']
  const command = { repo: repo.path, args: [...args, ...range], timeout: timeLimit, signal }
  for await (const line of gitRecords(command, lineEnd)) yield line.toString('latin1')
}

async function readPointers(
  repo: Repo,
  env: Readonly<Record<string, string>>,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<LfsPointer[]> {
  const { stdout } = await runGit({
    repo: repo.path,
    args: ['cat-file', '--batch'],
    stdin: `${ids.join('\n')}\n`,
    env,
    timeout: timeLimit,
    signal,
  })
  const found: LfsPointer[] = []
  // `<id> <type> <size>\n<bytes>\n` for each object.
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(lineEnd, at)
    if (end < 0) break
    const size = Number(stdout.toString('latin1', at, end).split(' ')[2])
    if (!Number.isSafeInteger(size)) break
    const pointer = readLfsPointer(stdout.subarray(end + 1, end + 1 + size))
    if (pointer) found.push(pointer)
    at = end + size + 2
  }
  return found
}
