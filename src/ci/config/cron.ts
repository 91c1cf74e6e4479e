import { Cron } from 'croner'
import { type Instant, later } from '../../base/clock.ts'
import { invalid } from '../../base/problem.ts'

const LONGEST = 255

/** Whatever comes at all comes within so many years, also a 29 February that is a Monday. */
const MOST_YEARS = 40

/** When a schedule of five fields comes round next after a moment; undefined for one that never does. */
export function nextRun(cron: string, timezone: string, after: Instant): Instant | undefined {
  const from = new Date(after)
  const year = from.getUTCFullYear()
  // Without years, days that never come are looked for during the next 400 years.
  const bounded = `0 ${cron.trim()} ${year - 1}-${year + MOST_YEARS}`
  const next = new Cron(bounded, { timezone, mode: '7-part', paused: true }).nextRun(from)
  return next?.toISOString()
}

/** Refuses what is no cron expression of five fields, or no time zone. */
export function assertCron(cron: string, timezone: string, now: Instant): void {
  if (!isTimezone(timezone)) throw invalid({ cron_timezone: ['syntax is invalid'] })
  if (!isCron(cron, timezone, now)) throw invalid({ cron: ['syntax is invalid'] })
}

function isCron(cron: string, timezone: string, now: Instant): boolean {
  if (cron.length > LONGEST || cron.trim().split(/\s+/).length !== 5) return false
  try {
    return nextRun(cron, timezone, now) !== undefined
  } catch {
    return false
  }
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/** Whether a moment lies in a time that begins and ends by the clock, such as a freeze of deployments. */
export function isBetween(
  now: Instant,
  {
    start,
    end,
    timezone,
  }: { readonly start: string; readonly end: string; readonly timezone: string },
): boolean {
  const ends = nextRun(end, timezone, now)
  const starts = nextRun(start, timezone, later(now, -1))
  if (starts !== undefined && starts <= now) return true
  // Between the two when the end comes before the next start.
  return (
    ends !== undefined &&
    (starts === undefined || ends < starts) &&
    hasStarted(now, start, timezone)
  )
}

const YEAR_MS = 366 * 86_400_000

function hasStarted(now: Instant, start: string, timezone: string): boolean {
  const first = nextRun(start, timezone, later(now, -YEAR_MS))
  return first !== undefined && first <= now
}
