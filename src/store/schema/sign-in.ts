import type { Instant } from '../../base/clock.ts'
import type { Id, Optional } from './columns.ts'

export interface SignInSchema {
  /** A browser that is signed in. */
  sessions: {
    id: Id
    user_id: number
    /** sha256 of the cookie. */
    digest: Buffer
    ip: Optional<string>
    expires_at: Instant
    created_at: Instant
  }
}
