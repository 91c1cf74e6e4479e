import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { DOTENV_PURPOSE } from '../pipelines/dotenv-purpose.ts'
import { findArtifact, replaceJobVariables } from './queries.ts'
import { readReportText } from './report-text.ts'

const MOST_VARIABLES = 150
const MOST_BYTES = 16 * 1024

/** The variables of a dotenv report: `KEY=value` lines, quotes around a value left out. */
function parseDotenv(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const line of text.slice(0, MOST_BYTES).split(/\r?\n/)) {
    const [, key, value = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key === undefined || found.size >= MOST_VARIABLES) continue
    found.set(key, /^(['"])(.*)\1$/.exec(value)?.[2] ?? value)
  }
  return found
}

/** Keeps the variables of a dotenv report for the jobs that come after; they are there before the job ends. */
export async function saveDotenv(ctx: Ctx, jobId: number): Promise<void> {
  const artifact = await findArtifact(ctx.db, jobId, 'dotenv')
  const text = artifact && (await readReportText(ctx, artifact))
  if (text === undefined) return
  const rows = [...parseDotenv(text)].map(([key, value]) => ({
    job_id: jobId,
    key,
    sealed_value: ctx.vault.seal(value, DOTENV_PURPOSE),
  }))
  await inTransaction(ctx, (ctx) => replaceJobVariables(ctx.db, jobId, rows))
}
