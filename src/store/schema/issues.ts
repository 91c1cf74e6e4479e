import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Optional, OptionalDay, OptionalInstant } from './columns.ts'

export type Work = 'issue' | 'merge_request'
export type NoteableType = 'Issue' | 'MergeRequest' | 'Snippet' | 'Commit' | 'Alert'

export interface IssuesSchema {
  issues: {
    id: Id
    iid: number
    project_id: number
    title: string
    description: Optional<string>
    state: Default<'opened' | 'closed'>
    issue_type: Default<'issue' | 'incident' | 'test_case' | 'task'>
    author_id: Optional<number>
    milestone_id: Optional<number>
    confidential: DefaultFlag
    discussion_locked: Optional<0 | 1>
    weight: Optional<number>
    severity: Default<string>
    start_date: OptionalDay
    due_date: OptionalDay
    time_estimate: Default<number>
    relative_position: Optional<number>
    moved_to_id: Optional<number>
    duplicated_to_id: Optional<number>
    closed_by_id: Optional<number>
    closed_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }

  /** `blocks`: the source blocks the target. */
  issue_links: {
    id: Id
    source_id: number
    target_id: number
    link_type: 'relates_to' | 'blocks'
    created_at: Instant
    updated_at: Instant
  }

  assignees: {
    subject_type: Work
    subject_id: number
    user_id: number
    created_at: Instant
  }

  /** A comment or a system note; `commit_id` names what a note on a commit belongs to, which has no `noteable_id`. */
  notes: {
    id: Id
    noteable_type: NoteableType
    noteable_id: Optional<number>
    commit_id: Optional<string>
    project_id: Optional<number>
    /** 40 hex digits, shared by the notes of one thread. */
    discussion_id: string
    type: Optional<'DiscussionNote' | 'DiffNote'>
    body: string
    author_id: Optional<number>
    system: DefaultFlag
    system_action: Optional<string>
    internal: DefaultFlag
    resolvable: DefaultFlag
    resolved_at: OptionalInstant
    resolved_by_id: Optional<number>
    position: Optional<string>
    original_position: Optional<string>
    line_code: Optional<string>
    updated_by_id: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  award_emoji: {
    id: Id
    awardable_type: 'Issue' | 'MergeRequest' | 'Snippet' | 'Note'
    awardable_id: number
    name: string
    user_id: number
    created_at: Instant
    updated_at: Instant
  }

  todos: {
    id: Id
    user_id: number
    project_id: Optional<number>
    author_id: Optional<number>
    target_type: string
    target_id: number
    action_name: string
    note_id: Optional<number>
    state: Default<'pending' | 'done'>
    created_at: Instant
    updated_at: Instant
    /** Names the commit, whose `target_id` is 0. */
    commit_id: Optional<string>
    group_id: Optional<number>
  }

  timelogs: {
    id: Id
    subject_type: Work
    subject_id: number
    user_id: Optional<number>
    seconds: number
    summary: Optional<string>
    spent_at: Instant
    created_at: Instant
  }

  /** Labels, milestones, states and weights as they changed (docs/contract/D §1.9). */
  resource_events: {
    id: Id
    kind: 'label' | 'milestone' | 'state' | 'weight'
    subject_type: Work
    subject_id: number
    user_id: Optional<number>
    action: Optional<string>
    label_id: Optional<number>
    milestone_id: Optional<number>
    state: Optional<string>
    weight: Optional<number>
    source_commit: Optional<string>
    source_merge_request_id: Optional<number>
    created_at: Instant
  }

  /** The feed of what people did (docs/contract/D §1.28). */
  events: {
    id: Id
    project_id: Optional<number>
    author_id: number
    action_name: string
    target_type: Optional<string>
    target_id: Optional<number>
    target_iid: Optional<number>
    target_title: Optional<string>
    push_data: Optional<string>
    note_id: Optional<number>
    created_at: Instant
  }

  user_agents: {
    subject_type: 'Issue' | 'Snippet'
    subject_id: number
    user_agent: string
    ip_address: string
    created_at: Instant
  }

  /** People whom the texts of an issue or merge request mention. */
  mentions: {
    subject_type: 'Issue' | 'MergeRequest'
    subject_id: number
    user_id: number
    created_at: Instant
  }

  /** What a note `mentioned in …` is about: readers who may not see the source do not see the note. */
  cross_references: {
    note_id: number
    source_type: 'Issue' | 'MergeRequest' | 'Commit'
    source_id: Optional<number>
    source_commit: Optional<string>
    source_project_id: number
  }
}
