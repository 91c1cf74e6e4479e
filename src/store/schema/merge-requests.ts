import type { Instant } from '../../base/clock.ts'
import type {
  Default,
  DefaultFlag,
  Flag,
  Id,
  Optional,
  OptionalFlag,
  OptionalInstant,
} from './columns.ts'

export type MergeStatus =
  | 'preparing'
  | 'unchecked'
  | 'checking'
  | 'can_be_merged'
  | 'cannot_be_merged'
  | 'cannot_be_merged_recheck'
  | 'cannot_be_merged_rechecking'

export interface MergeRequestsSchema {
  merge_requests: {
    id: Id
    iid: number
    target_project_id: number
    /** Null when the fork is gone. */
    source_project_id: Optional<number>
    source_branch: string
    target_branch: string
    title: string
    description: Optional<string>
    state: Default<'opened' | 'closed' | 'merged' | 'locked'>
    draft: DefaultFlag
    author_id: Optional<number>
    milestone_id: Optional<number>
    merge_status: Default<MergeStatus>
    /** The two heads that `merge_status` was found for. */
    checked_source: Optional<string>
    checked_target: Optional<string>
    /** Commits that the source has and the target lacks, and the other way round, as of that check. */
    commits_ahead: Optional<number>
    commits_behind: Optional<number>
    head_sha: Optional<string>
    source_branch_exists: DefaultFlag
    merge_commit_sha: Optional<string>
    squash_commit_sha: Optional<string>
    /** Where the target stood after the merge. */
    merged_sha: Optional<string>
    merge_error: Optional<string>
    merge_user_id: Optional<number>
    merged_at: OptionalInstant
    merge_after: OptionalInstant
    prepared_at: OptionalInstant
    closed_by_id: Optional<number>
    closed_at: OptionalInstant
    discussion_locked: Optional<0 | 1>
    squash: DefaultFlag
    allow_collaboration: DefaultFlag
    should_remove_source_branch: OptionalFlag
    force_remove_source_branch: Optional<0 | 1>
    /** Set while auto-merge waits: the head that it is for, and what was asked (JSON). */
    auto_merge_sha: Optional<string>
    auto_merge_options: Optional<string>
    rebase_in_progress: DefaultFlag
    time_estimate: Default<number>
    approvals_before_merge: Optional<number>
    approvals_syncing: DefaultFlag
    rules_overwritten: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }

  /** One diff of a merge request; each push makes a new one. */
  merge_request_versions: {
    id: Id
    merge_request_id: number
    head_sha: string
    base_sha: string
    start_sha: string
    real_size: number
    patch_id: Optional<string>
    created_at: Instant
  }

  /** A file that somebody has looked at: as of which version, and what was in it then. */
  viewed_files: {
    merge_request_id: number
    user_id: number
    path: string
    version_id: number
    blob_id: string
    viewed_at: Instant
  }

  merge_request_reviewers: {
    merge_request_id: number
    user_id: number
    state: Default<
      'unreviewed' | 'reviewed' | 'requested_changes' | 'approved' | 'unapproved' | 'review_started'
    >
    created_at: Instant
  }

  /** A merge that is under way: what becomes true together with the move of the target branch. */
  merge_intents: {
    push_id: number
    merge_request_id: number
    user_id: Optional<number>
    head_sha: string
    merge_commit_sha: Optional<string>
    squash_commit_sha: Optional<string>
    merged_sha: string
    remove_source_branch: Flag
  }

  draft_notes: {
    id: Id
    merge_request_id: number
    author_id: number
    note: string
    discussion_id: Optional<string>
    commit_id: Optional<string>
    resolve_discussion: DefaultFlag
    position: Optional<string>
    line_code: Optional<string>
    created_at: Instant
  }

  /** How a project or group wants approvals; null where it says nothing. */
  approval_settings: {
    subject_type: 'project' | 'group'
    subject_id: number
    reset_approvals_on_push: Optional<0 | 1>
    selective_code_owner_removals: Optional<0 | 1>
    disable_overriding_approvers_per_merge_request: Optional<0 | 1>
    merge_requests_author_approval: Optional<0 | 1>
    merge_requests_disable_committers_approval: Optional<0 | 1>
    require_reauthentication_to_approve: Optional<0 | 1>
    updated_at: Instant
  }

  /** A rule of a project, or of one merge request. */
  approval_rules: {
    id: Id
    project_id: Optional<number>
    merge_request_id: Optional<number>
    source_rule_id: Optional<number>
    name: string
    rule_type: Default<'regular' | 'any_approver' | 'report_approver' | 'code_owner'>
    report_type: Optional<string>
    section: Optional<string>
    approvals_required: Default<number>
    applies_to_all_protected_branches: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }

  /** Users who committed to the newest version. */
  merge_request_committers: {
    merge_request_id: number
    user_id: number
  }

  /** Commits of the newest version, the newest thousand. */
  merge_request_commits: {
    sha: string
    merge_request_id: number
  }

  merge_requests_closing_issues: {
    merge_request_id: number
    issue_id: number
  }

  approvals: {
    merge_request_id: number
    user_id: number
    head_sha: Optional<string>
    patch_id: Optional<string>
    created_at: Instant
  }

  approval_rule_users: {
    rule_id: number
    user_id: number
  }

  approval_rule_groups: {
    rule_id: number
    group_id: number
  }

  approval_rule_branches: {
    rule_id: number
    protected_branch_id: number
  }

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

  /** A change that a comment on a line proposes; the lines count from the one that it stands at. */
  suggestions: {
    id: Id
    note_id: number
    relative_order: number
    lines_above: number
    lines_below: number
    from_content: string
    to_content: string
    /** The commit that took it over. */
    commit_id: Optional<string>
    applied_at: OptionalInstant
  }
}
