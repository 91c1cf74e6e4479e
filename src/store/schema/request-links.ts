import type { Instant } from '../../base/clock.ts'
import type { Id } from './columns.ts'

/** A merge request that is merged only after another one. */
export interface MergeRequestBlocksTable {
  id: Id
  blocking_id: number
  blocked_id: number
  created_at: Instant
}

/** A commit that is shown with a merge request although it is none of its own. */
export interface MergeRequestContextCommitsTable {
  merge_request_id: number
  sha: string
  created_at: Instant
}

export interface RequestLinksSchema {
  merge_request_blocks: MergeRequestBlocksTable
  merge_request_context_commits: MergeRequestContextCommitsTable
}
