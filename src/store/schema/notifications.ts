import type { Day, Instant } from '../../base/clock.ts'
import type { Id } from './columns.ts'

export interface NotificationsSchema {
  /** A mail about an issue or merge request; its unsubscribe link carries what `digest` is made of. */
  sent_notifications: {
    id: Id
    digest: Buffer
    user_id: number
    subject_type: 'issue' | 'merge_request'
    subject_id: number
    created_at: Instant
  }

  /** Of which ends people were warned, so that they are warned once. */
  expiry_warnings: {
    kind: 'token' | 'member'
    subject_id: number
    expires_at: Day
    sent_at: Instant
  }
}
