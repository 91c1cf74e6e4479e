import { countedCache } from '../../base/byte-cache.ts'
import { overQuota } from '../errors/over-quota.ts'

/** How long a key that has reported too much is refused. */
const PERIOD_MS = 60_000

interface Window {
  readonly ends: number
  count: number
}

/** What each key has reported of late; in memory, and bounded. */
const windows = countedCache<Window>(50_000)

/**
 * Counts events against the quota of a key; beyond it 429 says for how long, in the words that reporting programs
 * understand (docs/contract/C-resolved §2.3).
 */
export function countAgainstQuota(key: string, events: number, most: number, nowMs: number): void {
  if (most === 0 || events === 0) return
  const known = windows.get(key)
  const window = known && known.ends > nowMs ? known : { ends: nowMs + PERIOD_MS, count: 0 }
  if (window.count + events <= most) {
    window.count += events
    windows.set(key, window)
    return
  }
  // The first refusal begins a whole period: what it says is then true for those that follow.
  const ends = window.count > most ? window.ends : nowMs + PERIOD_MS
  windows.set(key, { ends, count: most + 1 })
  throw overQuota(Math.ceil((ends - nowMs) / 1000))
}
