import { type Instant, later } from '../../base/clock.ts'

/** Failures in a row before a hook rests, and before it is given up (docs/contract/D §1.25 Delivery). */
const restsAfter = 4
const endsAfter = 40
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

export type AlertStatus = 'executable' | 'temporarily_disabled' | 'disabled'

export function alertStatus(
  hook: { readonly failures: number; readonly disabled_until: Instant | null },
  now: Instant,
): AlertStatus {
  if (hook.failures >= endsAfter) return 'disabled'
  return hook.disabled_until !== null && hook.disabled_until > now
    ? 'temporarily_disabled'
    : 'executable'
}

/** Until when a hook rests after so many failures: one minute at first, doubling to a day. */
export function restUntil(failures: number, now: Instant): Instant | undefined {
  if (failures < restsAfter) return undefined
  return later(now, Math.min(minuteMs * 2 ** Math.min(failures - restsAfter, 20), dayMs))
}
