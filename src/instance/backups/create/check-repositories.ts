import { linkSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkCopiedObjects } from '../../../git/transfer/copy-out.ts'
import type { BackupFolder } from '../folder/backup-folder.ts'
import type { BackupFile } from '../folder/manifest.ts'

const atOnce = 2

/** The files of a backup by the repository that they are of: `repositories/2a/42.git`. */
export function byRepository(files: readonly BackupFile[]): Map<string, BackupFile[]> {
  const found = new Map<string, BackupFile[]>()
  for (const file of files) {
    const [, repository] = /^(repositories\/[^/]+\/[^/]+\.git)\//.exec(file.path) ?? []
    if (repository === undefined) continue
    const known = found.get(repository)
    if (known) known.push(file)
    else found.set(repository, [file])
  }
  return found
}

/** Reads every object of repositories as they lie in a folder of backups; gives what is wrong with them. */
export async function checkRepositories(
  folder: BackupFolder,
  repositories: ReadonlyMap<string, readonly BackupFile[]>,
  options: { readonly signal: AbortSignal; readonly onRepository: (count: number) => void },
): Promise<string[]> {
  const waiting = [...repositories]
  const faults: string[] = []
  let count = 0
  const work = async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      options.signal.throwIfAborted()
      const [repository, files] = one
      const found = await checkOne(folder, files, options.signal)
      faults.push(...found.map((fault) => `${repository}: ${fault}`))
      options.onRepository(++count)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return faults.sort()
}

/** Lays a repository out of links into the store, and has git look at it. */
async function checkOne(
  folder: BackupFolder,
  files: readonly BackupFile[],
  signal: AbortSignal,
): Promise<string[]> {
  const path = makeScratch(folder)
  const store = folder.store()
  try {
    for (const below of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
      mkdirSync(join(path, below), { recursive: true })
    }
    for (const file of files) {
      const target = join(path, file.path.split('/').slice(3).join('/'))
      mkdirSync(dirname(target), { recursive: true })
      linkTo(store.pathOf(file.sha256), target)
    }
    return await checkCopiedObjects(path, signal)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

/** Backups may lie on a disk that can only be read. */
function makeScratch(folder: BackupFolder): string {
  const path = folder.temporary('check-')
  try {
    mkdirSync(path)
    return path
  } catch (error) {
    const isReadOnly = ['EROFS', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))
    if (!isReadOnly) throw error
    return mkdtempSync(join(tmpdir(), 'gitstead-check-'))
  }
}

function linkTo(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    // Some file systems of disks that are carried about have no links.
    symlinkSync(source, target)
  }
}
