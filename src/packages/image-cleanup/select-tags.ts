import { type Instant, later } from '../../base/clock.ts'
import { wholeMatch } from '../../base/whole-match.ts'

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

/** Says of each tag whether it goes, of one after the other in the order of their pushes, newest first. `latest` stays. */
export function tagSelector(selection: TagSelection, now: Instant): (tag: Tag) => boolean {
  const wanted = wholeMatch(selection.name_regex ?? '')
  const kept = selection.name_regex_keep ? wholeMatch(selection.name_regex_keep) : undefined
  const span = selection.older_than === null ? 0 : spanOf(selection.older_than)
  if (!wanted || span === undefined) return () => false
  const before = later(now, -span)
  let newest = selection.keep_n ?? 0
  return ({ name, created_at }) => {
    if (name === 'latest' || !wanted.matches(name) || kept?.matches(name)) return false
    newest -= 1
    return newest < 0 && (span === 0 || created_at < before)
  }
}
