import { describe, expect, test } from 'vitest'
import {
  detailedMergeStatus,
  type MergeFacts,
  publicMergeStatus,
  recheckOf,
} from '../../../src/review/merge-requests/detailed-merge-status.ts'

/** Nothing stands in the way. */
const clear: MergeFacts = {
  state: 'opened',
  prepared: true,
  mergeStatus: 'can_be_merged',
  now: '2026-05-04T10:00:00.000Z',
  mergeAfter: null,
  draft: false,
  sourceBranchExists: true,
  commitsAhead: 1,
  commitsBehind: 0,
  discussionsMustBeResolved: false,
  unresolvedDiscussions: 0,
  titleMatches: true,
  filesLocked: false,
  approvalsSyncing: false,
  approved: true,
  changesRequested: false,
  blocked: false,
  method: 'merge',
  pipelineRequired: false,
  pipelineStatus: null,
  skippedPipelinePasses: false,
  waiting: false,
}

/** In the documented order: each obstacle comes before all that follow. */
const rows: readonly (readonly [string, Partial<MergeFacts>])[] = [
  ['preparing', { prepared: false }],
  ['checking', { mergeStatus: 'checking' }],
  ['checking', { mergeStatus: 'cannot_be_merged_rechecking' }],
  ['unchecked', { mergeStatus: 'unchecked' }],
  ['unchecked', { mergeStatus: 'cannot_be_merged_recheck' }],
  ['not_open', { state: 'closed' }],
  ['not_open', { state: 'merged' }],
  ['not_open', { state: 'locked' }],
  ['merge_time', { mergeAfter: '2026-05-04T10:00:01.000Z' }],
  ['draft_status', { draft: true }],
  ['commits_status', { sourceBranchExists: false }],
  ['commits_status', { commitsAhead: 0 }],
  ['discussions_not_resolved', { discussionsMustBeResolved: true, unresolvedDiscussions: 1 }],
  ['title_regex', { titleMatches: false }],
  ['locked_lfs_files', { filesLocked: true }],
  ['approvals_syncing', { approvalsSyncing: true }],
  ['not_approved', { approved: false }],
  ['requested_changes', { changesRequested: true }],
  ['merge_request_blocked', { blocked: true }],
  ['conflict', { mergeStatus: 'cannot_be_merged' }],
  ['need_rebase', { method: 'ff', commitsBehind: 1 }],
  ['need_rebase', { method: 'rebase_merge', commitsBehind: 1 }],
  ['ci_still_running', { pipelineRequired: true, pipelineStatus: 'running' }],
  ['ci_must_pass', { pipelineRequired: true, pipelineStatus: 'failed' }],
  ['ci_must_pass', { pipelineRequired: true, pipelineStatus: 'skipped' }],
  ['ci_must_pass', { pipelineRequired: true }],
  ['mergeable', { method: 'merge', commitsBehind: 3 }],
  ['mergeable', { pipelineRequired: true, pipelineStatus: 'skipped', skippedPipelinePasses: true }],
  ['mergeable', { pipelineRequired: true, pipelineStatus: 'success' }],
  ['mergeable', { unresolvedDiscussions: 2 }],
  ['mergeable', { mergeAfter: '2026-05-04T10:00:00.000Z' }],
]

describe('the detailed merge status', () => {
  test.each(rows)('is %s for %j', (status, facts) => {
    expect(detailedMergeStatus({ ...clear, ...facts })).toBe(status)
  })

  test('names the first of several obstacles', () => {
    const statusGroups = rows.slice(0, -5)
    for (const [at, [status, facts]] of statusGroups.entries()) {
      for (const [, later] of statusGroups.slice(at + 1)) {
        const both = { ...clear, ...later, ...facts }
        if (both.mergeStatus !== (facts.mergeStatus ?? both.mergeStatus)) continue
        const found = detailedMergeStatus(both)
        // A later row may overwrite the very fact of this one; then it is no case of two obstacles.
        const same = Object.keys(facts).some((key) => key in later)
        if (!same && later.mergeStatus === undefined) expect(found).toBe(status)
      }
    }
  })
})

test('the merge status that callers see hides rechecks and preparation', () => {
  const all = [
    'preparing',
    'unchecked',
    'checking',
    'can_be_merged',
    'cannot_be_merged',
    'cannot_be_merged_recheck',
    'cannot_be_merged_rechecking',
  ] as const
  expect(all.map((status) => publicMergeStatus(status))).toEqual([
    'checking',
    'unchecked',
    'checking',
    'can_be_merged',
    'cannot_be_merged',
    'unchecked',
    'checking',
  ])
  expect(all.map((status) => recheckOf(status))).toEqual([
    'preparing',
    'unchecked',
    'unchecked',
    'unchecked',
    'cannot_be_merged_recheck',
    'cannot_be_merged_recheck',
    'cannot_be_merged_recheck',
  ])
})
