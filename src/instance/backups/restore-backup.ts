import { linkSync, mkdirSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { gt } from 'semver'
import { makeFolder } from '../../base/make-folder.ts'
import { StartError } from '../../base/start-error.ts'
import { productVersion } from '../../base/version.ts'
import { closeToOthers, namesInUse } from '../../store/sqlite/data-folder.ts'
import { unfinishedRestore } from '../../store/unfinished-restore.ts'
import { byRepository } from './create/check-repositories.ts'
import { type BackupFolder, syncFileSystem } from './folder/backup-folder.ts'
import { copyOut } from './folder/content-store.ts'
import { type BackupFile, DamagedBackup, type Manifest } from './folder/manifest.ts'
import { openSecrets, type Secrets } from './folder/seal.ts'
import { missingFiles } from './verify-backup.ts'

export interface RestoreOptions {
  readonly data: string
  readonly name: string
  /** Asks for the passphrase, once everything else is known to be well. */
  readonly passphrase: () => Promise<string>
  /** The migrations that this program knows. */
  readonly migrations: readonly string[]
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Brings a backup into an empty data folder. The database comes last: before, no server starts there. What has been
 * written is read back and compared.
 */
export async function restoreBackup(
  folder: BackupFolder,
  { data, name, passphrase, migrations, say, signal }: RestoreOptions,
): Promise<Manifest> {
  const manifest = await folder.manifest(name)
  assertKnown(manifest, migrations)
  assertEmpty(data)
  const files = await folder.files(manifest)
  const [missing] = missingFiles(folder, files)
  if (missing !== undefined) throw damaged(name, missing)
  const secrets = await openSecrets(manifest.secrets, await passphrase())
  makeFolder(data)
  closeToOthers(data)
  const marker = unfinishedRestore(data)
  try {
    await writeFile(marker, `${name}\n`, { mode: 0o600, flush: true })
    await copyAll(folder, files, { data, name, say, signal })
    for (const repository of byRepository(files).keys()) layOutRepository(join(data, repository))
    await writeSecrets(data, secrets)
    await syncFileSystem(data)
    await rename(join(data, 'gitstead.db.restored'), join(data, 'gitstead.db'))
    await syncFileSystem(data)
    await rm(marker)
    return manifest
  } catch (error) {
    await empty(data)
    throw error
  }
}

/** It was empty before. */
async function empty(data: string): Promise<void> {
  for (const name of namesInUse(data)) {
    await rm(join(data, name), { recursive: true, force: true })
  }
}

/** A program may restore what it, or an older one, has written. */
function assertKnown({ name, version, migrations }: Manifest, known: readonly string[]): void {
  const names = new Set(known)
  const isNewer = gt(version, productVersion) || migrations.some((one) => !names.has(one))
  if (!isNewer) return
  const last = migrations.at(-1)
  throw new StartError(
    `the backup ${name} was made by Gitstead ${version} (${last}); this is Gitstead ${productVersion} ` +
      `(${known.at(-1)}): restore it with the newer program`,
  )
}

function assertEmpty(data: string): void {
  if (namesInUse(data).length === 0) return
  throw new StartError(`${data} is not empty: name an empty folder with --data`)
}

function damaged(name: string, what: string): DamagedBackup {
  return new DamagedBackup(
    `the backup ${name} is damaged: ${what}; restore another one, see gitstead backup list`,
  )
}

async function copyAll(
  folder: BackupFolder,
  files: readonly BackupFile[],
  { data, name, say, signal }: Pick<RestoreOptions, 'data' | 'name' | 'say' | 'signal'>,
): Promise<void> {
  const store = folder.store()
  // Forks share the files of their objects, as they did before.
  const objects = new Map<string, string>()
  for (const [at, { path, sha256 }] of files.entries()) {
    signal.throwIfAborted()
    say(`file ${at} of ${files.length}`)
    const isDatabase = path === 'gitstead.db'
    const target = join(data, isDatabase ? 'gitstead.db.restored' : path)
    const isObject = /^repositories\/.*\/objects\//.test(path)
    const same = isObject ? objects.get(sha256) : undefined
    if (same !== undefined && linked(same, target)) continue
    const written = await copyOut(store.pathOf(sha256), target, isObject ? 0o444 : modeOf(path))
    if (written !== sha256) throw damaged(name, `${path} has other bytes`)
    if (isObject) objects.set(sha256, target)
  }
}

function modeOf(path: string): number {
  return path.startsWith('repositories/') ? 0o644 : 0o600
}

function linked(from: string, to: string): boolean {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  try {
    linkSync(from, to)
    return true
  } catch {
    return false
  }
}

/** Folders without a file in them are in no list. */
function layOutRepository(path: string): void {
  for (const below of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(join(path, below), { recursive: true })
  }
}

async function writeSecrets(data: string, secrets: Secrets): Promise<void> {
  for (const [name, text] of Object.entries(secrets)) {
    await writeFile(join(data, basename(name)), text, { mode: 0o600, flag: 'wx' })
  }
}
