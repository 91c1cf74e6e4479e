import { lookup } from 'node:dns/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

export type Resolve = (hostname: string) => Promise<readonly string[]>

const MOST_NAMES = 1000
const KEPT_MS = 30_000
/** A system resolver waits 5 seconds for a packet that was lost. */
const AGAIN_MS = 1000

export const systemLookUp: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map((one) => one.address)
}

/**
 * Looks names up for many requests: those for one name at one time share a look-up, its answer counts for half a
 * minute, and one that is late is asked again. Failures are not kept.
 */
export function sharedLookUp(
  lookUp: Resolve,
  { keptMs = KEPT_MS, againMs = AGAIN_MS } = {},
): Resolve {
  const known = new LRUCache<string, readonly string[]>({
    max: MOST_NAMES,
    ttl: keptMs,
    ignoreFetchAbort: true,
    fetchMethod: (name) => lookUpAgainWhenLate(lookUp, name, againMs),
  })
  return async (name) => (await known.fetch(name)) ?? []
}

async function lookUpAgainWhenLate(
  lookUp: Resolve,
  name: string,
  againMs: number,
): Promise<readonly string[]> {
  const answered = new AbortController()
  const again = delay(againMs, undefined, { signal: answered.signal }).then(() => lookUp(name))
  again.catch(() => {})
  try {
    return await Promise.race([lookUp(name), again])
  } finally {
    answered.abort()
  }
}
