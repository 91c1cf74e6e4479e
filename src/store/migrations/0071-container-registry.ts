import type { Migration } from '../migration.ts'

/** Images of projects: repositories by path, with their tags. */
export const containerRegistry: Migration = {
  name: '0071-container-registry',
  sql: `
CREATE TABLE container_repositories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  status TEXT CHECK (status IN ('delete_scheduled', 'delete_failed', 'delete_ongoing')),
  cleanup_policy_started_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX container_repositories_name_key ON container_repositories (project_id, name);

CREATE TABLE container_tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES container_repositories (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  total_size INTEGER NOT NULL DEFAULT 0 CHECK (total_size >= 0),
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX container_tags_name_key ON container_tags (repository_id, name);
`,
}
