import { byteCache } from '../base/byte-cache.ts'
import { runInWorker, WorkerLimitError } from '../base/workers/worker-pool.ts'
import type { HighlightJob } from './highlight-text.ts'

/** Most characters of a file that is highlighted, and the milliseconds that it may take: others are shown plain. */
const longestText = 500_000
const timeoutMs = 2000
const shortText = 20_000

/** The lines of a file by its blob and name; a file that has none is remembered too. */
const known = byteCache<readonly string[]>(32 * 1024 * 1024, (lines) =>
  lines.reduce((sum, line) => sum + line.length * 2 + 16, 0),
)

/**
 * HTML for each line of a file, which may be shown as it is; undefined where the language is not known, or the file is larger
 * or takes longer than there is time for. `blob` is the id of its contents.
 */
export async function highlightLines(
  blob: string,
  job: HighlightJob,
  caller: string | undefined,
): Promise<readonly string[] | undefined> {
  if (job.text.length > longestText) return undefined
  const key = `${blob} ${job.name.split('.').at(-1)}`
  const kept = known.get(key)
  if (kept) return kept.length === 0 ? undefined : kept
  const lines = await highlighted(job, caller)
  if (lines !== 'busy') known.set(key, lines ?? [])
  return lines === 'busy' ? undefined : lines
}

async function highlighted(job: HighlightJob, caller: string | undefined) {
  try {
    return await runInWorker<HighlightJob, string[] | undefined>(job, {
      module: new URL('./highlight-text.ts', import.meta.url),
      name: 'highlightText',
      timeoutMs,
      isLong: job.text.length > shortText,
      caller,
    })
  } catch (error) {
    if (!(error instanceof WorkerLimitError)) throw error
    return error.limit === 'waiting' ? ('busy' as const) : undefined
  }
}
