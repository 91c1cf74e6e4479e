import type { Ctx } from '../../ctx.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 8 * HOUR
const WEEK = 5 * DAY
const MONTH = 4 * WEEK

/** Working time: 1d = 8h, 1w = 5d, 1mo = 4w (docs/contract/D §1.9). */
const UNITS: Readonly<Record<string, number>> = {
  mo: MONTH,
  w: WEEK,
  d: DAY,
  h: HOUR,
  m: MINUTE,
  s: 1,
}
const MOST = 2 ** 31 - 1

/** Seconds of a span such as `1mo 2w 3h30m` or `-30m`; a bare number counts hours. Null when it is none. */
export function readDuration(text: string): number | null {
  const trimmed = text.trim().toLowerCase()
  const negative = trimmed.startsWith('-')
  const body = negative ? trimmed.slice(1).trim() : trimmed
  if (/^\d{1,6}$/.test(body)) return bounded(Number(body) * HOUR, negative)
  if (!/^(?:\d{1,9}(?:\.\d{1,3})?\s*(?:mo|[wdhms])\s*)+$/.test(body)) return null
  let seconds = 0
  for (const [, number = '0', unit = 's'] of body.matchAll(/(\d+(?:\.\d+)?)\s*(mo|[wdhms])/g)) {
    seconds += Number(number) * (UNITS[unit] ?? 1)
  }
  return bounded(Math.round(seconds), negative)
}

function bounded(seconds: number, negative: boolean): number | null {
  return seconds > MOST ? null : negative ? -seconds : seconds
}

/** `3h 30m` of seconds, in the largest units that fit, which administrators may limit to hours; null for nothing. */
export function humanDuration({ settings }: Pick<Ctx, 'settings'>, seconds: number): string | null {
  if (seconds === 0) return null
  const largest = settings.get('time_tracking_limit_to_hours') ? HOUR : MONTH
  let rest = Math.abs(seconds)
  const parts: string[] = []
  for (const [unit, size] of Object.entries(UNITS)) {
    if (size > largest) continue
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count}${unit}`)
    rest -= count * size
  }
  return (seconds < 0 ? '-' : '') + parts.join(' ')
}

/** The four numbers that clients read of an issue's or merge request's time. */
export function timeStats(ctx: Pick<Ctx, 'settings'>, estimate: number, spent: number) {
  return {
    time_estimate: estimate,
    total_time_spent: spent,
    human_time_estimate: humanDuration(ctx, estimate),
    human_total_time_spent: humanDuration(ctx, spent),
  }
}
