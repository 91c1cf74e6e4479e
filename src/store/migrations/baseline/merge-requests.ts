export const mergeRequestsTables = `
CREATE TABLE merge_requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  target_project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  source_project_id INTEGER REFERENCES projects (id) ON DELETE SET NULL,
  source_branch TEXT NOT NULL,
  target_branch TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL DEFAULT 'opened' CHECK (state IN ('opened', 'closed', 'merged', 'locked')),
  draft INTEGER NOT NULL DEFAULT 0 CHECK (draft IN (0, 1)),
  author_id INTEGER REFERENCES users (id),
  milestone_id INTEGER REFERENCES milestones (id) ON DELETE SET NULL,
  merge_status TEXT NOT NULL DEFAULT 'preparing' CHECK (merge_status IN ('preparing', 'unchecked', 'checking',
    'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck', 'cannot_be_merged_rechecking')),
  checked_source TEXT,
  checked_target TEXT,
  commits_ahead INTEGER,
  commits_behind INTEGER,
  head_sha TEXT,
  source_branch_exists INTEGER NOT NULL DEFAULT 1 CHECK (source_branch_exists IN (0, 1)),
  merge_commit_sha TEXT,
  squash_commit_sha TEXT,
  merged_sha TEXT,
  merge_error TEXT,
  merge_user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  merged_at TEXT,
  merge_after TEXT,
  prepared_at TEXT,
  closed_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  closed_at TEXT,
  discussion_locked INTEGER CHECK (discussion_locked IN (0, 1)),
  squash INTEGER NOT NULL DEFAULT 0 CHECK (squash IN (0, 1)),
  allow_collaboration INTEGER NOT NULL DEFAULT 0 CHECK (allow_collaboration IN (0, 1)),
  should_remove_source_branch INTEGER CHECK (should_remove_source_branch IN (0, 1)),
  force_remove_source_branch INTEGER CHECK (force_remove_source_branch IN (0, 1)),
  auto_merge_sha TEXT,
  auto_merge_options TEXT CHECK (auto_merge_options IS NULL OR json_valid(auto_merge_options)),
  rebase_in_progress INTEGER NOT NULL DEFAULT 0 CHECK (rebase_in_progress IN (0, 1)),
  time_estimate INTEGER NOT NULL DEFAULT 0,
  approvals_before_merge INTEGER,
  approvals_syncing INTEGER NOT NULL DEFAULT 0 CHECK (approvals_syncing IN (0, 1)),
  rules_overwritten INTEGER NOT NULL DEFAULT 0 CHECK (rules_overwritten IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX merge_requests_by_iid ON merge_requests (target_project_id, iid);
CREATE UNIQUE INDEX merge_requests_open_by_branches
  ON merge_requests (source_project_id, source_branch, target_project_id, target_branch) WHERE state = 'opened';
CREATE INDEX merge_requests_by_created ON merge_requests (target_project_id, state, created_at, id);
CREATE INDEX merge_requests_by_updated ON merge_requests (target_project_id, updated_at, id);
CREATE INDEX merge_requests_by_age ON merge_requests (target_project_id, created_at, id);
CREATE INDEX merge_requests_of_all ON merge_requests (created_at, id);
CREATE INDEX merge_requests_auto ON merge_requests (id) WHERE auto_merge_sha IS NOT NULL;
CREATE INDEX merge_requests_by_source ON merge_requests (source_project_id, source_branch, state);
CREATE INDEX merge_requests_by_target ON merge_requests (target_project_id, target_branch, state);
CREATE INDEX merge_requests_by_author ON merge_requests (author_id, created_at, id);
CREATE INDEX merge_requests_by_head ON merge_requests (target_project_id, head_sha);
CREATE INDEX merge_requests_by_milestone ON merge_requests (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX merge_requests_by_closed_by ON merge_requests (closed_by_id) WHERE closed_by_id IS NOT NULL;
CREATE INDEX merge_requests_by_merge_user ON merge_requests (merge_user_id) WHERE merge_user_id IS NOT NULL;
CREATE INDEX merge_requests_by_merged ON merge_requests (target_project_id, merged_at, id);
CREATE INDEX merge_requests_by_title ON merge_requests (target_project_id, title, id);
CREATE INDEX merge_requests_by_branch ON merge_requests (source_branch, id);
CREATE INDEX merge_requests_drafts ON merge_requests (target_project_id, created_at, id) WHERE draft = 1;
CREATE INDEX merge_requests_of_all_by_change ON merge_requests (updated_at, id);
CREATE INDEX merge_requests_by_merge_commit ON merge_requests (merge_commit_sha) WHERE merge_commit_sha IS NOT NULL;
CREATE INDEX merge_requests_by_squash_commit ON merge_requests (squash_commit_sha) WHERE squash_commit_sha IS NOT NULL;
CREATE INDEX merge_requests_by_merged_commit ON merge_requests (merged_sha) WHERE merged_sha IS NOT NULL;

CREATE TRIGGER merge_requests_deleted AFTER DELETE ON merge_requests BEGIN
  DELETE FROM notes WHERE noteable_type = 'MergeRequest' AND noteable_id = old.id;
  DELETE FROM label_links WHERE subject_type = 'merge_request' AND subject_id = old.id;
  DELETE FROM assignees WHERE subject_type = 'merge_request' AND subject_id = old.id;
  DELETE FROM award_emoji WHERE awardable_type = 'MergeRequest' AND awardable_id = old.id;
  DELETE FROM todos WHERE target_type = 'MergeRequest' AND target_id = old.id;
  DELETE FROM timelogs WHERE subject_type = 'merge_request' AND subject_id = old.id;
  DELETE FROM resource_events WHERE subject_type = 'merge_request' AND subject_id = old.id;
  DELETE FROM subscriptions WHERE subject_type = 'merge_request' AND subject_id = old.id;
END;

CREATE TRIGGER merge_requests_deleted_mentions AFTER DELETE ON merge_requests BEGIN
  DELETE FROM mentions WHERE subject_type = 'MergeRequest' AND subject_id = old.id;
END;

CREATE TABLE merge_request_versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  head_sha TEXT NOT NULL,
  base_sha TEXT NOT NULL,
  start_sha TEXT NOT NULL,
  real_size INTEGER NOT NULL,
  patch_id TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX merge_request_versions_by_request ON merge_request_versions (merge_request_id, id);

CREATE TABLE merge_request_reviewers (
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  state TEXT NOT NULL DEFAULT 'unreviewed' CHECK (state IN
    ('unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started')),
  created_at TEXT NOT NULL,
  PRIMARY KEY (merge_request_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX merge_request_reviewers_by_user ON merge_request_reviewers (user_id);

CREATE TABLE merge_request_committers (
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (merge_request_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX merge_request_committers_by_user ON merge_request_committers (user_id);

CREATE TABLE merge_request_commits (
  sha TEXT NOT NULL,
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  PRIMARY KEY (sha, merge_request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX merge_request_commits_by_request ON merge_request_commits (merge_request_id);

CREATE TABLE merge_requests_closing_issues (
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  PRIMARY KEY (merge_request_id, issue_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX merge_requests_closing_issues_by_issue ON merge_requests_closing_issues (issue_id);

CREATE TABLE merge_intents (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  merge_request_id INTEGER NOT NULL UNIQUE REFERENCES merge_requests (id) ON DELETE CASCADE,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  head_sha TEXT NOT NULL,
  merge_commit_sha TEXT,
  squash_commit_sha TEXT,
  merged_sha TEXT NOT NULL,
  remove_source_branch INTEGER NOT NULL CHECK (remove_source_branch IN (0, 1))
) STRICT;
CREATE INDEX merge_intents_by_user ON merge_intents (user_id);

CREATE TABLE draft_notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  author_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  note TEXT NOT NULL,
  discussion_id TEXT,
  commit_id TEXT,
  resolve_discussion INTEGER NOT NULL DEFAULT 0 CHECK (resolve_discussion IN (0, 1)),
  position TEXT CHECK (position IS NULL OR json_valid(position)),
  created_at TEXT NOT NULL,
  line_code TEXT
) STRICT;
CREATE INDEX draft_notes_by_request ON draft_notes (merge_request_id, author_id);
CREATE INDEX draft_notes_by_author ON draft_notes (author_id);

CREATE TABLE approvals (
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  head_sha TEXT,
  patch_id TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (merge_request_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_by_user ON approvals (user_id);

CREATE TABLE approval_settings (
  subject_type TEXT NOT NULL CHECK (subject_type IN ('project', 'group')),
  subject_id INTEGER NOT NULL,
  reset_approvals_on_push INTEGER CHECK (reset_approvals_on_push IN (0, 1)),
  selective_code_owner_removals INTEGER CHECK (selective_code_owner_removals IN (0, 1)),
  disable_overriding_approvers_per_merge_request INTEGER CHECK (disable_overriding_approvers_per_merge_request IN (0, 1)),
  merge_requests_author_approval INTEGER CHECK (merge_requests_author_approval IN (0, 1)),
  merge_requests_disable_committers_approval INTEGER CHECK (merge_requests_disable_committers_approval IN (0, 1)),
  require_reauthentication_to_approve INTEGER CHECK (require_reauthentication_to_approve IN (0, 1)),
  updated_at TEXT NOT NULL,
  PRIMARY KEY (subject_type, subject_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE approval_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  merge_request_id INTEGER REFERENCES merge_requests (id) ON DELETE CASCADE,
  source_rule_id INTEGER REFERENCES approval_rules (id) ON DELETE SET NULL,
  name TEXT NOT NULL,
  rule_type TEXT NOT NULL DEFAULT 'regular' CHECK (rule_type IN
    ('regular', 'any_approver', 'report_approver', 'code_owner')),
  report_type TEXT,
  section TEXT,
  approvals_required INTEGER NOT NULL DEFAULT 0,
  applies_to_all_protected_branches INTEGER NOT NULL DEFAULT 0
    CHECK (applies_to_all_protected_branches IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (merge_request_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX approval_rules_by_project_name ON approval_rules (project_id, rule_type, name)
  WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX approval_rules_any_by_project ON approval_rules (project_id)
  WHERE project_id IS NOT NULL AND rule_type = 'any_approver';
CREATE INDEX approval_rules_by_request ON approval_rules (merge_request_id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX approval_rules_by_source_rule ON approval_rules (source_rule_id) WHERE source_rule_id IS NOT NULL;

CREATE TABLE approval_rule_users (
  rule_id INTEGER NOT NULL REFERENCES approval_rules (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (rule_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_rule_users_by_user ON approval_rule_users (user_id);

CREATE TABLE approval_rule_groups (
  rule_id INTEGER NOT NULL REFERENCES approval_rules (id) ON DELETE CASCADE,
  group_id INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  PRIMARY KEY (rule_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_rule_groups_by_group ON approval_rule_groups (group_id);

CREATE TABLE approval_rule_branches (
  rule_id INTEGER NOT NULL REFERENCES approval_rules (id) ON DELETE CASCADE,
  protected_branch_id INTEGER NOT NULL,
  PRIMARY KEY (rule_id, protected_branch_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE suggestions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  note_id INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  relative_order INTEGER NOT NULL,
  lines_above INTEGER NOT NULL,
  lines_below INTEGER NOT NULL,
  from_content TEXT NOT NULL,
  to_content TEXT NOT NULL,
  commit_id TEXT,
  applied_at TEXT
) STRICT;
CREATE UNIQUE INDEX suggestions_by_note ON suggestions (note_id, relative_order);

CREATE TABLE merge_request_blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  blocking_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  blocked_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  CHECK (blocking_id <> blocked_id)
) STRICT;
CREATE UNIQUE INDEX merge_request_blocks_pair ON merge_request_blocks (blocked_id, blocking_id);
CREATE INDEX merge_request_blocks_blocking ON merge_request_blocks (blocking_id);

CREATE TABLE merge_request_context_commits (
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  sha TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (merge_request_id, sha)
) STRICT, WITHOUT ROWID;
`
