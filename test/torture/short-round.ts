import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Report } from '../../scripts/torture/report.ts'
import type { Round, RoundOptions } from '../../scripts/torture/round.ts'

/** What a short run of a round said, and what it found. */
export interface ShortRun {
  readonly lines: readonly string[]
  /** What failed, each with the line that makes it again. */
  readonly failures: readonly string[]
}

/** Runs a round of `npm run torture` with few cases and the same seed each time. */
export async function runShort(
  round: Round,
  options: Partial<Pick<RoundOptions, 'count' | 'seconds' | 'seed'>>,
): Promise<ShortRun> {
  const folder = await mkdtemp(join(tmpdir(), `gitstead-torture-${round.name}-`))
  const lines: string[] = []
  const report = new Report((line) => void lines.push(line))
  const given = { seed: 1, from: 0, only: undefined, ...round.usual, ...options, folder }
  try {
    await round.run(given, report)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const failures = report.failures.map(({ what, again, log }) =>
    [what, again, log].filter((part) => part !== undefined).join('\n'),
  )
  return { lines, failures }
}
