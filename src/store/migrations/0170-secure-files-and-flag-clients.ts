import type { Migration } from '../migration.ts'

/** Files that jobs fetch and nobody else reads, and the keys with which programs read feature flags. */
export const secureFilesAndFlagClients: Migration = {
  name: '0170-secure-files-and-flag-clients',
  sql: `
CREATE TABLE ci_secure_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  sealed_file TEXT NOT NULL,
  size INTEGER NOT NULL,
  metadata TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
  expires_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_secure_files_name ON ci_secure_files (project_id, name);

CREATE TABLE feature_flag_clients (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  sealed_token TEXT NOT NULL,
  token_digest BLOB NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
`,
}
