import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../../../base/config.ts'
import { ownedName } from '../../../base/process-mark.ts'
import { BackupFolder } from '../../backups/folder/backup-folder.ts'
import { hashFile } from '../../backups/folder/content-store.ts'
import type { BackupFile, Manifest } from '../../backups/folder/manifest.ts'
import { openSecrets } from '../../backups/folder/seal.ts'

/** So many backups are looked into, the newest first. */
const mostBackups = 5

interface Known {
  readonly manifest: Manifest
  readonly files: ReadonlyMap<string, BackupFile>
}

/**
 * What the backups of the settings (`GITSTEAD_BACKUP_FOLDER`) can give back. Nothing is taken from them that is not, byte
 * for byte, what was written.
 */
export class BackupSource {
  readonly #config: Pick<Config, 'data' | 'backupFolder' | 'backupPassphraseFile'>
  #backups: Promise<readonly Known[]> | undefined
  readonly #scratch: string

  constructor(config: Pick<Config, 'data' | 'backupFolder' | 'backupPassphraseFile'>) {
    this.#config = config
    this.#scratch = join(config.data, 'tmp', ownedName('mend-'))
  }

  /** A stored file by its hash. */
  async findFile(sha256: string): Promise<{ path: string; backup: string } | undefined> {
    const path = `files/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
    return await this.#find(path, (file) => file.sha256 === sha256)
  }

  /** The log of a job that was running when a backup was made, as the newest has it. */
  async findLog(path: string): Promise<{ path: string; backup: string } | undefined> {
    return await this.#find(path)
  }

  /** The newest database. */
  async findDatabase(): Promise<{ path: string; backup: string } | undefined> {
    return await this.#find('gitstead.db')
  }

  /** The files with objects of a repository (`repositories/2a/42.git`), as a folder of objects; undefined for none. */
  async objectsOf(repository: string): Promise<string | undefined> {
    const folder = join(this.#scratch, repository, 'objects')
    for (const { files } of await this.#all()) {
      for (const [path, { sha256 }] of files) {
        if (!path.startsWith(`${repository}/objects/`)) continue
        const target = join(this.#scratch, path)
        if (existsSync(target)) continue
        const source = this.#folder().store().pathOf(sha256)
        if ((await hashOf(source)) !== sha256) continue
        mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
        symlinkSync(source, target)
      }
    }
    return existsSync(folder) ? folder : undefined
  }

  /** The refs of a repository, as the newest backup has them that has it at all. */
  async refsOf(repository: string): Promise<Map<string, string>> {
    const found = await this.#find(`${repository}/packed-refs`)
    const text = found ? readFileSync(found.path, 'utf8') : ''
    return new Map(
      text.split('\n').flatMap((line) => {
        const [, id, name] = /^([0-9a-f]{40,64}) (refs\/.+)$/.exec(line) ?? []
        return id === undefined || name === undefined ? [] : [[name, id] as const]
      }),
    )
  }

  /** `secret.key`, as the newest backup has it; undefined without the passphrase in the settings. */
  async secretKey(): Promise<{ key: string; backup: string } | undefined> {
    const file = this.#config.backupPassphraseFile
    const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '')
    const passphrase = text.split(/\r?\n/)[0] ?? ''
    if (passphrase === '') return undefined
    for (const { manifest } of await this.#all()) {
      const secrets = await openSecrets(manifest.secrets, passphrase).catch(() => undefined)
      const key = secrets?.['secret.key']
      if (key !== undefined) return { key, backup: manifest.name }
    }
    return undefined
  }

  close(): void {
    rmSync(this.#scratch, { recursive: true, force: true })
  }

  async #find(path: string, isIt: (file: BackupFile) => boolean = () => true) {
    for (const { manifest, files } of await this.#all()) {
      const file = files.get(path)
      if (!file || !isIt(file)) continue
      const source = this.#folder().store().pathOf(file.sha256)
      if ((await hashOf(source)) === file.sha256) return { path: source, backup: manifest.name }
    }
    return undefined
  }

  #folder(): BackupFolder {
    return new BackupFolder(this.#config.backupFolder ?? '')
  }

  #all(): Promise<readonly Known[]> {
    this.#backups ??= this.#read()
    return this.#backups
  }

  async #read(): Promise<readonly Known[]> {
    if (this.#config.backupFolder === undefined) return []
    const folder = this.#folder()
    const known: Known[] = []
    for (const { manifest } of (await folder.list()).reverse()) {
      if (!manifest || known.length === mostBackups) continue
      // One whose list is damaged gives nothing.
      const files = await folder.files(manifest).catch(() => [])
      known.push({ manifest, files: new Map(files.map((file) => [file.path, file])) })
    }
    return known
  }
}

async function hashOf(path: string): Promise<string | undefined> {
  return existsSync(path) ? (await hashFile(path)).sha256 : undefined
}
