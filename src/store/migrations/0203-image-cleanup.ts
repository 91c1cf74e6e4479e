import type { Migration } from '../migration.ts'

/** When tags of images are deleted by themselves, and which are protected. */
export const imageCleanup: Migration = {
  name: '0203-image-cleanup',
  sql: `
CREATE TABLE container_cleanup_runs (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  next_run_at TEXT NOT NULL
) STRICT;
CREATE INDEX container_cleanup_runs_next_run_at ON container_cleanup_runs (next_run_at);
CREATE INDEX projects_container_cleanup ON projects (id)
  WHERE json_extract(settings, '$.container_expiration_policy.enabled') = 1;

CREATE TABLE container_tag_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  tag_name_pattern TEXT NOT NULL,
  minimum_access_level_for_push INTEGER NOT NULL,
  minimum_access_level_for_delete INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX container_tag_rules_pattern_key
  ON container_tag_rules (project_id, tag_name_pattern);

ALTER TABLE container_repositories ADD COLUMN bulk_deletion_at TEXT;
`,
}
