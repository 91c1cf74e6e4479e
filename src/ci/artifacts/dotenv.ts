import { planLimit } from '../../access/plan-limits.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { DOTENV_PURPOSE } from '../pipelines/dotenv-purpose.ts'
import { type ArtifactRow, replaceJobVariables } from './queries.ts'
import { readReportText } from './report-text.ts'

/** The variables of a dotenv report: `KEY=value` lines, quotes around a value left out. */
function parseDotenv(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, key, value = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key !== undefined) found.set(key, /^(['"])(.*)\1$/.exec(value)?.[2] ?? value)
  }
  return found
}

/** The variables of a dotenv report that came in; one larger than the plan allows is refused, since a part of it would mislead. */
export async function readDotenv(
  ctx: Ctx,
  report: Pick<ArtifactRow, 'sha256' | 'size' | 'file_format'>,
): Promise<ReadonlyMap<string, string>> {
  const mostBytes = planLimit(ctx.settings, 'dotenv_size')
  const text = await readReportText(ctx, report)
  if (text === undefined) throw badRequest('Dotenv Artifact cannot be read')
  if (mostBytes > 0 && Buffer.byteLength(text) > mostBytes) {
    throw badRequest(`Dotenv Artifact Too Big. Maximum Allowable Size: ${mostBytes}`)
  }
  const found = parseDotenv(text)
  const most = planLimit(ctx.settings, 'dotenv_variables')
  if (most > 0 && found.size > most) {
    throw badRequest(`Dotenv files cannot have more than ${most} variables`)
  }
  return found
}

/** Keeps the variables of a dotenv report for the jobs that come after; they are there before the job ends. */
export async function saveDotenv(
  ctx: Ctx,
  jobId: number,
  variables: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = [...variables].map(([key, value]) => ({
    job_id: jobId,
    key,
    sealed_value: ctx.vault.seal(value, DOTENV_PURPOSE),
  }))
  await inTransaction(ctx, (ctx) => replaceJobVariables(ctx.db, jobId, rows))
}
