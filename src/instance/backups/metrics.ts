import { metric } from '../../base/metrics.ts'
import type { Db } from '../../store/schema.ts'
import { findLastBackup, findLastMadeBackup } from './queries.ts'

const states = ['success', 'faulty', 'failed'] as const

/** What became of the last backup, for Prometheus; nothing before the first. */
export async function backupLines(db: Db): Promise<string[]> {
  const last = await findLastBackup(db)
  if (!last) return []
  const made = await findLastMadeBackup(db)
  const byState = Object.fromEntries(
    states.map((state) => [`state="${state}"`, state === last.state ? 1 : 0]),
  )
  const seconds = (Date.parse(last.finished_at) - Date.parse(last.started_at)) / 1000
  return [
    ...metric('gitstead_backup_last_state', 'gauge', 'What became of the last backup', byState),
    ...gauge('gitstead_backup_last_duration_seconds', 'How long the last backup took', seconds),
    ...(made
      ? [
          ...gauge(
            'gitstead_backup_last_made_timestamp_seconds',
            'When the last backup was made that can be restored',
            Date.parse(made.finished_at) / 1000,
          ),
          ...gauge('gitstead_backup_last_bytes', 'What it holds', made.bytes),
          ...gauge('gitstead_backup_last_new_bytes', 'What was written for it', made.new_bytes),
        ]
      : []),
  ]
}

function gauge(name: string, help: string, value: number): string[] {
  return metric(name, 'gauge', help, { '': value })
}
