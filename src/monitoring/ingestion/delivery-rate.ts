import { throttled } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Counters } from '../../http/throttle.ts'

/** Deliveries of late, by the settings of the server that counts them. */
const counted = new WeakMap<Ctx['settings'], Counters>()

/** Counts a delivery against the rate of its project, where administrators set one; 429 beyond it. */
export function countDelivery({ settings, now }: Ctx, projectId: number): void {
  const { all } = settings
  if (!all.throttle_incident_management_notification_enabled) return
  const counters = counted.get(settings) ?? new Counters()
  counted.set(settings, counters)
  const period = all.throttle_incident_management_notification_period_in_seconds
  const { count, resetsIn } = counters.hit(String(projectId), period, Date.parse(now()))
  if (count <= all.throttle_incident_management_notification_per_period) return
  const words = all.rate_limiting_response_text || undefined
  throw throttled({ 'Retry-After': String(resetsIn) }, words)
}
