import type { LRUCache } from 'lru-cache'
import { countedCache } from '../base/byte-cache.ts'
import { throttled, tooMany } from '../base/problem.ts'
import type { RateLimit } from './endpoint.ts'

interface Window {
  started: number
  count: number
}

/** Counters of fixed windows in memory, bounded: the oldest go when there are too many. */
export class Counters {
  readonly #windows: LRUCache<string, Window> = countedCache(50_000)

  /** Counts one request and gives the count of its window, with the seconds until that ends. */
  hit(key: string, periodSeconds: number, nowMs: number): { count: number; resetsIn: number } {
    const length = periodSeconds * 1000
    const known = this.#windows.get(key)
    const window = known && nowMs - known.started < length ? known : { started: nowMs, count: 0 }
    window.count += 1
    this.#windows.set(key, window)
    return { count: window.count, resetsIn: Math.ceil((window.started + length - nowMs) / 1000) }
  }
}

/** Action limits: 429 with JSON and `Retry-After` (docs/contract/A-resolved §6). */
export function assertWithinLimit(
  counters: Counters,
  limit: Pick<RateLimit, 'name' | 'perMinute' | 'seconds' | 'thing'>,
  key: string,
  nowMs: number,
): void {
  if (limit.perMinute === 0) return
  const { seconds = 60 } = limit
  const { count } = counters.hit(`action ${limit.name} ${key}`, seconds, nowMs)
  if (count * 60 > limit.perMinute * seconds) throw tooMany(seconds, limit.thing)
}

/** One request throttle, as the application settings have it. */
export interface ThrottleRule {
  readonly name: 'throttle_authenticated_api' | 'throttle_unauthenticated_api'
  readonly enabled: boolean
  readonly requests: number
  readonly periodSeconds: number
  /** Called with what would be refused; nothing is then, and no headers name the limit. */
  readonly dryRun?: ((key: string) => void) | undefined
}

/** Counts a request against the throttle and gives its headers; over the limit: 429 `Retry later`. */
export function throttle(
  counters: Counters,
  rule: ThrottleRule,
  key: string,
  nowMs: number,
  words = '',
): Record<string, string> {
  if (!rule.enabled) return {}
  const { count, resetsIn } = counters.hit(`${rule.name} ${key}`, rule.periodSeconds, nowMs)
  if (rule.dryRun) {
    if (count > rule.requests) rule.dryRun(key)
    return {}
  }
  const resetAt = Math.ceil(nowMs / 1000) + resetsIn
  const headers = {
    'RateLimit-Limit': String(Math.ceil((rule.requests * 60) / rule.periodSeconds)),
    'RateLimit-Name': rule.name,
    'RateLimit-Observed': String(count),
    'RateLimit-Remaining': String(Math.max(0, rule.requests - count)),
    'RateLimit-Reset': String(resetAt),
  }
  if (count <= rule.requests) return headers
  const more = {
    'RateLimit-ResetTime': new Date(resetAt * 1000).toUTCString(),
    'Retry-After': String(resetsIn),
  }
  throw throttled({ ...headers, ...more }, words || undefined)
}
