import type { Migration } from '../migration.ts'

/** What was fetched from public registries for packages that are not here. */
export const forwardedFiles: Migration = {
  name: '0204-forwarded-files',
  sql: `
CREATE TABLE forwarded_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  package_type TEXT NOT NULL,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  file_sha256 TEXT NOT NULL CHECK (length(file_sha256) = 64),
  file_sha1 TEXT NOT NULL,
  file_md5 TEXT NOT NULL,
  size INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  upstream_etag TEXT,
  upstream_checked_at TEXT NOT NULL,
  used_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX forwarded_files_key ON forwarded_files (path, package_type, root);
CREATE INDEX forwarded_files_used ON forwarded_files (used_at, size);
CREATE INDEX forwarded_files_file_sha256 ON forwarded_files (file_sha256);
`,
}
