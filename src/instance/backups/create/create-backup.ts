import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Instant } from '../../../base/clock.ts'
import { ownedName, removeOrphans } from '../../../base/process-mark.ts'
import { productVersion } from '../../../base/version.ts'
import { repositoryKey } from '../../../git/repo-name.ts'
import {
  checkCopy,
  DatabaseSnapshot,
  type MovedRepository,
} from '../../../store/sqlite/snapshot.ts'
import type { BackupFolder } from '../folder/backup-folder.ts'
import type { BackupFile, Manifest } from '../folder/manifest.ts'
import { sealSecrets } from '../folder/seal.ts'
import { type HeldData, holdData } from '../point/hold-data.ts'
import { byRepository, checkRepositories } from './check-repositories.ts'
import { FileCopier, type Source } from './copy-files.ts'
import { AllRefs, copyRepository } from './copy-repositories.ts'
import { keepTraces, listOutbox, listStoredFiles, readSecrets } from './data-files.ts'

export interface BackupOptions {
  readonly data: string
  readonly folder: BackupFolder
  /** Reads only what has changed since the last backup in the folder. */
  readonly incremental: boolean
  readonly passphrase: string
  /** The key of the settings, in place of the one in the data folder. */
  readonly secretKey: string | undefined
  readonly now: () => Instant
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

const scratchPrefix = 'backup-'

/** How often the moment is tried for that all is of: the system may keep us from the processor for longer than refs wait. */
const pointAttempts = 5

/**
 * Makes a backup of a data folder, while a server uses it or not. It has its name once every file of it has been read
 * back and is on the disk.
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const unlock = await options.folder.lock()
  try {
    const held = await holdData(options.data)
    const scratch = join(options.data, 'tmp', ownedName(scratchPrefix))
    removeOrphans(join(options.data, 'tmp'), scratchPrefix)
    try {
      return await copyHeld(
        { ...options, signal: AbortSignal.any([options.signal, held.lost]) },
        held,
        scratch,
      )
    } finally {
      held.close()
      rmSync(scratch, { recursive: true, force: true })
    }
  } finally {
    unlock()
  }
}

/** What there was before: what need not be read again, and what need not be written. */
async function readBefore(folder: BackupFolder, incremental: boolean) {
  const trusted = new Set<string>()
  const last = (await folder.list()).findLast(({ manifest }) => manifest !== undefined)?.manifest
  if (!incremental || !last)
    return { trusted, known: new Map<string, BackupFile>(), last: undefined }
  const files = await folder.files(last)
  for (const { sha256 } of files) trusted.add(sha256)
  return { trusted, known: new Map(files.map((file) => [file.path, file])), last }
}

async function copyHeld(
  options: BackupOptions,
  held: HeldData,
  scratch: string,
): Promise<Manifest> {
  const { data, folder, signal, say } = options
  say('looking for what has changed')
  const { trusted, known, last } = await readBefore(folder, options.incremental)
  const copier = new FileCopier(folder.store(trusted), known, signal)
  const { point, database, refs, traces } = await takePoint(options, held, scratch)
  const files: BackupFile[] = []
  const faults: string[] = []
  try {
    const copy = folder.temporary('database-')
    await database.copyTo(copy)
    faults.push(...checkCopy(copy).map((fault) => `database: ${fault}`))
    files.push(await copier.adopt('gitstead.db', copy))
  } finally {
    database.snapshot.close()
  }
  let count = 0
  for (const [path, copied] of refs.entries) {
    signal.throwIfAborted()
    count += 1
    say(`repository ${count} of ${refs.entries.size}, ${copier.count} files`)
    files.push(...(await copyRepository(data, path, copied, copier)))
  }
  const stored = await listStoredFiles(data)
  for (let at = 0; at < stored.length; at += batch) {
    say(`file ${at} of ${stored.length}`)
    files.push(...(await copier.copyAll(stored.slice(at, at + batch))))
  }
  files.push(...(await copier.copyAll([...traces.values(), ...(await listOutbox(data))])))
  faults.push(...files.flatMap(misnamed))
  const changed = changedRepositories(files, known, last)
  const onRepository = (done: number) => say(`repository ${done} of ${changed.size} is whole`)
  faults.push(...(await checkRepositories(folder, changed, { signal, onRepository })))
  const secrets = readSecrets(data, options.secretKey)
  if (!('secret.key' in secrets))
    faults.push('secret.key is missing, which secrets in the database need')
  return await folder.add(
    {
      format: 1,
      name: point.replaceAll(':', '').replace('.', '-'),
      at: point,
      finished_at: options.now(),
      version: productVersion,
      migrations: database.migrations,
      incremental: last !== undefined,
      repositories: refs.entries.size,
      refs: [...refs.entries.values()].reduce((sum, one) => sum + one.count, 0),
      files: copier.count,
      bytes: copier.bytes,
      new_bytes: copier.newBytes,
      faults,
      secrets: await sealSecrets(secrets, options.passphrase),
    },
    files,
  )
}

const batch = 500

/**
 * The moment of which everything is. Refs of all repositories are read before, while they move; then nobody may move
 * refs while the database is pinned and what has moved is read again: for moments, however many there are.
 */
async function takePoint(options: BackupOptions, held: HeldData, scratch: string) {
  const { data, signal, say } = options
  const traces = new Map<string, Source>()
  for (let attempt = 1; ; attempt += 1) {
    const snapshot = new DatabaseSnapshot(data)
    try {
      const lastMove = snapshot.lastMove()
      const refs = new AllRefs(data)
      say('reading refs')
      await refs.readAll(signal)
      await keepTraces(data, scratch, traces)
      const moved = await held.closeMoves()
      snapshot.pin()
      const point = options.now()
      // Commands beside the server move refs of new projects.
      const journaled = snapshot.movedSince(lastMove).map(keyOf)
      await refs.catchUp(new Set([...moved, ...journaled]))
      await keepTraces(data, scratch, traces)
      const migrations = snapshot.migrations()
      if (await held.openMoves()) {
        const copyTo = (path: string) => snapshot.copyTo(path, signal)
        return { point, refs, traces, database: { snapshot, migrations, copyTo } }
      }
    } catch (error) {
      snapshot.close()
      throw error
    }
    snapshot.close()
    signal.throwIfAborted()
    if (attempt === pointAttempts) throw new Error('no moment was found in which no ref moves')
  }
}

/** The key of a repository, as its folder is called. */
function keyOf(row: MovedRepository): string {
  const { project_id, wiki_project_id, wiki_group_id, snippet_id } = row
  if (project_id !== null) return repositoryKey(project_id)
  if (wiki_project_id !== null) return repositoryKey({ kind: 'project_wiki', id: wiki_project_id })
  if (wiki_group_id !== null) return repositoryKey({ kind: 'group_wiki', id: wiki_group_id })
  return repositoryKey({ kind: 'snippet', id: snippet_id ?? 0 })
}

/** A stored file is named by its hash: another one says that its bytes have changed. */
function misnamed({ path, sha256 }: BackupFile): string[] {
  if (!path.startsWith('files/') || basename(path) === sha256) return []
  return [`${path}: the content is not what its name says`]
}

/** Repositories that are not, file for file, those of the last backup, or were not whole there. */
function changedRepositories(
  files: readonly BackupFile[],
  known: ReadonlyMap<string, BackupFile>,
  last: Manifest | undefined,
): Map<string, BackupFile[]> {
  const changed = byRepository(files)
  const before = byRepository([...known.values()])
  for (const [repository, now] of changed) {
    const isSame =
      before.get(repository)?.length === now.length &&
      now.every(({ path, sha256 }) => known.get(path)?.sha256 === sha256)
    const wasWhole = !last?.faults.some((fault) => fault.startsWith(`${repository}: `))
    if (isSame && wasWhole) changed.delete(repository)
  }
  return changed
}
