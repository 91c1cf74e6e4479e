import { type Instant, later } from '../../base/clock.ts'
import type { Actor, SessionUsed } from '../actor.ts'

/** How long a browser is taken for its owner's after a password, a code or a key. */
const FRESH_FOR_MS = 15 * 60_000

/** The browser's session by which a caller asks. */
export function sessionOf(actor: Actor): SessionUsed | undefined {
  return actor.kind === 'user' ? actor.session : undefined
}

/** Whether whoever sits at a browser has shown who they are a short while ago. */
export function isFreshSession(session: SessionUsed, now: Instant): boolean {
  return session.provedAt !== null && session.provedAt > later(now, -FRESH_FOR_MS)
}
