import { RE2JS } from 're2js'
import type { Ctx } from '../../ctx.ts'
import { jobOf, setCoverage } from '../pipelines/process/running.ts'
import { readTraceEnd } from '../traces/read-trace.ts'

/** How much of the end of a log is searched. */
const MOST_BYTES = 2 * 1024 * 1024

/** Finds the coverage in the log of a job, as its `coverage` says: the last match counts (docs/contract/D §5.2). */
export async function readCoverage(ctx: Ctx, jobId: number): Promise<void> {
  const job = await jobOf(ctx.db, jobId)
  if (!job?.coverage_regex || job.coverage !== null) return
  const found = coverageIn(await readTraceEnd(ctx, jobId, MOST_BYTES), job.coverage_regex)
  if (found !== undefined) await setCoverage(ctx, jobId, found)
}

/** The number of the last match: in its group, or in all of it. */
function coverageIn(text: string, pattern: string): number | undefined {
  const [, source = pattern, flags = ''] = /^\/(.+)\/([ims]*)$/s.exec(pattern) ?? []
  let last: string | undefined
  try {
    const compiled = RE2JS.compile(flags === '' ? source : `(?${flags})${source}`)
    for (const line of text.split(/\r\n|\r|\n/)) {
      const matcher = compiled.matcher(line.slice(0, 10_000))
      while (matcher.find())
        last = matcher.groupCount() > 0 ? (matcher.group(1) ?? '') : (matcher.group() ?? '')
    }
  } catch {
    return undefined
  }
  const number = /\d+(?:\.\d+)?/.exec(last ?? '')?.[0]
  return number === undefined ? undefined : Math.min(Number(number), 1e6)
}
