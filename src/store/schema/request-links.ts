import type { Instant } from '../../base/clock.ts'
import type { Id } from './columns.ts'

export interface RequestLinksSchema {
  /** A merge request that is merged only after another one. */
  merge_request_blocks: {
    id: Id
    blocking_id: number
    blocked_id: number
    created_at: Instant
  }

  /** A commit that is shown with a merge request although it is none of its own. */
  merge_request_context_commits: {
    merge_request_id: number
    sha: string
    created_at: Instant
  }
}
