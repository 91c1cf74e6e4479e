import type { Readable } from 'node:stream'
import { engineCall } from '../engine/engine-call.ts'
import { openEngineStream } from '../engine/engine-stream.ts'
import { type Job, operation } from '../engine/operation.ts'
import { ReaderPrograms } from '../engine/reader-programs.ts'
import { GitError } from '../error.ts'
import { assertObjectId, cleanPath } from '../names.ts'
import { loadCommit, readCommit } from '../objects/commit.ts'
import { findTreeEntry } from '../objects/tree.ts'
import { allEntries } from '../objects/tree-walk.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { inBlocks } from './blocks.ts'
import { bzip2 } from './bzip2.ts'
import { gitArchive, leavesNothing, type Selection } from './git-archive.ts'
import { gzip } from './gzip.ts'
import { type Item, withLargeFiles } from './items.ts'
import { readTarItems } from './read-tar.ts'
import { tar } from './tar.ts'
import { treeItems } from './tree-items.ts'
import { zip } from './zip.ts'

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

/** The format that a suffix asks for, `tar.gz` without one; undefined for others (docs/contract/B-resolved §1.3). */
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

/** What an engine process is asked for. */
interface Task extends Selection {
  readonly format: ArchiveFormat
  readonly lfs: ReadonlyMap<string, string>
  /** Whether the exclusions release nothing but the folder at the top. */
  readonly isEmpty: boolean
}

/** What libgit2 reads for an archive; undefined where git has to. */
async function smallItems(
  job: Job,
  { path, excludePaths }: Selection,
  treeId: ObjectId,
): Promise<AsyncIterable<Item> | undefined> {
  // Exclusions are pathspecs, and libgit2 as nodegit builds it knows SHA-1 only.
  const isPlain = excludePaths.length === 0 && treeId.length === 40
  return isPlain ? await treeItems(job, treeId, path) : undefined
}

/** The items of an archive that is packed here; undefined where git makes it by itself. */
async function ownItems(
  job: Job,
  task: Task,
  treeId: ObjectId,
): Promise<AsyncIterable<Item> | undefined> {
  if (task.isEmpty) return nothing()
  const items = await smallItems(job, task, treeId)
  if (items) return withLargeFiles(items, task.lfs)
  if (task.lfs.size === 0) return undefined
  const { repository, signal } = job
  const entries = await allEntries(repository, treeId, '', signal)
  // Names that are no UTF-8 are written by git alone, and then pointers stay pointers.
  if (entries.some((entry) => entry.rawPath !== undefined)) return undefined
  return withLargeFiles(
    readTarItems(await gitArchive(repository.path, task, 'tar', signal), task.name),
    task.lfs,
  )
}

async function* nothing(): AsyncGenerator<Item> {}

async function uncompressed(job: Job, task: Task): Promise<AsyncIterable<Buffer>> {
  const commit = await loadCommit(job.repository, assertObjectId(task.commitId))
  const items = await ownItems(job, task, commit.treeId)
  const isZip = task.format === 'zip'
  if (!items) return gitArchive(job.repository.path, task, isZip ? 'zip' : 'tar', job.signal)
  const time = new Date(commit.committer.seconds * 1000)
  const frame = { name: task.name, commitId: commit.id, time }
  return isZip ? zip(items, frame) : tar(items, frame)
}

async function emitArchive(job: Job, task: Task): Promise<void> {
  const plain = await uncompressed(job, task)
  for await (const piece of packed(plain, task.format)) await job.emit(piece)
}

function packed(plain: AsyncIterable<Buffer>, format: ArchiveFormat): AsyncIterable<Buffer> {
  if (format === 'tar.gz') return gzip(plain)
  if (format === 'tar.bz2') return bzip2(plain)
  return inBlocks(plain, () => Buffer.allocUnsafe(pieceSize))
}

const archiveOperation = operation({
  name: 'archive',
  lane: 'stream',
  // A slow reader may take its time.
  seconds: 3600,
  run: emitArchive,
})

const isSmallArchive = engineCall({
  name: 'isSmallArchive',
  lane: 'light',
  async run(job, selection: Selection): Promise<boolean> {
    const { treeId } = await loadCommit(job.repository, assertObjectId(selection.commitId))
    return (await smallItems(job, selection, treeId)) !== undefined
  },
})

function assertName(name: string): void {
  if (name === '' || name === '.' || name === '..' || /[/\0\n]/.test(name)) {
    throw new GitError('invalid', 'not a name for an archive')
  }
}

/** Fails with `not_found` where there is nothing to pack. */
async function assertThere(repo: Repo, { commitId, path }: Selection): Promise<void> {
  if (path === '') await readCommit(repo, assertObjectId(commitId))
  else if (!(await findTreeEntry(repo, { ref: assertObjectId(commitId), path }))) {
    throw new GitError('not_found', 'no file or folder at this path')
  }
}

/** As many at a time as an engine process streams: each holds a program. */
const programs = new ReaderPrograms(8, 64)
/** Like an engine process for heavy work, which all that it starts takes after. */
const politeness = 4

/**
 * The files of a commit as an archive (docs/contract/B-resolved §1.3): streamed, with the same bytes each time for the
 * same commit, and `.gitattributes` honoured. `not_found` when there is nothing at the path. A failure
 * on the way destroys the stream.
 */
export async function openArchive(
  repo: Repo,
  input: ArchiveInput,
  signal?: AbortSignal,
): Promise<Readable> {
  assertName(input.name)
  const { format, lfs = new Map<string, string>(), excludePaths = [] } = input
  const { commitId, name } = input
  const selection = {
    ...{ commitId, name, path: cleanPath(input.path ?? '') },
    excludePaths: excludePaths.filter(Boolean),
  }
  await assertThere(repo, selection)
  const ask = (isEmpty: boolean) =>
    openEngineStream(repo, archiveOperation, { ...selection, format, lfs, isEmpty }, signal)
  try {
    // What git makes as it is asked for needs no other process on its way.
    const mayBeGits = lfs.size === 0 && (format === 'tar' || format === 'zip')
    if (!mayBeGits || (await isSmallArchive(repo, selection, signal))) return await ask(false)
    const start = () => gitArchive(repo.path, selection, format, signal, politeness)
    return await programs.start(repo, start, signal)
  } catch (error) {
    if (!leavesNothing(error)) throw error
    return ask(true)
  }
}
