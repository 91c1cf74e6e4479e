import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import type { Config } from '../../../base/config.ts'
import { openTrace, tracePath } from '../../../ci/traces/trace-file.ts'
import type { BackupSource } from './backup-source.ts'

interface ShortLog {
  readonly job_id: number
  /** What was received, and what is there. */
  readonly size: number
  readonly length: number
}

/**
 * Fills what the log of a running job has lost from a backup. The runner sends again what came after the backup, since answers
 * name where the log ends. Gives what was done; undefined where no backup knows more than is there.
 */
export async function mendLog(
  config: Pick<Config, 'data'>,
  { job_id: jobId, size, length }: ShortLog,
  backup: BackupSource,
): Promise<string | undefined> {
  const found = await backup.findLog(relative(config.data, tracePath(config, jobId)))
  const known = found ? await readFile(found.path) : Buffer.alloc(0)
  if (!found || known.length <= length) return undefined
  const kept = Math.min(known.length, size)
  const file = await openTrace(config, jobId)
  try {
    await file.write(known, length, kept - length, length)
    await file.sync()
  } finally {
    await file.close()
  }
  const rest = kept === size ? '' : `, ${size - kept} bytes are left for its runner to send again`
  return `put back from the backup ${found.backup}${rest}`
}
