import type { Migration } from '../migration.ts'

/** What a release said at a moment, kept as it was. */
export const releaseEvidences: Migration = {
  name: '0082-release-evidences',
  sql: `
CREATE TABLE release_evidences (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
  summary TEXT NOT NULL CHECK (json_valid(summary)),
  sha TEXT NOT NULL,
  collected_at TEXT NOT NULL
) STRICT;
CREATE INDEX release_evidences_by_release ON release_evidences (release_id, id);
`,
}
