import type { InstanceSettings } from '../../access/instance-settings.ts'
import { type Day, dayOf, type Instant, later } from '../../base/clock.ts'

const DAY_MS = 86_400_000
const LONGEST_DAYS = 365
const ROTATED_DAYS = 7

/** The last day that a token may be given, or undefined when there is no limit (docs/contract/A-resolved §7). */
function lastDay(settings: InstanceSettings, now: Instant): Day | undefined {
  const days = settings.get('max_personal_access_token_lifetime')
  if (days !== null) return dayOf(later(now, days * DAY_MS))
  if (!settings.get('require_personal_access_token_expiry')) return undefined
  return dayOf(later(now, LONGEST_DAYS * DAY_MS))
}

/** What is wrong with a day of expiry: today is good, a day in the past or behind the limit is not. */
export function expiryFaults(
  settings: InstanceSettings,
  expiresAt: Day | null | undefined,
  now: Instant,
): string[] {
  if (expiresAt === null || expiresAt === undefined) return []
  const last = lastDay(settings, now)
  if (last !== undefined && expiresAt > last) return [`must be before ${last}`]
  return expiresAt < dayOf(now) ? ['cannot be a date in the past'] : []
}

/** The day of expiry of a new token: as asked, or as long as may be. */
export function expiryOf(
  settings: InstanceSettings,
  expiresAt: Day | null | undefined,
  now: Instant,
): Day | null {
  return expiresAt ?? lastDay(settings, now) ?? null
}

/** The day of expiry of a rotated token: as asked, else a week where tokens must expire, else the longest. */
export function rotatedExpiryOf(
  settings: InstanceSettings,
  expiresAt: Day | null | undefined,
  now: Instant,
): Day | null {
  if (expiresAt) return expiresAt
  if (!settings.get('require_personal_access_token_expiry')) return lastDay(settings, now) ?? null
  const week = dayOf(later(now, ROTATED_DAYS * DAY_MS))
  const last = lastDay(settings, now)
  return last !== undefined && last < week ? last : week
}
