import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Json, Optional, OptionalInstant } from './columns.ts'

export type Via = 'push' | 'api' | 'merge' | 'system'

export interface RefsSchema {
  /** One request to move refs: a git push or one call of the API. Open until what became of it is known. */
  pushes: {
    id: Id
    /** The project, or the repository of a wiki or snippet: exactly one of the two is set. */
    project_id: Optional<number>
    repository_id: Optional<number>
    user_id: Optional<number>
    via: Via
    /** The push options, a JSON list of texts. */
    options: Json
    /** The git process that moves the refs, `<pid>:<start time>`. */
    process: Optional<string>
    state: Default<'open' | 'closed'>
    created_at: Instant
    closed_at: OptionalInstant
  }

  ref_moves: {
    id: Id
    push_id: number
    project_id: Optional<number>
    repository_id: Optional<number>
    ref: string
    old_id: string
    new_id: string
    state: Default<'open' | 'moved' | 'refused'>
  }

  /** Belongs to a project or, inherited by all below, to a group. */
  protected_branches: {
    id: Id
    project_id: Optional<number>
    group_id: Optional<number>
    name: string
    allow_force_push: DefaultFlag
    code_owner_approval_required: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }

  /** One who may: exactly one of the four columns is set. */
  protected_branch_levels: {
    id: Id
    protected_branch_id: number
    action: 'push' | 'merge' | 'unprotect'
    access_level: Optional<number>
    user_id: Optional<number>
    group_id: Optional<number>
    deploy_key_id: Optional<number>
  }

  protected_tags: {
    id: Id
    project_id: number
    name: string
    created_at: Instant
    updated_at: Instant
  }

  protected_tag_levels: {
    id: Id
    protected_tag_id: number
    access_level: Optional<number>
    user_id: Optional<number>
    group_id: Optional<number>
    deploy_key_id: Optional<number>
  }

  push_effects: {
    push_id: number
    effect: string
  }

  /** Finalized pushes whose effects are still to come. */
  waiting_pushes: {
    push_id: number
    project_id: number
  }

  push_rules: {
    id: Id
    project_id: number
    author_email_regex: Optional<string>
    branch_name_regex: Optional<string>
    commit_message_regex: Optional<string>
    commit_message_negative_regex: Optional<string>
    file_name_regex: Optional<string>
    /** The committer's address must be a confirmed one of the pusher. */
    commit_committer_check: DefaultFlag
    commit_committer_name_check: DefaultFlag
    deny_delete_tag: DefaultFlag
    /** In MB; 0 for any. */
    max_file_size: Default<number>
    /** The author must be a user here. */
    member_check: DefaultFlag
    prevent_secrets: DefaultFlag
    reject_unsigned_commits: DefaultFlag
    reject_non_dco_commits: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }
}
