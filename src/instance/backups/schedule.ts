import { Cron } from 'croner'
import { cronSchedule, type Schedule } from '../../background/schedule.ts'
import type { Config } from '../../base/config.ts'
import { StartError } from '../../base/start-error.ts'
import { createScheduledBackup } from './tasks.ts'

/** When the server makes backups by itself; refuses settings that would have it fail each time. */
export function backupSchedules(config: Config): Schedule[] {
  const { backupSchedule: times, backupFolder, backupPassphraseFile } = config
  if (times === undefined) return []
  if (backupFolder === undefined) throw missing('GITSTEAD_BACKUP_FOLDER')
  if (backupPassphraseFile === undefined) throw missing('GITSTEAD_BACKUP_PASSPHRASE_FILE')
  const cron = new Cron(times, { mode: '5-part', timezone: 'UTC', paused: true })
  return [
    cronSchedule(createScheduledBackup, {}, (now) => {
      // Cron counts seconds.
      const after = new Date((Math.floor(Date.parse(now) / 1000) + 1) * 1000)
      return cron.previousRuns(1, after)[0]?.toISOString() ?? now
    }),
  ]
}

function missing(name: string): StartError {
  return new StartError(`GITSTEAD_BACKUP_SCHEDULE needs ${name}`)
}
