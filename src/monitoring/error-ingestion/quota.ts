import { countedCache } from '../../base/byte-cache.ts'
import { overQuota } from '../errors/over-quota.ts'

/** How long a key that has reported too much is refused. */
const PERIOD_MS = 60_000

/** Events, and the bytes that they have unpacked. */
export interface Amount {
  readonly events: number
  readonly bytes: number
}

interface Window extends Amount {
  readonly ends: number
  readonly isOver: boolean
}

/** What each key has reported of late; in memory, and bounded. */
const windows = countedCache<Window>(50_000)

/**
 * Counts events against the quota of a key, where 0 is none; beyond it 429 says for how long, in the words that reporting
 * programs understand (docs/contract/C-resolved §2.3).
 */
export function countAgainstQuota(key: string, more: Amount, most: Amount, nowMs: number): void {
  const known = windows.get(key)
  const isKnown = known !== undefined && known.ends > nowMs
  const window = isKnown ? known : { ends: nowMs + PERIOD_MS, events: 0, bytes: 0, isOver: false }
  const events = window.events + more.events
  const bytes = window.bytes + more.bytes
  if (!window.isOver && isWithin(events, most.events) && isWithin(bytes, most.bytes)) {
    windows.set(key, { ...window, events, bytes })
    return
  }
  // The first refusal begins a whole period: what it says is then true for those that follow.
  const ends = window.isOver ? window.ends : nowMs + PERIOD_MS
  windows.set(key, { ...window, ends, isOver: true })
  throw overQuota(Math.ceil((ends - nowMs) / 1000))
}

const isWithin = (amount: number, most: number) => most === 0 || amount <= most
