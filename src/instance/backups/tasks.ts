import { resolve } from 'node:path'
import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Config } from '../../base/config.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser } from '../../identity/mail/mail-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type BackupRow, findLastBackup, listAdministrators } from './queries.ts'
import { recordBackup } from './record.ts'
import { runCommand } from './run-command.ts'

const longestMs = 24 * 3_600_000

/**
 * Makes a backup as the settings say, by the command in a process of its own, and writes to administrators when that
 * fails, or finds something damaged. One that a stop of the server has cut off is made after the next start.
 */
export const createScheduledBackup = task({
  name: 'backups.create',
  payload: z.object({}),
  lane: 'slow',
  attempts: 1,
  timeout: longestMs,
  async handler(ctx: Ctx, _payload, signal) {
    const { backupFolder: folder } = ctx.config
    // The schedule was taken out of the settings meanwhile.
    if (folder === undefined) return
    const started = ctx.now()
    const before = (await findLastBackup(ctx.db))?.id
    const said = await createBackup(ctx.config, folder, signal)
    signal.throwIfAborted()
    let last = await findLastBackup(ctx.db)
    if (last === undefined || last.id === before) {
      await recordBackup(ctx, { folder: resolve(folder), started_at: started, error: said })
      last = await findLastBackup(ctx.db)
    }
    if (last && last.state !== 'success') await reportFailure(ctx, last)
  },
})

/** Runs `gitstead backup create`; gives the end of what it said. */
async function createBackup(config: Config, folder: string, signal: AbortSignal): Promise<string> {
  const options = ['--to', folder, '--incremental', '--keep', String(config.backupKeep)]
  const passphrase = ['--passphrase-file', config.backupPassphraseFile ?? '']
  const { end, said } = await runCommand(
    config,
    ['backup', 'create', ...options, ...passphrase],
    signal,
  )
  return `the command ended with ${end}: ${said.trim().split('\n').at(-1) ?? ''}`
}

async function reportFailure(ctx: Ctx, row: BackupRow): Promise<void> {
  const { subject, text } = letter(row)
  ctx.log.error(subject, { backup: row.name, error: row.error, folder: row.folder })
  await inTransaction(ctx, async (ctx) => {
    for (const id of await listAdministrators(ctx.db)) {
      await mailUser(ctx, id, { subject, text, key: `backup-${row.id}` })
    }
  })
}

function letter({ name, folder, error, faults }: BackupRow) {
  if (error !== null) {
    return {
      subject: 'No backup was made',
      text: `The backup of Gitstead to ${folder} has failed:\n\n${error}\n\nOlder backups are still there: gitstead backup list.\n`,
    }
  }
  const found = JSON.parse(faults) as string[] // written by `recordBackup`
  return {
    subject: 'Data is damaged',
    text: `The backup ${name} of Gitstead is made, but what it copied is damaged in part:\n\n${found.join('\n')}\n\ngitstead doctor shows more. An older backup may have it whole: gitstead backup list.\n`,
  }
}
