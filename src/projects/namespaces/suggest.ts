import type { Instant } from '../../base/clock.ts'

/** A path made of what paths may hold: letter case stays (docs/contract/A-resolved §11). */
export function cleanPath(path: string): string {
  const allowed = path
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_.-]/g, '')
    .replace(/^[-]+/, '')
  const trimmed = allowed.replace(/(\.|\.git|\.atom)+$/i, '')
  return trimmed === '' ? 'blank' : trimmed
}

/** Suffixes that are tried before the clock is asked. */
const TRIES = [1, 2, 3, 4] as const

/** The words that a suggestion for this path may be. */
export function candidates(path: string): string[] {
  const base = cleanPath(path)
  return TRIES.map((suffix) => `${base}${suffix}`)
}

/** The first candidate that nobody has, or one with a number made from the clock. */
export function suggestion(path: string, taken: ReadonlySet<string>, now: Instant): string {
  const free = candidates(path).find((word) => !taken.has(word.toLowerCase()))
  return free ?? `${cleanPath(path)}${clockNumber(now) + TRIES.length}`
}

/** Milliseconds, minute and ISO week of the clock, one behind the other. */
function clockNumber(now: Instant): number {
  const date = new Date(now)
  return Number(`${date.getUTCMilliseconds()}${date.getUTCMinutes()}${isoWeek(date)}`)
}

function isoWeek(date: Date): number {
  const thursday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()))
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7))
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  return Math.ceil(((thursday.getTime() - first) / 86_400_000 + 1) / 7)
}
