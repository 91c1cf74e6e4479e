import { type Instant, later } from '../../base/clock.ts'
import { PatternBudget } from '../../base/patterns/budget.ts'
import type { Pattern } from '../../base/patterns/pattern.ts'

/** Which tags of a repository go. */
export interface TagSelection {
  /** Names that may go. */
  readonly name_regex: string | null
  /** Names that stay all the same. */
  readonly name_regex_keep: string | null
  /** How many of those that may go stay, the newest. */
  readonly keep_n: number | null
  /** Only tags that were pushed this long ago, such as `7d`. */
  readonly older_than: string | null
}

interface Tag {
  readonly name: string
  readonly created_at: Instant
}

const HOUR_MS = 3_600_000
const units: Readonly<Record<string, number>> = {
  h: HOUR_MS,
  d: 24 * HOUR_MS,
  w: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
  y: 365 * 24 * HOUR_MS,
}

/** A span such as `1h`, `7d` or `3month` in milliseconds; undefined when it is none. */
export function spanOf(text: string): number | undefined {
  const [, count, unit = ''] =
    /^(\d{1,4})\s*(h|d|w|month|y)(?:ours?|ays?|eeks?|s|ears?)?$/.exec(text) ?? []
  const size = units[unit]
  return count === undefined || size === undefined ? undefined : Number(count) * size
}

/** Milliseconds in workers: a repository may have very many tags, and nobody waits for it. */
const LONGEST_MS = 10_000

/** Gives those that go, of one list after the other in the order of their pushes, newest first. `latest` stays. */
export function tagSelector(
  selection: TagSelection,
  now: Instant,
): (tags: readonly Tag[]) => Promise<readonly Tag[]> {
  const span = selection.older_than === null ? 0 : spanOf(selection.older_than)
  if (span === undefined) return async () => []
  const before = later(now, -span)
  const budget = new PatternBudget({ timeoutMs: LONGEST_MS })
  const fits = (source: string | null, tags: readonly Tag[]) =>
    fitting(
      budget,
      source,
      tags.map((tag) => tag.name),
    )
  let newest = selection.keep_n ?? 0
  return async (tags) => {
    const wanted = await fits(selection.name_regex ?? '', tags)
    const kept = await fits(selection.name_regex_keep || null, tags)
    return tags.filter(({ name, created_at }, at) => {
      if (name === 'latest' || !wanted[at] || kept[at]) return false
      newest -= 1
      return newest < 0 && (span === 0 || created_at < before)
    })
  }
}

async function fitting(
  budget: PatternBudget,
  source: string | null,
  names: readonly string[],
): Promise<readonly boolean[]> {
  if (source === null) return []
  const pattern: Pattern = { source, whole: true }
  return await budget.testEach([pattern], names)
}
