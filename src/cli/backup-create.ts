import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import type { Config } from '../base/config.ts'
import { silentLog } from '../base/log.ts'
import { StartError } from '../base/start-error.ts'
import { createBackup } from '../instance/backups/create/create-backup.ts'
import { assertFree, intoArchive, meansArchive } from '../instance/backups/folder/archive.ts'
import { BackupFolder } from '../instance/backups/folder/backup-folder.ts'
import type { Manifest } from '../instance/backups/folder/manifest.ts'
import { removeOldBackups } from '../instance/backups/folder/retention.ts'
import { type BackupResult, recordBackup } from '../instance/backups/record.ts'
import { openCommandParts } from '../parts.ts'
import { type Call, command, UsageError } from './command.ts'
import { newPassphrase, passphraseOption } from './passphrase.ts'

const options = {
  to: {
    type: 'string',
    value: '<folder|file.tar>',
    doc: 'Folder of backups, or one new file; otherwise GITSTEAD_BACKUP_FOLDER',
  },
  incremental: {
    type: 'boolean',
    doc: 'Read only what has changed since the last backup in the folder',
  },
  keep: {
    type: 'string',
    value: '<number>',
    doc: 'Remove older backups from the folder once so many are whole',
  },
  'passphrase-file': passphraseOption,
} as const

export const backupCreate = command({
  name: 'backup create',
  summary: 'Make a backup of everything, while the server runs or not',
  args: [],
  options,
  givesWay: true,
  async run(call) {
    const config = call.config()
    const to = resolve(targetOf(config, call.options.to))
    const keep = readKeep(call.options.keep)
    const isFile = meansArchive(to)
    if (isFile && (call.options.incremental || keep !== undefined)) {
      throw new UsageError('--incremental and --keep are for a folder of backups')
    }
    if (isFile) await assertFree(to)
    const passphrase = await newPassphrase(call, call.options['passphrase-file'])
    const started = systemClock()
    const make = async (folder: BackupFolder) => {
      await folder.make()
      return await createBackup({
        data: config.data,
        folder,
        incremental: call.options.incremental ?? false,
        passphrase,
        secretKey: config.secretKey,
        now: systemClock,
        say: call.progress.say,
        signal: call.signal,
      })
    }
    const about = { folder: to, started_at: started }
    try {
      const manifest = isFile ? await intoArchive(to, make) : await make(new BackupFolder(to))
      await record(config, { ...about, manifest })
      const removed = keep === undefined ? [] : await removeOldBackups(new BackupFolder(to), keep)
      return answer(to, manifest, removed)
    } catch (error) {
      // Where the database cannot be used either, that is what is said below.
      await recorded(config, { ...about, error: errorText(error) }).catch(() => {})
      throw error
    }
  },
})

function targetOf(config: Config, given: string | undefined): string {
  const to = given ?? config.backupFolder
  if (to === undefined) throw new UsageError('--to is missing (gitstead backup create --help)')
  return to
}

function readKeep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError('--keep is a number from 1')
  return Number(text)
}

/** For metrics, the API and `doctor`. A database of another version, or a full disk, takes nothing from the backup. */
async function record(config: Config, result: BackupResult): Promise<void> {
  try {
    await recorded(config, result)
  } catch (error) {
    process.emitWarning(`the result is not recorded (${errorText(error)})`)
  }
}

async function recorded(config: Config, result: BackupResult): Promise<void> {
  const parts = await openCommandParts(config, { log: silentLog, mayMigrate: false })
  await recordBackup(parts.makeCtx(), result).finally(() => parts.close())
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function answer(to: string, manifest: Manifest, removed: readonly string[]) {
  const { name, repositories, refs, files, bytes, new_bytes: added, faults } = manifest
  const lines = [
    ...faults.map((fault) => `FAILURE ${fault}`),
    `backup ${name} in ${to}: ${repositories} repositories with ${refs} refs, ${files} files, ${megabytes(bytes)}, of which ${megabytes(added)} were written`,
    ...removed.map((old) => `removed ${old}`),
    ...(faults.length > 0
      ? ['what is named above was damaged before the backup, and is so in it: see gitstead doctor']
      : []),
  ]
  return {
    lines,
    data: { ...withoutSecrets(manifest), removed },
    exitCode: faults.length > 0 ? 1 : 0,
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`
}

/** What programs may read of a backup. */
export function withoutSecrets({ secrets: _secrets, ...rest }: Manifest) {
  return rest
}

/** Where backups are read from: a folder, or a file. */
export function sourceOf(call: Pick<Call, 'config'>, given: string | undefined): string {
  const from = given ?? call.config().backupFolder
  if (from === undefined) throw new UsageError('--from is missing: the folder or file of backups')
  if (from === '') throw new StartError('--from is empty')
  return resolve(from)
}
