import { findTrace } from '../../../ci/traces/queries.ts'
import { traceLength } from '../../../ci/traces/trace-file.ts'
import type { Ctx } from '../../../ctx.ts'
import type { BackupSource } from '../mend/backup-source.ts'
import { mendLog } from '../mend/mend-log.ts'
import { listGrowingLogs } from '../queries.ts'
import { type Finding, finding, type Manner } from './finding.ts'

const atOnce = 1000

/** Logs of jobs that are still files of their own, and that are missing or shorter than what was received. */
export async function growingLogFindings(
  ctx: Pick<Ctx, 'db' | 'config'>,
  { mend }: Pick<Manner, 'mend'>,
  backup: BackupSource,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (let after = 0; ; ) {
    const rows = await listGrowingLogs(ctx.db, after, atOnce)
    for (const row of rows) {
      after = row.job_id
      findings.push(...(await logFindings(ctx, row, mend ? backup : undefined)))
    }
    if (rows.length < atOnce) return findings
  }
}

type GrowingLog = Awaited<ReturnType<typeof listGrowingLogs>>[number]

async function logFindings(
  ctx: Pick<Ctx, 'db' | 'config'>,
  row: GrowingLog,
  backup: BackupSource | undefined,
): Promise<Finding[]> {
  const length = await traceLength(ctx.config, row.job_id)
  if (length >= row.size || (await hasMoved(ctx, row))) return []
  const text = `of ${row.full_path} has ${length} of its ${row.size} bytes`
  const done = backup && (await mendLog(ctx.config, { ...row, length }, backup))
  return [finding(`log of job ${row.job_id}`, done ? 'ok' : 'failure', done ?? text)]
}

/** Whether the log has moved into the store, or was erased, meanwhile. */
async function hasMoved(
  { db }: Pick<Ctx, 'db'>,
  { job_id, size }: { readonly job_id: number; readonly size: number },
): Promise<boolean> {
  const now = await findTrace(db, job_id)
  return !now || now.sha256 !== null || now.size < size
}
