import type { Migration } from '../migration.ts'

/** Which files of a merge request somebody has looked at: as of which version, and what was in them. */
export const viewedFiles: Migration = {
  name: '0356-viewed-files',
  sql: `
CREATE TABLE viewed_files (
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  version_id INTEGER NOT NULL REFERENCES merge_request_versions (id) ON DELETE CASCADE,
  blob_id TEXT NOT NULL,
  viewed_at TEXT NOT NULL,
  PRIMARY KEY (merge_request_id, user_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX viewed_files_of_user ON viewed_files (user_id);
CREATE INDEX viewed_files_of_version ON viewed_files (version_id);
`,
}
