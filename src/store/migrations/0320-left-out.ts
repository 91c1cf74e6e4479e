import type { Migration } from '../migration.ts'

/** What an export did not carry, and what an import therefore lacks: relations with their numbers, as JSON. */
export const leftOut: Migration = {
  name: '0320-left-out',
  sql: `
ALTER TABLE exports ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(left_out));
CREATE TABLE import_left_out (
  project_id INTEGER NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  relations TEXT NOT NULL CHECK (json_valid(relations)),
  created_at TEXT NOT NULL
) STRICT;
`,
}
