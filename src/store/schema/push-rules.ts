import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Optional } from './columns.ts'

export interface PushRulesSchema {
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
