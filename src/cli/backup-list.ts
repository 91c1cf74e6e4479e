import { withBackups } from '../instance/backups/folder/archive.ts'
import type { KnownBackup } from '../instance/backups/folder/backup-folder.ts'
import { chooseBackup, verifyBackup } from '../instance/backups/verify-backup.ts'
import { sourceOf, withoutSecrets } from './backup-create.ts'
import { command } from './command.ts'
import { passphraseOfFile, passphraseOption } from './passphrase.ts'

const from = {
  type: 'string',
  value: '<folder|file.tar>',
  doc: 'Folder or file of backups; otherwise GITSTEAD_BACKUP_FOLDER',
} as const

export const backupList = command({
  name: 'backup list',
  summary: 'List the backups in a folder',
  args: [],
  options: { from },
  async run(call) {
    const source = sourceOf(call, call.options.from)
    const known = await withBackups(source, source, (folder) => folder.list())
    return {
      lines: known.length > 0 ? known.map(lineOf) : ['no backups yet'],
      data: known.map(({ name, manifest, damage }) => ({
        name,
        damage: damage ?? null,
        ...(manifest ? withoutSecrets(manifest) : {}),
      })),
    }
  },
})

function lineOf({ name, manifest, damage }: KnownBackup): string {
  if (!manifest) return `${name}  ${damage}`
  const size = `${(manifest.bytes / 1024 ** 2).toFixed(1)} MB`
  const faults = manifest.faults.length > 0 ? `  ${manifest.faults.length} faults` : ''
  return `${name}  ${manifest.at}  Gitstead ${manifest.version}  ${manifest.repositories} repositories  ${size}${faults}`
}

export const backupVerify = command({
  name: 'backup verify',
  summary: 'Read every byte of a backup, with its database and repositories',
  args: [],
  options: {
    from,
    backup: { type: 'string', value: '<name>', doc: 'Its name in the list; the newest by default' },
    all: { type: 'boolean', doc: 'Every backup of the folder' },
    'passphrase-file': {
      ...passphraseOption,
      doc: 'File whose first line is the passphrase, with which the secrets are opened too',
    },
  },
  async run(call) {
    const { backup, all, 'passphrase-file': file } = call.options
    const source = sourceOf(call, call.options.from)
    const passphrase = await passphraseOfFile(call, file)
    const { progress, signal } = call
    return await withBackups(source, source, async (folder) => {
      const names = all
        ? (await folder.list()).map(({ name }) => name)
        : [await chooseBackup(folder, backup)]
      const lines: string[] = []
      const data: object[] = []
      let isWhole = names.length > 0
      for (const name of names) {
        const found = await verifyBackup(folder, name, { passphrase, say: progress.say, signal })
        const wrong = [...found.damages, ...found.faults]
        if (wrong.length > 0) isWhole = false
        lines.push(
          ...found.damages.map((damage) => `FAILURE ${name}: ${damage}`),
          ...found.faults.map((fault) => `FAILURE ${name}: damaged before the backup: ${fault}`),
          found.damages.length > 0 ? `${name} is damaged` : `${name} is as it was written`,
        )
        data.push({ name, damages: found.damages, faults: found.faults })
      }
      return { lines, data, exitCode: isWhole ? 0 : 1 }
    })
  },
})
