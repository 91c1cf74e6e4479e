import { migrations } from '../areas.ts'
import { silentLog } from '../base/log.ts'
import { withBackups } from '../instance/backups/folder/archive.ts'
import type { Manifest } from '../instance/backups/folder/manifest.ts'
import { restoreBackup } from '../instance/backups/restore-backup.ts'
import { chooseBackup } from '../instance/backups/verify-backup.ts'
import { listProjectsAfter } from '../instance/health/queries.ts'
import { openCommandParts } from '../parts.ts'
import { enqueueUpkeep } from '../repositories/refs/upkeep.ts'
import { knownSteps } from '../store/migration.ts'
import { sourceOf, withoutSecrets } from './backup-create.ts'
import { type Call, command } from './command.ts'
import { doctor } from './doctor.ts'
import { knownPassphrase, passphraseOption } from './passphrase.ts'

export const backupRestore = command({
  name: 'backup restore',
  summary: 'Restore a backup into an empty data folder',
  args: [],
  options: {
    from: {
      type: 'string',
      value: '<folder|file.tar>',
      doc: 'Folder or file of backups; otherwise GITSTEAD_BACKUP_FOLDER',
    },
    backup: { type: 'string', value: '<name>', doc: 'Its name in the list; the newest by default' },
    'passphrase-file': passphraseOption,
  },
  async run(call) {
    const { data } = call.config()
    const source = sourceOf(call, call.options.from)
    const manifest = await withBackups(source, data, async (folder) =>
      restoreBackup(folder, {
        data,
        name: await chooseBackup(folder, call.options.backup),
        passphrase: () => knownPassphrase(call, call.options['passphrase-file']),
        migrations: knownSteps(migrations),
        say: call.progress.say,
        signal: call.signal,
      }),
    )
    await prepare(call)
    const health = await doctor.run({ ...call, args: [], options: {} })
    return {
      lines: [...restored(data, manifest), ...health.lines],
      data: { restored: withoutSecrets(manifest), doctor: health.data },
      exitCode: health.exitCode ?? 0,
    }
  },
})

/** Brings the schema up to date, and has the server make what backups leave out: the graphs of commits. */
async function prepare({ config, progress }: Call): Promise<void> {
  progress.say('the database is brought up to date')
  const parts = await openCommandParts(config(), { log: silentLog })
  try {
    const ctx = parts.makeCtx()
    for (let last = 0; ; ) {
      const projects = await listProjectsAfter(ctx.db, last, 200)
      if (projects.length === 0) return
      for (const { id } of projects) {
        last = id
        await enqueueUpkeep(ctx, id)
      }
    }
  } finally {
    await parts.close()
  }
}

function restored(data: string, { name, at, faults }: Manifest): string[] {
  return [
    `restored ${name}, the state of ${at}, into ${data}`,
    ...faults.map((fault) => `FAILURE damaged before the backup: ${fault}`),
  ]
}
