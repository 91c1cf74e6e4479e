import type { Migration } from '../migration.ts'

/** Merge requests that wait for others, and commits that are shown beside their own. */
export const requestLinks: Migration = {
  name: '0087-request-links',
  sql: `
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
`,
}
