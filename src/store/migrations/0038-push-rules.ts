import type { Migration } from '../migration.ts'

/** What pushed commits must be like. */
export const pushRules: Migration = {
  name: '0038-push-rules',
  sql: `
CREATE TABLE push_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  author_email_regex TEXT,
  branch_name_regex TEXT,
  commit_message_regex TEXT,
  commit_message_negative_regex TEXT,
  file_name_regex TEXT,
  commit_committer_check INTEGER NOT NULL DEFAULT 0 CHECK (commit_committer_check IN (0, 1)),
  commit_committer_name_check INTEGER NOT NULL DEFAULT 0
    CHECK (commit_committer_name_check IN (0, 1)),
  deny_delete_tag INTEGER NOT NULL DEFAULT 0 CHECK (deny_delete_tag IN (0, 1)),
  max_file_size INTEGER NOT NULL DEFAULT 0 CHECK (max_file_size >= 0),
  member_check INTEGER NOT NULL DEFAULT 0 CHECK (member_check IN (0, 1)),
  prevent_secrets INTEGER NOT NULL DEFAULT 0 CHECK (prevent_secrets IN (0, 1)),
  reject_unsigned_commits INTEGER NOT NULL DEFAULT 0 CHECK (reject_unsigned_commits IN (0, 1)),
  reject_non_dco_commits INTEGER NOT NULL DEFAULT 0 CHECK (reject_non_dco_commits IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_rules_project_key ON push_rules (project_id);
`,
}
