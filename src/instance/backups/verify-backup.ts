import { statSync } from 'node:fs'
import { checkReadOnly } from '../../store/sqlite/snapshot.ts'
import { byRepository, checkRepositories } from './create/check-repositories.ts'
import type { BackupFolder } from './folder/backup-folder.ts'
import { hashFile } from './folder/content-store.ts'
import { type BackupFile, DamagedBackup, type Manifest } from './folder/manifest.ts'
import { openSecrets } from './folder/seal.ts'

export interface VerifyOptions {
  /** Opens the secrets, too. */
  readonly passphrase?: string | undefined
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** What is wrong with a backup, one sentence each. */
export interface Verdict {
  readonly manifest: Manifest
  /** It is not as it was written, and cannot be restored. */
  readonly damages: readonly string[]
  /** It is as it was written, of data that was damaged then. */
  readonly faults: readonly string[]
}

const mostNamed = 20

/** Reads every byte of a backup, and has SQLite and git look at what they are to work with. */
export async function verifyBackup(
  folder: BackupFolder,
  name: string,
  { passphrase, say, signal }: VerifyOptions,
): Promise<Verdict> {
  const manifest = await folder.manifest(name)
  const files = await folder.files(manifest)
  if (passphrase !== undefined) await openSecrets(manifest.secrets, passphrase)
  const damages = await damagedFiles(folder, files, { say, signal })
  if (damages.length > 0) return { manifest, damages: shortened(damages), faults: manifest.faults }
  const database = files.find(({ path }) => path === 'gitstead.db')
  if (!database) damages.push('gitstead.db is missing')
  else {
    const found = checkReadOnly(folder.store().pathOf(database.sha256))
    damages.push(...found.map((fault) => `database: ${fault}`))
  }
  const repositories = byRepository(files)
  const onRepository = (count: number) => say(`repository ${count} of ${repositories.size}`)
  damages.push(...(await checkRepositories(folder, repositories, { signal, onRepository })))
  const known = new Set(manifest.faults)
  return {
    manifest,
    damages: shortened(damages.filter((damage) => !known.has(damage))),
    faults: manifest.faults,
  }
}

/** Files that are missing or have another size: a quick look. */
export function missingFiles(folder: BackupFolder, files: readonly BackupFile[]): string[] {
  const store = folder.store()
  return files.flatMap(({ path, sha256, size }) => {
    const found = statSync(store.pathOf(sha256), { throwIfNoEntry: false })
    if (!found) return [`${path} is missing`]
    return found.size === size ? [] : [`${path} has another size`]
  })
}

async function damagedFiles(
  folder: BackupFolder,
  files: readonly BackupFile[],
  { say, signal }: Pick<VerifyOptions, 'say' | 'signal'>,
): Promise<string[]> {
  const damages = missingFiles(folder, files)
  if (damages.length > 0) return damages
  const store = folder.store()
  const seen = new Set<string>()
  for (const [at, { path, sha256 }] of files.entries()) {
    if (seen.has(sha256)) continue
    signal.throwIfAborted()
    say(`file ${at} of ${files.length}`)
    seen.add(sha256)
    const found = await hashFile(store.pathOf(sha256))
    if (found.sha256 !== sha256) damages.push(`${path} has other bytes`)
  }
  return damages
}

export function shortened(damages: readonly string[]): string[] {
  const more = damages.length - mostNamed
  return more > 0 ? [...damages.slice(0, mostNamed), `and ${more} more`] : [...damages]
}

/** The name of a backup: the one that was asked for, or the newest that can be read. */
export async function chooseBackup(folder: BackupFolder, wanted?: string): Promise<string> {
  if (wanted !== undefined) return wanted
  const all = await folder.list()
  const newest = all.at(-1)
  if (!newest) throw new DamagedBackup(`there is no backup in ${folder.path} yet`)
  // The older one would be another state than the one that is expected.
  if (newest.damage !== undefined) throw new DamagedBackup(newest.damage)
  return newest.name
}
