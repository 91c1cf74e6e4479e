import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder } from '../../../base/make-folder.ts'
import { ownedName } from '../../../base/process-mark.ts'
import { reasonOf, StartError, systemRefusal } from '../../../base/start-error.ts'
import { lockFile } from '../../../store/sqlite/lock.ts'
import { clearTemporary } from '../../../store/temporary.ts'
import { ContentStore } from './content-store.ts'
import {
  type BackupFile,
  DamagedBackup,
  type Manifest,
  readList,
  readManifest,
  sha256Of,
  writeList,
  writeManifest,
} from './manifest.ts'

const readme = `Backups of a Gitstead server.

backups/   one folder for each: manifest.json says what it is, files.tsv lists its files (SHA-256, size, time of change, path)
store/     the bytes of all of them, each file under its SHA-256

To get everything back, on a machine with Gitstead of the same version or a newer one:

  gitstead backup list    --from <this folder>
  gitstead backup verify  --from <this folder>
  gitstead backup restore --from <this folder> --data <an empty folder>

It asks for the passphrase that seals the secrets of the server. Do not change or remove anything in here by hand.
`

/** A backup in a folder, be it damaged. */
export interface KnownBackup {
  readonly name: string
  readonly manifest: Manifest | undefined
  /** Why it is of no use. */
  readonly damage: string | undefined
}

/** A folder that holds backups, as many as one wants, and nothing else. */
export class BackupFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Makes the folder if need be; refuses one that holds other things. */
  async make(): Promise<void> {
    try {
      makeFolder(this.path)
      const names = await readdir(this.path)
      if (names.length > 0 && !names.includes('backups')) {
        throw new StartError(`${this.path} holds something else than backups: name an empty folder`)
      }
      for (const name of ['backups', 'store', 'tmp']) {
        await mkdir(join(this.path, name), { recursive: true, mode: 0o700 })
      }
      await writeFile(join(this.path, 'README.txt'), readme)
    } catch (error) {
      if (error instanceof StartError) throw error
      throw new StartError(
        `the folder ${this.path} cannot be written (${systemRefusal(error) ?? reasonOf(error)})`,
      )
    }
  }

  /** Refuses a folder that holds no backups. */
  assertThere(): void {
    if (!existsSync(join(this.path, 'backups'))) {
      throw new StartError(`${this.path} holds no backups`)
    }
  }

  /** Takes the folder for this process, and removes what a killed one left; or refuses in one line. */
  async lock(): Promise<() => void> {
    const lock = lockFile(join(this.path, 'backup.lock'))
    if (!lock) throw new StartError(`another backup is being made in ${this.path}`)
    await clearTemporary(join(this.path, 'tmp'))
    return lock
  }

  /** A path for what is not finished. */
  temporary(prefix: string): string {
    return join(this.path, 'tmp', ownedName(prefix))
  }

  store(trusted?: ReadonlySet<string>): ContentStore {
    return new ContentStore(this.path, trusted)
  }

  /** All backups, the oldest first. */
  async list(): Promise<KnownBackup[]> {
    const names = await readdir(join(this.path, 'backups')).catch(() => [])
    const found: KnownBackup[] = []
    for (const name of names.sort()) {
      try {
        found.push({ name, manifest: await this.manifest(name), damage: undefined })
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        found.push({ name, manifest: undefined, damage: error.message })
      }
    }
    return found
  }

  async manifest(name: string): Promise<Manifest> {
    try {
      return readManifest(name, await readFile(join(this.#folderOf(name), 'manifest.json'), 'utf8'))
    } catch (error) {
      if (error instanceof StartError) throw error
      if (!existsSync(this.#folderOf(name))) {
        throw new StartError(
          `${this.path} holds no backup ${name}: gitstead backup list shows them`,
        )
      }
      throw new DamagedBackup(`the backup ${name} is damaged: its manifest cannot be read`)
    }
  }

  async files(manifest: Manifest): Promise<BackupFile[]> {
    const path = join(this.#folderOf(manifest.name), 'files.tsv')
    const text = await readFile(path, 'utf8').catch(() => '')
    return readList(manifest, text)
  }

  /** Everything of the backup is on the disk when this returns; before, there is none of that name. */
  async add(given: Omit<Manifest, 'list_sha256'>, files: readonly BackupFile[]): Promise<Manifest> {
    const draft = this.temporary('backup-')
    const list = writeList(files)
    const manifest = { ...given, list_sha256: sha256Of(list) }
    await mkdir(draft, { mode: 0o700 })
    await writeFile(join(draft, 'files.tsv'), list, { mode: 0o600 })
    await writeFile(join(draft, 'manifest.json'), writeManifest(manifest), { mode: 0o600 })
    await syncFileSystem(this.path)
    await rename(draft, this.#folderOf(manifest.name))
    await syncFileSystem(this.path)
    return manifest
  }

  async remove(name: string): Promise<void> {
    const gone = this.temporary('gone-')
    await rename(this.#folderOf(name), gone)
    await rm(gone, { recursive: true, force: true })
  }

  #folderOf(name: string): string {
    if (!/^[\w.-]+$/.test(name) || name.startsWith('.')) {
      throw new StartError(`'${name}' is no name of a backup, see gitstead backup list`)
    }
    return join(this.path, 'backups', name)
  }
}

/** Brings all that was written to the file system of a folder onto the disk: one call in place of one for each file. */
export async function syncFileSystem(folder: string): Promise<void> {
  try {
    await promisify(execFile)('sync', ['-f', folder])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Where there is only Node and git.
    const below = await readdir(folder, { recursive: true })
    for (const name of ['', ...below]) await syncOne(join(folder, name))
  }
}

async function syncOne(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}
