import { planLimit } from '../../access/plan-limits.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { DOTENV_PURPOSE } from '../pipelines/dotenv-purpose.ts'
import { type ArtifactRow, replaceJobVariables } from './queries.ts'
import { readReportBytes } from './report-text.ts'

const KEY = /^\w+$/
const LONGEST_KEY = 255
/** Around names and values, and no other: what is a space elsewhere belongs to a value. */
const SPACE = /^[\0\t\n\v\f\r ]+|[\0\t\n\v\f\r ]+$/g

/**
 * The variables of a dotenv report. Each line is `KEY=value` to its end: quotes and backslashes are part of the value, and there
 * are no comments, empty lines and `export`. A line that is none refuses the report, since a part of it would mislead.
 */
function parseDotenv(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.replace(/\n$/, '').split('\n')) {
    if (text === '') break
    const at = line.indexOf('=')
    if (at < 0) throw badRequest('Invalid Format')
    const key = line.slice(0, at).replace(SPACE, '')
    if (!KEY.test(key)) {
      throw badRequest("Validation failed: Key can contain only letters, digits and '_'.")
    }
    if (key.length > LONGEST_KEY) {
      throw badRequest(`Validation failed: Key is too long (maximum is ${LONGEST_KEY} characters)`)
    }
    found.set(key, line.slice(at + 1).replace(SPACE, ''))
  }
  return found
}

/** UTF-8, or what a mark at the beginning says: shells of Windows write UTF-16. Bytes that are neither are letters of Windows. */
function decode(bytes: Buffer): string {
  const marked = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : undefined
  const encoding = marked ?? (bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8')
  try {
    return new TextDecoder(encoding, { fatal: encoding === 'utf-8' }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** The variables of a dotenv report that came in; one larger than the plan allows is refused, since a part of it would mislead. */
export async function readDotenv(
  ctx: Ctx,
  report: Pick<ArtifactRow, 'sha256' | 'size' | 'file_format'>,
): Promise<ReadonlyMap<string, string>> {
  const mostBytes = planLimit(ctx.settings, 'dotenv_size')
  const bytes = await readReportBytes(ctx, report)
  if (bytes === undefined) throw badRequest('Dotenv Artifact cannot be read')
  if (mostBytes > 0 && bytes.length > mostBytes) {
    throw badRequest(`Dotenv Artifact Too Big. Maximum Allowable Size: ${mostBytes}`)
  }
  const found = parseDotenv(decode(bytes))
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
