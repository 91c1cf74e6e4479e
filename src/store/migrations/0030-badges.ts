import type { Migration } from '../migration.ts'

/** Badges of projects and groups. */
export const badges: Migration = {
  name: '0030-badges',
  sql: `
CREATE TABLE badges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT,
  link_url TEXT NOT NULL,
  image_url TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE INDEX badges_by_project ON badges (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX badges_by_group ON badges (group_id) WHERE group_id IS NOT NULL;
`,
}
