import type { Instant } from '../../base/clock.ts'
import type { MergeStatus } from '../../store/schema/merge-requests.ts'

/** What `detailed_merge_status` says (docs/contract/D §1.10). */
export type DetailedMergeStatus =
  | 'preparing'
  | 'checking'
  | 'unchecked'
  | 'not_open'
  | 'merge_time'
  | 'draft_status'
  | 'commits_status'
  | 'discussions_not_resolved'
  | 'title_regex'
  | 'locked_lfs_files'
  | 'approvals_syncing'
  | 'not_approved'
  | 'requested_changes'
  | 'merge_request_blocked'
  | 'conflict'
  | 'need_rebase'
  | 'ci_still_running'
  | 'ci_must_pass'
  | 'mergeable'

export type MergeMethod = 'merge' | 'rebase_merge' | 'ff'

/** Everything that decides whether a merge request can be merged just now. */
export interface MergeFacts {
  readonly state: 'opened' | 'closed' | 'merged' | 'locked'
  readonly prepared: boolean
  readonly mergeStatus: MergeStatus
  readonly now: Instant
  readonly mergeAfter: Instant | null
  readonly draft: boolean
  readonly sourceBranchExists: boolean
  /** Commits that the source has and the target lacks; null when nobody has looked. */
  readonly commitsAhead: number | null
  /** Commits that the target has and the source lacks; null when nobody has looked. */
  readonly commitsBehind: number | null
  readonly discussionsMustBeResolved: boolean
  readonly unresolvedDiscussions: number
  readonly titleMatches: boolean
  /** Somebody but the author has locked a file that it changes. */
  readonly filesLocked: boolean
  readonly approvalsSyncing: boolean
  readonly approved: boolean
  readonly changesRequested: boolean
  /** Another merge request must be merged first. */
  readonly blocked: boolean
  readonly method: MergeMethod
  readonly pipelineRequired: boolean
  /** Status of the head pipeline; null when there is none. */
  readonly pipelineStatus: string | null
  readonly skippedPipelinePasses: boolean
  /** Somebody has it merged, or wants it merged, when its pipeline has succeeded. */
  readonly waiting: boolean
}

const runningStatuses: readonly string[] = [
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'scheduled',
]

/** What stands in the way, in the documented order; each gives a status or nothing. */
const obstacles: readonly ((facts: MergeFacts) => DetailedMergeStatus | undefined | false)[] = [
  (facts) => (!facts.prepared || facts.mergeStatus === 'preparing') && 'preparing',
  (facts) => isChecking(facts.mergeStatus) && 'checking',
  (facts) => isUnchecked(facts.mergeStatus) && 'unchecked',
  (facts) => facts.state !== 'opened' && 'not_open',
  (facts) => facts.mergeAfter !== null && facts.mergeAfter > facts.now && 'merge_time',
  (facts) => facts.draft && 'draft_status',
  (facts) => (!facts.sourceBranchExists || facts.commitsAhead === 0) && 'commits_status',
  (facts) =>
    facts.discussionsMustBeResolved &&
    facts.unresolvedDiscussions > 0 &&
    'discussions_not_resolved',
  (facts) => !facts.titleMatches && 'title_regex',
  (facts) => facts.filesLocked && 'locked_lfs_files',
  (facts) => facts.approvalsSyncing && 'approvals_syncing',
  (facts) => !facts.approved && 'not_approved',
  (facts) => facts.changesRequested && 'requested_changes',
  (facts) => facts.blocked && 'merge_request_blocked',
  (facts) => facts.mergeStatus === 'cannot_be_merged' && 'conflict',
  (facts) => facts.method !== 'merge' && (facts.commitsBehind ?? 0) > 0 && 'need_rebase',
  pipelineObstacle,
]

/** The first thing that keeps a merge request from being merged, or `mergeable` (docs/contract/D §1.10). */
export function detailedMergeStatus(facts: MergeFacts): DetailedMergeStatus {
  for (const obstacle of obstacles) {
    const found = obstacle(facts)
    if (found) return found
  }
  return 'mergeable'
}

/** The same as if people had done all they can: what then stands in the way is beyond their waiting. */
export function statusBesidePeople(facts: MergeFacts): DetailedMergeStatus {
  return detailedMergeStatus({
    ...facts,
    mergeAfter: null,
    draft: false,
    unresolvedDiscussions: 0,
    titleMatches: true,
    filesLocked: false,
    approvalsSyncing: false,
    approved: true,
    changesRequested: false,
    blocked: false,
    // Where there is no pipeline yet, one may come while they are at it.
    pipelineStatus: facts.pipelineStatus ?? 'created',
  })
}

function pipelineObstacle(facts: MergeFacts): DetailedMergeStatus | undefined {
  const { pipelineStatus, pipelineRequired, waiting } = facts
  if (pipelineStatus === 'success') return undefined
  if (!pipelineRequired && !waiting) return undefined
  // Whoever waits does so for the pipeline that there is; there need not be one, nor need it have run.
  const none = pipelineStatus === null || pipelineStatus === 'skipped'
  if (none && !pipelineRequired) return undefined
  if (pipelineStatus === 'skipped' && facts.skippedPipelinePasses) return undefined
  // One that waits for a person may succeed yet.
  if (pipelineStatus === 'manual' && waiting) return 'ci_still_running'
  const running = pipelineStatus !== null && runningStatuses.includes(pipelineStatus)
  return running ? 'ci_still_running' : 'ci_must_pass'
}

export function isChecking(status: MergeStatus): boolean {
  return status === 'checking' || status === 'cannot_be_merged_rechecking'
}

function isUnchecked(status: MergeStatus): boolean {
  return status === 'unchecked' || status === 'cannot_be_merged_recheck'
}

/** `merge_status` as callers see it: the inner states of preparing and rechecking are not shown (docs/contract/D §1.10). */
export function publicMergeStatus(status: MergeStatus): string {
  if (status === 'preparing' || isChecking(status)) return 'checking'
  return isUnchecked(status) ? 'unchecked' : status
}

/** The state that makes a new check due: what conflicted is kept apart from what was never checked. */
export function recheckOf(status: MergeStatus): MergeStatus {
  if (status === 'preparing') return 'preparing'
  const conflicted = status.startsWith('cannot_be_merged')
  return conflicted ? 'cannot_be_merged_recheck' : 'unchecked'
}
