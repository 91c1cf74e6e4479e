import type { Readable } from 'node:stream'
import { bzip2, gzip, inBlocks } from './archive/compress.ts'
import { type Contents, readContents, readItems, type Selection } from './archive/contents.ts'
import { readTarItems } from './archive/read-tar.ts'
import { type ArchiveFrame, tar } from './archive/tar.ts'
import { zip } from './archive/zip.ts'
import { loadCommits } from './commit.ts'
import { type Job, operation } from './engine/operation.ts'
import { openEngineStream } from './engine-stream.ts'
import { GitError } from './error.ts'
import { begun, gitStream } from './git-stream.ts'
import { assertObjectId, cleanPath } from './names.ts'
import type { Repo } from './repo.ts'
import type { ObjectId } from './types.ts'

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip'

const formats: Readonly<Record<string, ArchiveFormat>> = {
  tar: 'tar',
  'tar.gz': 'tar.gz',
  zip: 'zip',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
}

/** The format that a suffix asks for, `tar.gz` without one; undefined for others (spec B §1.3). */
export function archiveFormat(suffix: string | undefined): ArchiveFormat | undefined {
  if (suffix === undefined || suffix === '') return 'tar.gz'
  return Object.hasOwn(formats, suffix) ? formats[suffix] : undefined
}

export interface ArchiveInput {
  readonly commitId: ObjectId
  readonly format: ArchiveFormat
  /** The one folder at the top. */
  readonly name: string
  /** Only this file or folder, under its full path. */
  readonly path?: string | undefined
  /** Pathspecs relative to the root. */
  readonly excludePaths?: readonly string[] | undefined
  /** Files by LFS object id, for those that the caller may have; other pointers stay pointers. */
  readonly lfs?: ReadonlyMap<string, string> | undefined
}

const pieceSize = 256 * 1024

/** `git archive` itself, where attributes or patterns need it. */
function gitArchive(
  repo: string,
  input: ArchiveInput,
  format: 'tar' | 'zip',
  signal?: AbortSignal,
): Readable {
  const { commitId, name, path = '', excludePaths = [] } = input
  return gitStream({
    repo,
    args: [
      ...['archive', `--format=${format}`, `--prefix=${name}/`, assertObjectId(commitId), '--'],
      path === '' ? ':(top)' : `:(top,literal)${path}`,
      ...excludePaths.map((pattern) => `:(top,exclude)${pattern}`),
    ],
    signal,
    timeout: 0,
  })
}

function uncompressed(
  job: Job,
  input: ArchiveInput,
  contents: Contents,
  frame: ArchiveFrame,
): AsyncIterable<Buffer> {
  const { repository, signal } = job
  const format = input.format === 'zip' ? 'zip' : 'tar'
  if (!contents.needsGit) {
    const lfs = input.lfs ?? new Map<string, string>()
    const items = readItems(repository, contents.entries, lfs, signal)
    return format === 'zip' ? zip(items, frame) : tar(items, frame)
  }
  if (format === 'tar' || contents.namesAreBytes) {
    return gitArchive(repository.path, input, format, signal)
  }
  // git packs zips with one core; reading its tar leaves another one for the packing.
  return zip(readTarItems(gitArchive(repository.path, input, 'tar', signal), frame.name), frame)
}

/** What an engine process leaves to the main process: `git archive` as it is. */
interface LeftOver {
  readonly byGit: boolean
}

async function emitArchive(job: Job, input: ArchiveInput & Selection): Promise<LeftOver> {
  const [commit] = await loadCommits(job.repository, [assertObjectId(input.commitId)])
  if (!commit) throw new GitError('not_found', 'no such commit')
  const contents = await readContents(job.repository, commit.treeId, input, job.signal)
  // Its bytes would only be passed on here.
  if (input.format === 'tar' && contents.needsGit) return { byGit: true }
  const time = new Date(commit.committer.seconds * 1000)
  const frame = { name: input.name, commitId: commit.id, time }
  const plain = uncompressed(job, input, contents, frame)
  if (input.format === 'tar.gz') await emitAll(job, gzip(plain))
  else if (input.format === 'tar.bz2') await emitAll(job, inBlocks(bzip2(plain), pieceSize))
  else await emitAll(job, inBlocks(plain, pieceSize))
  return { byGit: false }
}

async function emitAll(job: Job, pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of pieces) await job.emit(piece)
}

export const archiveOperation = operation({
  name: 'archive',
  lane: 'stream',
  // A slow reader may take its time.
  seconds: 3600,
  run: emitArchive,
})

function assertName(name: string): void {
  if (name === '' || name === '.' || name === '..' || /[/\0\n]/.test(name)) {
    throw new GitError('invalid', 'not a name for an archive')
  }
}

/**
 * The files of a commit as an archive (spec B §1.3): streamed, with the same bytes each time for the
 * same commit, and `.gitattributes` honoured. `not_found` when there is nothing at the path. A failure
 * on the way destroys the stream.
 */
export async function openArchive(
  repo: Repo,
  input: ArchiveInput,
  signal?: AbortSignal,
): Promise<Readable> {
  assertName(input.name)
  const path = cleanPath(input.path ?? '')
  const wanted = { ...input, path, excludePaths: (input.excludePaths ?? []).filter(Boolean) }
  return openEngineStream(repo, archiveOperation, wanted, signal, ({ byGit }) =>
    byGit ? begun(gitArchive(repo.path, wanted, 'tar', signal)) : undefined,
  )
}
