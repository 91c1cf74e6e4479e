import type { Instant } from './clock.ts'
import { preconditionFailed } from './problem.ts'

/**
 * Refuses with 412 when `If-Unmodified-Since` parses and the record changed later; an absent or unparsable header is
 * ignored (docs/contract/A-resolved §3). HTTP dates count whole seconds.
 */
export function assertUnmodifiedSince(
  request: { readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> },
  updatedAt: Instant,
): void {
  const given = request.headers['if-unmodified-since']
  if (typeof given !== 'string') return
  const since = Date.parse(given)
  if (Number.isNaN(since)) return
  if (Math.floor(Date.parse(updatedAt) / 1000) > Math.floor(since / 1000))
    throw preconditionFailed()
}
